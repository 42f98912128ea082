// Makes calls: attempts, pauses, hedging, cancelling.

import {Metadata, status} from '@grpc/grpc-js';
import type {ClientReadableStream, MethodDefinition} from '@grpc/grpc-js';

import {AFFINITY_HEADER} from './affinity.js';
import {AttendError, errorOf} from './errors.js';
import type {Budget, Hedging} from './hedging.js';
import type {Model} from './generated/attend/v1/Model.js';
import {Replay} from './replay.js';
import type {Servers} from './servers.js';
import type {Retry} from './settings.js';

export type Method = MethodDefinition<object, object>;

/** A call before its first attempt. */
export interface Call {
  method: Method;
  request: object;
  metadata: Metadata;
  /** Of the server; see affinityKey(). */
  key?: string;
  /** Servers that are not serving do, too. */
  anyHealth: boolean;
  /** When it has to be over, in ms since 1970. */
  end?: number;
  signal?: AbortSignal;
  retry: Required<Retry>;
  hedging?: Hedging;
  budget: Budget;
  /** Of a stream that may go on by its tokens: what it asks. */
  model?: () => Promise<Model>;
}

interface Running {
  cancel(): void;
}

/** Milliseconds before the next attempt; undefined: there is none. */
function pauseAfter(error: AttendError, made: number,
                    {retry, end}: Call): number | undefined {
  const backoff = Math.min(retry.maxBackoff, retry.initialBackoff * 2 ** (made - 1));
  const pause = 1000 * (error.retryAfter ?? backoff * (0.8 + 0.4 * Math.random()));
  const late = end !== undefined && Date.now() + pause >= end;
  return !error.retriable || made >= retry.maxAttempts || late ? undefined : pause;
}

/** Calls `fail` when the call's time is over, or its signal says so; returns
 * what stops that. */
function watch({end, signal}: Call, fail: (error: AttendError) => void) {
  const abort = () => fail(new AttendError(
      status.CANCELLED, 'cancelled by the caller', {cause: signal?.reason}));
  const timer = end === undefined ? undefined : setTimeout(
      () => fail(new AttendError(status.DEADLINE_EXCEEDED, 'deadline exceeded')),
      Math.min(end - Date.now(), 0x7fffffff));
  signal?.addEventListener('abort', abort);
  if (signal?.aborted) abort();
  return () => {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  };
}

/** Of an attempt, which says how many there were before. */
function metadataOf(call: Call, before: number, key?: string): Metadata {
  const metadata = call.metadata.clone();
  if (before > 0) metadata.set('grpc-previous-rpc-attempts', `${before}`);
  if (key !== undefined) metadata.set(AFFINITY_HEADER, key);
  return metadata;
}

/** One attempt of a call, at the next server. */
function attempt(servers: Servers, call: Call, before: number,
                 key: string | undefined,
                 done: (error?: AttendError, answer?: object) => void): Running {
  let running: Running | undefined;
  let cancelled = false;
  const {path, requestSerialize, responseDeserialize} = call.method;
  servers.pick(key, call.anyHealth).then((server) => {
    if (cancelled) return;
    if (call.method.responseStream) {
      const stream = server.makeServerStreamRequest(
          path, requestSerialize, responseDeserialize, call.request,
          metadataOf(call, before, key), {deadline: call.end});
      running = stream;
      allOf(stream).then((pieces) => done(undefined, pieces),
                         (error) => done(errorOf(error)));
      return;
    }
    running = server.makeUnaryRequest(
        path, requestSerialize, responseDeserialize, call.request,
        metadataOf(call, before, key), {deadline: call.end}, (error, answer) =>
          error ? done(errorOf(error)) : done(undefined, answer));
  }).catch((error) => done(errorOf(error)));
  return {
    cancel() {
      cancelled = true;
      running?.cancel();
    },
  };
}

async function allOf(stream: ClientReadableStream<object>): Promise<object[]> {
  const pieces: object[] = [];
  for await (const piece of messagesOf(stream)) pieces.push(piece);
  return pieces;
}

