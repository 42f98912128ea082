// Makes calls. gRPC retries them by its service config.

import {status} from '@grpc/grpc-js';
import type {Client, ClientReadableStream, Metadata, MethodDefinition}
    from '@grpc/grpc-js';

import {AttendError, errorOf} from './errors.js';

export interface Call {
  channel: Client;
  method: MethodDefinition<object, object>;
  request: object;
  metadata: Metadata;
  /** When it has to be over, in ms since 1970. */
  deadline?: number;
  signal?: AbortSignal;
}

const cancelled = (signal?: AbortSignal) => new AttendError(
    status.CANCELLED, 'cancelled by the caller', {cause: signal?.reason});

/** The answer of a call with one message. */
export async function unary(call: Call): Promise<object> {
  let answer: object | undefined;
  for await (const message of streamed(call)) answer = message;
  if (!answer) throw new AttendError(status.INTERNAL, 'the server sent no answer');
  return answer;
}

/** The messages of a call, one or several. Ending the iteration cancels it. */
export async function* streamed(call: Call): AsyncGenerator<object> {
  const {channel, method, request, metadata, deadline, signal} = call;
  if (signal?.aborted) throw cancelled(signal);
  const running = channel.makeServerStreamRequest(
      method.path, method.requestSerialize, method.responseDeserialize, request,
      metadata, {deadline});
  const cancel = () => running.cancel();
  signal?.addEventListener('abort', cancel);
  try {
    yield* messagesOf(running);
  } catch (failed) {
    throw signal?.aborted ? cancelled(signal) : errorOf(failed);
  } finally {
    signal?.removeEventListener('abort', cancel);
    running.cancel();
  }
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
