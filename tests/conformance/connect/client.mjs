// What @connectrpc/connect-node gets from a server: one case, whose outcome is
// printed as JSON.
//
//   node client.mjs FILE_DESCRIPTOR_SET URL BINARY CASE ARGUMENTS
//
// BINARY: "binary" or "json", the form of messages. ARGUMENTS: JSON.
import {readFileSync} from 'node:fs';

import {createFileRegistry, fromBinary, toJson} from '@bufbuild/protobuf';
import {FileDescriptorSetSchema} from '@bufbuild/protobuf/wkt';
import {Code, ConnectError, createClient} from '@connectrpc/connect';
import {createConnectTransport} from '@connectrpc/connect-node';

const [descriptors, baseUrl, form, name, given] = process.argv.slice(2);
const registry = createFileRegistry(
    fromBinary(FileDescriptorSetSchema, readFileSync(descriptors)));
const service = registry.getService('attend.v1.Attend');
const client = createClient(service, createConnectTransport({
  baseUrl, httpVersion: '1.1', useBinaryFormat: form === 'binary',
}));

const asJson = (method, message) =>
    toJson(service.method[method].output, message, {registry});

function outcomeOf(error) {
  const found = ConnectError.from(error);
  const retry = found.details.find(({type}) => type === 'google.rpc.RetryInfo');
  return {
    code: Code[found.code], message: found.rawMessage, retry: retry?.debug,
    retryAfter: found.metadata.get('retry-after') ?? undefined,
  };
}

async function streamed(request, options = {}, seen = () => {}) {
  const chunks = [];
  for await (const chunk of client.generateStream(request, options)) {
    chunks.push(asJson('generateStream', chunk));
    seen(chunks.length);
  }
  return chunks;
}

const cases = {
  async unary({method, request, headers, timeoutMs}) {
    return asJson(method, await client[method](request, {headers, timeoutMs}));
  },
  async stream({request, headers, timeoutMs}) {
    return streamed(request, {headers, timeoutMs});
  },
  async cancelled({request}) {
    const controller = new AbortController();
    return streamed(request, {signal: controller.signal},
                    (count) => { if (count === 3) controller.abort(); });
  },
  async concurrent({requests}) {
    const answers = await Promise.all(
        requests.map((request) => client.generate(request)));
    return answers.map((answer) => asJson('generate', answer));
  },
  // Of every method: the code of a call that asks for nothing.
  async everyMethod() {
    const codes = {};
    for (const method of service.methods) {
      try {
        const answer = client[method.localName]({});
        if (method.methodKind === 'unary') await answer;
        else for await (const _ of answer);
        codes[method.name] = 'ok';
      } catch (error) {
        codes[method.name] = Code[ConnectError.from(error).code];
      }
    }
    return codes;
  },
};

let outcome;
try {
  outcome = {answer: await cases[name](JSON.parse(given ?? '{}'))};
} catch (error) {
  outcome = {error: outcomeOf(error)};
}
console.log(JSON.stringify(outcome));
