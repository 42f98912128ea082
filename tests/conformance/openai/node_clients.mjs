// The package `openai` for Node.js against a server:
//   node node_clients.mjs BASE CASE

import assert from 'node:assert/strict';
import OpenAI from 'openai';

const [base, name] = process.argv.slice(2);
const client = new OpenAI({ baseURL: base, apiKey: 'none', maxRetries: 0 });
const options = {
  model: 'smollm2-135m', messages: [{ role: 'user', content: 'Say hello.' }],
  max_tokens: 12, temperature: 0,
};

const cases = {
  async models() {
    const models = [];
    for await (const model of client.models.list()) models.push(model.id);
    assert.deepEqual(models, ['en-de', 'smollm2-135m', 'all-minilm-l6-v2']);
  },

  async chat() {
    const whole = await client.chat.completions.create(options);
    let streamed = '';
    let usage;
    const stream = await client.chat.completions.create(
        { ...options, stream: true, stream_options: { include_usage: true } });
    for await (const chunk of stream) {
      streamed += chunk.choices[0]?.delta?.content ?? '';
      usage = chunk.usage ?? usage;
    }
    assert.ok(streamed);
    assert.equal(streamed, whole.choices[0].message.content);
    assert.deepEqual(usage, whole.usage);
    const broken = await client.chat.completions.create(
        { ...options, max_tokens: 1000, stream: true });
    for await (const chunk of broken) {
      assert.ok(chunk.id);
      break;
    }
  },

  async completions() {
    const completion = await client.completions.create(
        { model: 'en-de', prompt: ['A dog runs.', 'It rains.'] });
    assert.equal(completion.choices.length, 2);
    assert.match(completion.choices[0].text, /Hund/);
  },

  async embeddings() {
    const embedding = await client.embeddings.create(
        { model: 'all-minilm-l6-v2', input: 'A dog runs.' });
    assert.equal(embedding.data[0].embedding.length, 384);
  },

  async errors() {
    await assert.rejects(
        client.chat.completions.create({ ...options, temperature: 9 }),
        (error) => error instanceof OpenAI.BadRequestError &&
            error.param === 'temperature');
  },
};

await cases[name]();
