import {Client, status} from 'attend-client';

// At $ATTEND_ADDRESS, or localhost:50051. A key, if the server wants one:
// new Client(undefined, {token: key})
const client = new Client();

// The first model that has a task, if there is one.
async function modelWith(task) {
  const found = (await client.models()).find(({tasks}) => tasks.includes(task));
  if (!found) console.log('skipped: no model here has', task);
  return found;
}

// == ListModels
const models = await client.models();
console.log('ListModels:', ...models.map(({name}) => name));

// == GetModel
const model = await client.model('en-de');
console.log(`GetModel: ${model.family}, ${model.maxSourceTokens} tokens`);

// == Generate
const generated = await client.generate(
    ['How are you?', 'I am reading a book.'], {numBeams: 4});
for (const {choices} of generated) console.log('Generate:', choices[0].text);

// == GenerateStream
process.stdout.write('GenerateStream: ');
for await (const part of client.stream('How are you?')) process.stdout.write(part);
console.log();

// == Translate
const [translated] = await client.translate(
    '<p>I am reading a <b>book</b>.</p>', {format: 'DOCUMENT_FORMAT_HTML'});
console.log('Translate:', translated.text);

// == TranslateStream
process.stdout.write('TranslateStream: ');
const document = 'How are you? I am reading a book.';
for await (const part of client.translateStream(document)) {
  process.stdout.write(part);
}
console.log();

// == Score
const [first, second] = await client.score([
  ['How are you?', 'Wie geht es dir?'], ['How are you?', 'Es regnet.']]);
console.log('Score: the first fits better:', first.logProb > second.logProb);

// == Embed
const [a, b] = await client.embed(
    ['A dog runs.', 'A dog is running.'], {normalize: true});
const cosine = a.reduce((sum, value, index) => sum + value * b[index], 0);
console.log(`Embed: cosine ${cosine.toFixed(2)}`);

// == Classify
const labeller = await modelWith('TASK_CLASSIFY');
if (labeller) {
  const [{labels: [{label, score}]}] =
      await client.classify('I like it.', {model: labeller.name});
  console.log(`Classify: ${label} ${score.toFixed(2)}`);
}

// == FillMask
const filler = await modelWith('TASK_FILL_MASK');
if (filler) {
  const [filled] = await client.fillMask(
      `A dog ${filler.maskToken}.`, {model: filler.name});
  console.log('FillMask:', filled.text);
}

// == Answer
const reader = await modelWith('TASK_ANSWER');
if (reader) {
  const [{answers}] = await client.answer(
      [{question: 'Who plays?', context: 'Two dogs play. It rains.'}],
      {model: reader.name});
  console.log('Answer:', answers[0].text);
}

// == Rerank
const ranker = await modelWith('TASK_RERANK');
if (ranker) {
  const ranked = await client.rerank(
      'Who plays?', ['Two dogs play.', 'It rains.', 'A man reads.'],
      {model: ranker.name});
  console.log('Rerank:', ...ranked.map(({index}) => index));
}

// == Tokenize
const [{ids, pieces}] = await client.tokenize('How are you?');
console.log('Tokenize:', ...pieces);

// == Detokenize
const [text] = await client.detokenize([ids]);
console.log('Detokenize:', text);

// == Errors
try {
  await client.generate('How are you?', {model: 'none', timeout: 5});
} catch ({code, details}) {
  console.log(`Errors: ${status[code].toLowerCase()}: ${details}`);
}
// == end
client.close();
