import {Metadata, status} from '@grpc/grpc-js';
import type {ServiceError} from '@grpc/grpc-js';

import {retryInfo, statusDetails} from './protos.js';

/** A call failed, or one of its inputs. */
export class AttendError extends Error {
  override name = 'AttendError';
  /** Seconds after which the server wants to see the call again; undefined: it
   * does not say. */
  retryAfter?: number;
  /** Which of the call's inputs failed; undefined: the whole call. */
  input?: number;
  /** If an input failed, a result or an AttendError for each input, so that the
   * others are not lost. */
  results: unknown[] = [];
  /** `details` names what is wrong, its value and the limit. */
  constructor(readonly code: status, readonly details: string, options?: ErrorOptions) {
    super(`${status[code]}: ${details}`, options);
  }
}

/** What gRPC says of a call that failed. */
export function errorOf(failed: unknown): AttendError {
  const {code, details, metadata} = failed as ServiceError;
  if (code === undefined) throw failed;  // a bug, not an answer
  const error = new AttendError(code, details, {cause: failed});
  const [pushback] = metadata?.get('grpc-retry-pushback-ms') ?? [];
  if (pushback === undefined) {
    error.retryAfter = retryDelayOf(metadata);
  } else if (/^\d+$/.test(String(pushback))) {  // anything else forbids a retry (gRFC A6)
    error.retryAfter = Number(pushback) / 1000;
  }
  return error;
}

/** Of the google.rpc.RetryInfo in a google.rpc.Status, in seconds. */
function retryDelayOf(trailers?: Metadata): number | undefined {
  const [value] = trailers?.get('grpc-status-details-bin') ?? [];
  if (!Buffer.isBuffer(value)) return undefined;
  try {
    const {details} = statusDetails.deserialize(value) as
        {details: Array<{type_url: string, value: Buffer}>};
    const found = details.find(
        ({type_url: url}) => url.endsWith('/google.rpc.RetryInfo'));
    if (!found) return undefined;
    const {retryDelay} = retryInfo.deserialize(found.value) as
        {retryDelay?: {seconds: string, nanos: number}};
    return retryDelay &&
        Math.max(0, Number(retryDelay.seconds) + retryDelay.nanos / 1e9);
  } catch {
    return undefined;  // the details are not ours; the code and the text are
  }
}

export interface WithStatus {
  status: {code: number, message: string} | null;
}

/** The error of an input's status; undefined if it did not fail. */
export function errorOfInput(result: WithStatus, input: number) {
  if (!result.status?.code) return undefined;
  const error = new AttendError(result.status.code, result.status.message);
  error.input = input;
  return error;
}

/** What `read` makes of each result. Throws the error of the first input that
 * failed. */
export function readAll<Result extends WithStatus, To>(
    results: Result[], read: (result: Result) => To,
    inputOf = (_: Result, place: number) => place): To[] {
  const found = results.map((result, place) =>
    errorOfInput(result, inputOf(result, place)) ?? read(result));
  const first = found.find((value) => value instanceof AttendError);
  if (first instanceof AttendError) {
    first.results = found;
    throw first;
  }
  return found as To[];
}
