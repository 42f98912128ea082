import {promisify} from 'node:util';

import grpc from '@grpc/grpc-js';
import proto from '@grpc/proto-loader';

const {attend} = grpc.loadPackageDefinition(proto.loadSync(
    'attend/v1/attend.proto', {includeDirs: ['.'], defaults: true}));
const client = new attend.v1.Attend(
    process.env.ATTEND_ADDRESS ?? 'localhost:50051',
    grpc.credentials.createInsecure());
const call = (method, ...given) => promisify(client[method]).call(client, ...given);

// == ListModels
const {models} = await call('listModels', {});
console.log('ListModels:', ...models.map(({name}) => name));

// == GetModel
const model = await call('getModel', {name: 'en-de'});
console.log(`GetModel: ${model.family}, ${model.maxSourceTokens} tokens`);

// == Generate
const generated = await call('generate', {
  inputs: [{text: 'How are you?'}, {text: 'I am reading a book.'}],
  params: {numBeams: 4},
});
for (const {choices} of generated.results) console.log('Generate:', choices[0].text);

// == GenerateStream
process.stdout.write('GenerateStream: ');
const stream = client.generateStream({inputs: [{text: 'How are you?'}]});
for await (const chunk of stream) process.stdout.write(chunk.text);
console.log();

// == Translate
const translated = await call('translate', {
  documents: ['<p>I am reading a <b>book</b>.</p>'], format: 'DOCUMENT_FORMAT_HTML',
});
console.log('Translate:', translated.results[0].text);

// == TranslateStream
process.stdout.write('TranslateStream: ');
const sentences =
    client.translateStream({documents: ['How are you? I am reading a book.']});
for await (const chunk of sentences) process.stdout.write(chunk.text);
console.log();

// == Score
const scored = await call('score', {
  pairs: ['Wie geht es dir?', 'Es regnet.'].map(
      (text) => ({source: {text: 'How are you?'}, target: {text}})),
});
const [first, second] = scored.results;
console.log('Score: the first fits better:', first.logProb > second.logProb);

// == Embed
const embedded = await call('embed', {
  inputs: [{text: 'A dog runs.'}, {text: 'A dog is running.'}], normalize: true,
});
const [a, b] = embedded.results.map(({values}) => values);
const cosine = a.reduce((sum, value, index) => sum + value * b[index], 0);
console.log(`Embed: cosine ${cosine.toFixed(2)}`);

// == Classify
const classified =
    await call('classify', {model: 'labels', inputs: [{text: 'I like it.'}]});
const [{label, score}] = classified.results[0].labels;
console.log(`Classify: ${label} ${score.toFixed(2)}`);

// == FillMask
const filled =
    await call('fillMask', {model: 'masks', inputs: [{text: 'A dog [MASK].'}]});
console.log('FillMask:', filled.results[0].masks[0].candidates[0].text);

// == Rerank
const ranked = await call('rerank', {
  model: 'ranker', query: 'Who plays?',
  documents: ['Two dogs play.', 'It rains.', 'A man reads.'],
});
console.log('Rerank:', ...ranked.results.map(({index}) => index));

// == Tokenize
const tokenized = await call('tokenize', {texts: ['How are you?']});
const [{ids, pieces}] = tokenized.results;
console.log('Tokenize:', ...pieces);

// == Detokenize
const texts = await call('detokenize', {sequences: [{ids}]});
console.log('Detokenize:', texts.results[0].text);

// == Errors
try {
  const metadata = new grpc.Metadata();
  // A key, if the server wants one: metadata.set('authorization', `Bearer ${key}`)
  await call('generate', {model: 'none', inputs: [{text: 'How are you?'}]}, metadata,
             {deadline: Date.now() + 5000});
} catch ({code, details}) {
  console.log(`Errors: ${grpc.status[code].toLowerCase()}: ${details}`);
}
