// What the results of all calls have: a status, and what they took.

import {CallError} from './connect.js';

const CODES = [
  'ok', 'canceled', 'unknown', 'invalid_argument', 'deadline_exceeded',
  'not_found', 'already_exists', 'permission_denied', 'resource_exhausted',
  'failed_precondition', 'aborted', 'out_of_range', 'unimplemented', 'internal',
  'unavailable', 'data_loss', 'unauthenticated',
];

/** The result, if its input has not failed. */
export function checked(result) {
  const {code = 0, message} = result.status ?? {};
  if (code !== 0) throw new CallError({code: CODES[code], message});
  return result;
}

/** A duration of protobuf's JSON, "1.5s", in seconds. */
const seconds = (text) => Number.parseFloat(text);

const duration = (text) => seconds(text) < 1 ?
    `${(seconds(text) * 1000).toFixed(seconds(text) < 0.01 ? 1 : 0)} ms` :
    `${seconds(text).toFixed(2)} s`;

/** What an input took, in words. */
export function taken({usage = {}, timings = {}}) {
  const {sourceTokens = 0, generatedTokens = 0, truncated, seed} = usage;
  const words = [`${sourceTokens} tokens read`];
  if (generatedTokens) words.push(`${generatedTokens} generated`);
  if (timings.firstToken) {
    words.push(`the first after ${duration(timings.firstToken)}`);
  }
  if (timings.total) words.push(`${duration(timings.total)} in all`);
  if (truncated) words.push('the source was cut');
  if (seed) words.push(`seed ${seed}`);
  return words.join(', ');
}
