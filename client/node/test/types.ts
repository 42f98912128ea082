// What TypeScript makes of the package, as its users have it: compiled, not run.

import {AttendError, Client, chat, status} from 'attend-client';
import type {GenerateResult, Model} from 'attend-client';

export async function use(client: Client): Promise<void> {
  const rows: Float32Array[] = await client.embed(['a', 'b'], {normalize: true});
  const perToken: Float32Array[][] = await client.embedTokens('a');
  const found: GenerateResult[] = await client.generate(
      chat([{role: 'user', content: 'a'}]),
      {numBeams: 4, earlyStopping: 'EARLY_STOPPING_NEVER', timeout: 5,
       signal: AbortSignal.timeout(100)});
  const text: string = found[0].choices[0].text;
  const score: number = found[0].choices[0].score;
  const model: Model = await client.model();
  for await (const part of client.stream(text, {model: model.name})) part.trim();
  await client.translate('a', {format: 'DOCUMENT_FORMAT_HTML', glossary: {a: 'b'}});
  // @ts-expect-error an option of another method
  await client.embed('a', {numBeams: 4});
  // @ts-expect-error a format that is none
  await client.translate('a', {format: 'pdf'});
  // @ts-expect-error a number
  await client.generate(7);
  const error = new AttendError(status.NOT_FOUND, 'a');
  console.log(rows, perToken, score, error.retryAfter, error.input);
}
