// Calls of attend.v1 by the Connect protocol, in JSON.

import {askForKey, authorization} from './keys.js';

const SERVICE = 'attend.v1.Attend/';
const END_OF_STREAM = 2;
const HEAD_BYTES = 5;  // of an envelope: flags and length

/** An error as the server says it. */
export class CallError extends Error {
  constructor({code = 'unknown', message = ''}) {
    super(message ? `${code}: ${message}` : code);
    this.code = code;
  }
}

async function post(method, type, body, signal) {
  const response = await fetch(SERVICE + method, {
    method: 'POST',
    headers: {
      'Content-Type': type,
      'Connect-Protocol-Version': '1',
      ...authorization('calls'),
    },
    body,
    signal,
    cache: 'no-store',
  });
  if (response.ok) return response;
  throw refusal(await response.text(), response.status);
}

function refusal(text, status) {
  let error = {code: `HTTP ${status}`, message: text.slice(0, 500)};
  try {
    error = JSON.parse(text);
  } catch {
    // Not the server's own answer: a proxy's.
  }
  return noted(new CallError(error));
}

function noted(error) {
  if (error.code === 'unauthenticated') askForKey('calls');
  return error;
}

/** The answer of a call that has one. */
export async function call(method, request, signal) {
  const response =
      await post(method, 'application/json', JSON.stringify(request), signal);
  return response.json();
}

/** The answers of a call that streams, as they come. */
export async function* stream(method, request, signal) {
  const response = await post(
      method, 'application/connect+json', envelope(JSON.stringify(request)),
      signal);
  const text = new TextDecoder();
  for await (const {flags, payload} of envelopes(response.body)) {
    const message = JSON.parse(text.decode(payload));
    if (flags & END_OF_STREAM) {
      if (message.error) throw noted(new CallError(message.error));
      return;
    }
    yield message;
  }
  throw new CallError({message: 'the stream has no end'});
}

function envelope(text) {
  const payload = new TextEncoder().encode(text);
  const bytes = new Uint8Array(HEAD_BYTES + payload.length);
  new DataView(bytes.buffer).setUint32(1, payload.length);
  bytes.set(payload, HEAD_BYTES);
  return bytes;
}

async function* envelopes(body) {
  let rest = new Uint8Array();
  const reader = body.getReader();
  try {
    while (true) {
      const {done, value} = await reader.read();
      if (done) return;
      const bytes = new Uint8Array(rest.length + value.length);
      bytes.set(rest);
      bytes.set(value, rest.length);
      let at = 0;
      while (bytes.length - at >= HEAD_BYTES) {
        const length = new DataView(bytes.buffer, at).getUint32(1);
        const begin = at + HEAD_BYTES;
        if (bytes.length - begin < length) break;
        yield {flags: bytes[at], payload: bytes.subarray(begin, begin + length)};
        at = begin + length;
      }
      rest = bytes.subarray(at);
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
