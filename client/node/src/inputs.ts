import type {ChatFields} from './generated/attend/v1/Chat.js';
import type {ChatMessageFields} from './generated/attend/v1/ChatMessage.js';
import type {InputFields} from './generated/attend/v1/Input.js';

/** An input: a text, or what the functions below make. */
export type Input = string | InputFields;
/** One input or several. A text that is alone is a batch of one. */
export type Inputs = Input | Input[];

/** An input of token ids, special tokens included. */
export function tokens(ids: number[]): InputFields {
  return {tokens: {ids}};
}

/** A pair of texts, for classify(). */
export function pair(first: string, second: string): InputFields {
  return {text: first, pair: second};
}

/** A conversation. `more` are the other fields of attend.v1.Chat. */
export function chat(messages: ChatMessageFields[],
                     more: ChatFields = {}): InputFields {
  return {chat: {...more, messages}};
}

export function inputOf(input: Input): InputFields {
  return typeof input === 'string' ? {text: input} : input;
}

export function listOf<One>(values: One | One[]): One[] {
  return Array.isArray(values) ? values : [values];
}
