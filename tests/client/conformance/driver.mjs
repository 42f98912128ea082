// Runs cases by the npm package. Each line that comes in is a case, each line that
// goes out its outcome; see README.md.

import {createInterface} from 'node:readline';

import {AttendError, Client, status} from 'attend-client';

const texts = (found) => found.map(({text}) => text);

// Of each method: its arguments from a request, and its result in the form of the
// cases. What is left of the request are options.
const METHODS = {
  generate: [({inputs}) => [inputs], (found) => found.map(
      ({choices}) => texts(choices))],
  stream: [({inputs: [input]}) => [input]],
  translate: [({documents}) => [documents], texts],
  translateStream: [({documents: [document]}) => [document]],
  score: [({pairs}) => [pairs.map(({source, target}) => [source, target])],
          (found) => found.map(({logProb}) => logProb)],
  embed: [({inputs}) => [inputs], (rows) => rows.map((row) => [...row])],
  embedTokens: [({inputs}) => [inputs], (found) => found.map(
      (rows) => rows.map((row) => [...row]))],
  classify: [({inputs}) => [inputs], (found) => found.map(
      ({labels, tokens}) => tokens.length > 0 ?
        tokens.map(({token: {piece, begin, end}, labels: [{label, score}]}) =>
          [piece, begin, end, label, score]) :
        labels.map(({label, score}) => [label, score]))],
  fillMask: [({inputs}) => [inputs], texts],
  rerank: [({query, documents}) => [query, documents], (found) => found.map(
      ({index, score}) => [index, score])],
  tokenize: [({texts}) => [texts], (found) => found.map(({ids}) => ids)],
  detokenize: [({sequences}) => [sequences.map(({ids}) => ids)],
               (found) => found],
  models: [() => [], (found) => found.map(({name}) => name)],
  model: [({name}) => [name], ({family}) => family],
  loadModel: [({name, version}) => [name, version], ({family}) => family],
  unloadModel: [({name}) => [name], () => null],
  setAlias: [({name, targets}) => [name, targets], () => null],
  profile: [({seconds}) => [seconds], (trace) => Object.keys(
      JSON.parse(trace)).sort()],
};
const POSITIONAL = ['inputs', 'documents', 'pairs', 'query', 'texts', 'sequences'];

function argumentsOf({method, request = {}, ...call}) {
  const {params, glossary, ...options} = request;
  for (const key of POSITIONAL) delete options[key];
  Object.assign(options, params);
  if (glossary) {
    options.glossary = Object.fromEntries(
        glossary.map(({source, target}) => [source, target]));
  }
  for (const key of ['timeout', 'metadata', 'traceparent']) {
    if (key in call) options[key] = call[key];
  }
  if (call.cancelAfter) {
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 1000 * call.cancelAfter);
    options.signal = controller.signal;
  }
  return [...METHODS[method][0]({...request, ...call}), options];
}

async function callOnce(client, call, parts) {
  const answer = client[call.method](...argumentsOf(call));
  const [, read] = METHODS[call.method];
  if (read) return read(await answer);
  for await (const part of answer) {
    parts.push(part);
    if (call.atFirstPart && parts.length === 1) {
      await client.generate(call.atFirstPart).catch(() => {});
    }
    if (parts.length === call.stopAfter) break;
  }
  return parts;
}

function outcomeOf(error, parts) {
  if (!(error instanceof AttendError)) throw error;
  return {
    code: status[error.code], message: error.details,
    retryAfter: error.retryAfter ?? null, input: error.input ?? null,
    ...(parts.length > 0 && {value: parts}),
    others: error.results.filter((result) => !(result instanceof AttendError))
        .map(({choices: [{text}]}) => text),
  };
}

function clientOf({target, client}) {
  // It neither resumes streams nor hedges calls.
  const {maxAttempts = 4, resume, hedgeAfter, ...more} = client;
  return new Client(target ?? undefined, {...more, retry: {maxAttempts}});
}

let kept;  // the client of cases with `keep`

async function run({call, keep, ...given}) {
  let client;
  try {
    client = keep && kept || clientOf(given);
    if (keep) kept = client;
  } catch (error) {
    return {refused: error.message};
  }
  const outcome = {values: []};
  const parts = [];
  // Until so many servers have answered.
  const seen = new Set();
  while (seen.size < (call.warm ?? 0)) {
    const [{choices: [{text}]}] = await client.generate('a');
    seen.add(text);
  }
  const begin = performance.now();
  try {
    for (let i = 0; i < (call.times ?? 1); i++) {
      outcome.values.push(await callOnce(client, call, parts));
    }
  } catch (error) {
    Object.assign(outcome, outcomeOf(error, parts));
  }
  outcome.seconds = (performance.now() - begin) / 1000;
  if (!keep) client.close();
  return outcome;
}

for await (const line of createInterface({input: process.stdin})) {
  const {environment, ...given} = JSON.parse(line);
  Object.assign(process.env, environment);
  console.log(JSON.stringify(await run(given)));
  for (const key of Object.keys(environment)) delete process.env[key];
}
kept?.close();
