// What tests/client/conformance does not test, which runs all packages.

import assert from 'node:assert/strict';
import {writeFileSync, mkdtempSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {after, before, test} from 'node:test';

import grpc from '@grpc/grpc-js';
import {ROOT_CONTEXT as ROOT, context, trace} from '@opentelemetry/api';
import {AttendError, Client, status} from 'attend-client';

import {attend, health} from '../dist/protos.js';

let server;
let client;
let seen;
let address;
let watched = 0;
let called = 0;
let failures = [];  // of the next calls

/** [length of the text, -0.5], or an error of the text "bad". */
function embed({request, metadata}, answer) {
  seen = metadata.getMap();
  called++;
  const failure = failures.shift();
  if (failure) {
    const trailers = new grpc.Metadata();
    if (failure.pushback) trailers.set('grpc-retry-pushback-ms', `${failure.pushback}`);
    return answer({code: failure.code, details: 'failed', metadata: trailers});
  }
  answer(null, {results: request.inputs.map(({text}) => text === 'bad' ?
    {status: {code: status.INVALID_ARGUMENT, message: 'a bad text'}} :
    {status: {}, width: 2,
     data: Buffer.from(Float32Array.of(text.length, -0.5).buffer)})});
}

/** Ends the first watch, and says to the others that the server takes calls. */
function watch(call) {
  if (watched++ === 0) call.emit('error', {code: status.CANCELLED});
  else call.write({status: 'SERVING'});
}

before(async () => {
  server = new grpc.Server();
  server.addService({Embed: attend.Embed}, {Embed: embed});
  server.addService({Watch: health.Watch}, {Watch: watch});
  const port = await new Promise((resolve, reject) => server.bindAsync(
      '127.0.0.1:0', grpc.ServerCredentials.createInsecure(),
      (error, port) => error ? reject(error) : resolve(port)));
  address = `127.0.0.1:${port}`;
  client = new Client(address);
});

after(() => {
  client.close();
  server.forceShutdown();
});

test('a watch of the health that ends begins again', async () => {
  await client.embed('a');
  assert.equal(watched, 2);
});

test('one input fails', async () => {
  await assert.rejects(client.embed(['abc', 'bad', 'a']), (error) => {
    assert.ok(error instanceof AttendError);
    assert.equal(error.code, status.INVALID_ARGUMENT);
    assert.equal(error.message, 'INVALID_ARGUMENT: a bad text');
    assert.equal(error.input, 1);
    assert.deepEqual(error.results, [
      Float32Array.of(3, -0.5), error, Float32Array.of(1, -0.5)]);
    return true;
  });
});

test('rows begin where a Float32Array may', async () => {
  const rows = await client.embed(['abcde']);
  assert.deepEqual(rows, [Float32Array.of(5, -0.5)]);
});

test("OpenTelemetry's current span", async () => {
  await client.embed('a');
  assert.equal(seen.traceparent, undefined);
  const ids = {traceId: '3'.padStart(32, '0'), spanId: '4'.padStart(16, '0'),
               traceFlags: 1};
  // No SDK is there to keep a context; it is one for this call.
  context.setGlobalContextManager({
    active: () => trace.setSpanContext(ROOT, ids), enable() {}, disable() {},
  });
  try {
    await client.embed('a');
  } finally {
    context.disable();
  }
  assert.equal(seen.traceparent, `00-${ids.traceId}-${ids.spanId}-01`);
});

test('retries', async () => {
  const again = [{code: status.UNAVAILABLE}, {code: status.RESOURCE_EXHAUSTED, pushback: 1}];
  for (const [script, maxAttempts, calls, code] of [
    [again, 3, 3, undefined],
    [[...again, ...again, ...again], 7, 7, undefined],
    [again, 2, 2, status.RESOURCE_EXHAUSTED],
    [again, 1, 1, status.UNAVAILABLE],
    [[{code: status.RESOURCE_EXHAUSTED, pushback: -1}], 3, 1, status.RESOURCE_EXHAUSTED],
    [[{code: status.INTERNAL, pushback: 1}], 3, 1, status.INTERNAL],
  ]) {
    const retrying = new Client(address, {
      retry: {maxAttempts, initialBackoff: 0.001, maxBackoff: 0.001}});
    failures = [...script];
    called = 0;
    const error = await retrying.embed('a').then(() => undefined, (error) => error);
    retrying.close();
    assert.equal(error?.code, code);
    assert.equal(called, calls);
    if (calls > 1) assert.equal(seen['grpc-previous-rpc-attempts'], `${calls - 1}`);
  }
});

test('options that are none', async () => {
  await assert.rejects(client.embed('a', {numBeams: 2}),
                       new TypeError("Embed has no option 'numBeams'"));
  await assert.rejects(client.generate('a', {beams: 2}),
                       new TypeError("Generate has no option 'beams'"));
});

test('what cannot be', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'attend-')), 'file');
  writeFileSync(file, 'text');
  for (const [target, options, wanted] of [
    ['a:1,b', {}, /address 'b' must be HOST:PORT/],
    [['a:1', ':2'], {}, /address ':2' must be HOST:PORT/],
    [[], {}, /is empty/],
    ['a:1', {tls: {ca: file}}, /has no certificate in PEM/],
    ['a:1', {tls: {cert: file}}, /must be given together/],
    ['a:1', {tls: {ca: '/no/where'}}, /no\/where/],
    ['a:1', {token: 'ä'}, /printable ASCII/],
    ['a:1', {hedging: {after: 1}}, /no option 'hedging'/],
    ['a:1', {retry: {resume: true}}, /retry has no option 'resume'/],
  ]) {
    assert.throws(() => new Client(target, options), wanted);
  }
  process.env.ATTEND_TLS = 'maybe';
  try {
    assert.throws(() => new Client('a:1'), /'maybe'/);
  } finally {
    delete process.env.ATTEND_TLS;
  }
});