/** A call by one or several attempts: after a failure when the rules of Retry say
 * so, and with Hedging while others run. The answer of a method that streams is a
 * list. */
export function unary(servers: Servers, call: Call): Promise<object> {
  const {retry: {maxAttempts}, hedging, budget} = call;
  const running = new Set<Running>();
  let made = 0;
  let next: NodeJS.Timeout | undefined;
  let stop = () => {};
  return new Promise<object>((resolve, reject) => {
    const begin = () => {
      if (running.size > 0 && !budget.take()) return;
      made++;
      // While others run it goes elsewhere: of N servers, one in N goes to the same.
      const key = call.key && running.size > 0 ? `${call.key}-2` : call.key;
      const one = attempt(servers, call, made - 1, key, (error, answer) => {
        if (!running.delete(one)) return;  // it was cancelled
        if (answer) {
          if (made === 1) budget.answered();
          return resolve(answer);
        }
        if (!error!.retriable) return reject(error);
        const pause = pauseAfter(error!, made, call);
        clearTimeout(next);
        if (pause !== undefined) next = setTimeout(begin, pause);
        else if (running.size === 0) reject(error);
      });
      running.add(one);
      if (hedging && made < maxAttempts &&
          running.size < (hedging.maxRunning ?? 2)) {
        next = setTimeout(begin, 1000 * hedging.after);
      }
    };
    stop = watch(call, reject);
    if (!call.signal?.aborted) begin();
  }).finally(() => {
    stop();
    clearTimeout(next);
    for (const one of running) {
      running.delete(one);
      one.cancel();
    }
  });
}

/** The messages of a stream, to the last before an error. */
async function* messagesOf(
    stream: ClientReadableStream<object>): AsyncGenerator<object> {
  let failed: unknown;
  let ended = false;
  let wake = () => {};
  stream.on('readable', () => wake());
  stream.on('end', () => {
    ended = true;
    wake();
  });
  stream.on('error', (error) => failed = error);  // 'end' comes, too
  while (!ended) {
    const message = stream.read();
    if (message !== null) yield message;
    else if (!ended) await new Promise<void>((resolve) => wake = resolve);
  }
  if (failed) throw failed;
}

/** The parts that `read` makes of a call's messages. A stream that breaks off is
 * made again, and goes on where it ended. Who ends the iteration cancels it. */
export async function* streamed(
    servers: Servers, call: Call,
    read: (message: object) => string): AsyncGenerator<string> {
  let fail!: (error: AttendError) => void;
  const over = new Promise<never>((_, reject) => fail = reject);
  over.catch(() => {});  // also if nobody waits
  let ended: AttendError | undefined;
  let next: NodeJS.Timeout | undefined;
  let running: ClientReadableStream<object> | undefined;
  const stop = watch(call, (error) => {
    fail(ended = error);
    running?.cancel();
  });
  const {path, requestSerialize, responseDeserialize} = call.method;
  const text = new Replay();
  let {request} = call;
  try {
    for (let made = 1, before = 0;; made++, before++) {
      try {
        const server = await Promise.race([servers.pick(call.key), over]);
        running = server.makeServerStreamRequest(
            path, requestSerialize, responseDeserialize, request,
            metadataOf(call, before, call.key), {deadline: call.end});
        for await (const message of messagesOf(running)) {
          const part = text.next(read(message), message);
          if (part) yield part;
        }
        text.end();
        return;
      } catch (failed) {
        const error = ended ?? errorOf(failed);
        // Attempts before one that went on count no more.
        if (text.wentOn()) made = 1;
        const pause = pauseAfter(error, made, call);
        if (pause === undefined || (text.begun && !call.retry.resume)) throw error;
        await Promise.race([over, new Promise<void>((resolve) => {
          next = setTimeout(resolve, pause);
        })]);
        const known = text.mayContinue(call.request) ?
            await call.model?.().catch(() => undefined) : undefined;
        request = text.again(call.request, known);
      }
    }
  } finally {
    stop();
    clearTimeout(next);
    running?.cancel();
  }
}
