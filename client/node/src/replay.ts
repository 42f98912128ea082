import {randomBytes} from 'node:crypto';

import {status} from '@grpc/grpc-js';

import {AttendError} from './errors.js';
import type {GenerateChunk} from './generated/attend/v1/GenerateChunk.js';
import type {GenerateRequestFields} from './generated/attend/v1/GenerateRequest.js';
import type {GenerationParamsFields} from './generated/attend/v1/GenerationParams.js';
import type {Model} from './generated/attend/v1/Model.js';

// With these set the rest of a result is not what a result is that begins with the
// tokens so far, or text may be held back.
const NOT_CONTINUED = ['doSample', 'presencePenalty', 'frequencyPenalty', 'echo',
                       'promptLogProbs'] as const;

/** The text of a stream that may have been made several times. Results are the same
 * each time, whatever else the servers do; see withSeed(). A stream is made again
 *
 * - by its tokens so far as forced prefix: they are not computed again one by one.
 *   For models that continue text, by greedy search;
 * - else from its beginning, and what has been seen is left out. */
export class Replay {
  #seen = '';
  #at = 0;  // the length of the current attempt's text
  #known = 0;  // of what was seen, before the current attempt
  #ids: number[] = [];  // of that text
  #ended = false;  // the last token has come

  get begun(): boolean {
    return this.#seen !== '';
  }

  /** Whether the attempt that has failed brought something new. */
  wentOn(): boolean {
    const known = this.#known;
    this.#known = this.#seen.length;
    return this.#known > known;
  }

  /** Whether it depends on the model alone that a forced prefix will do. */
  mayContinue({params}: GenerateRequestFields): boolean {
    return this.#ids.length > 0 && !this.#ended &&
        params?.maxNewTokens != null && params.constraint == null &&
        params.prefixText == null && params.prefixTokens == null;
  }

  /** The request of the next attempt. `model`: if it may continue. */
  again(request: GenerateRequestFields, model?: Model): GenerateRequestFields {
    const {params} = request;
    if (!params || !model || !this.#continues(params, model)) {
      this.#at = 0;
      this.#ids = [];
      return request;
    }
    const made = this.#ids.length;
    const least = params.minNewTokens ?? model.defaults?.minNewTokens ?? 0;
    return {...request, params: {
      ...params, prefixTokens: {ids: [...this.#ids]},
      minNewTokens: Math.max(0, least - made),
      // 0: as many as there is room for.
      maxNewTokens: params.maxNewTokens && params.maxNewTokens - made,
    }};
  }

  #continues(params: GenerationParamsFields,
             {continuesSource, eosIds, defaults}: Model): boolean {
    const last = this.#ids.at(-1)!;
    return continuesSource &&
        (!params.maxNewTokens || params.maxNewTokens > this.#ids.length) &&
        ![...eosIds, ...params.stopIds ?? []].includes(last) &&
        (params.numBeams ?? defaults?.numBeams) === 1 &&
        (params.numReturnSequences ?? defaults?.numReturnSequences) === 1 &&
        !NOT_CONTINUED.some((name) => params[name] ?? defaults?.[name]) &&
        [params, defaults].every((each) => !each?.stopStrings?.length &&
                                           !each?.beginSuppressTokens?.length);
  }

  /** What of the next part, the text of this message, has not been seen. */
  next(part: string, {ids, finishReason}: Partial<GenerateChunk>): string {
    const known = this.#seen.slice(this.#at, this.#at + part.length);
    if (!part.startsWith(known)) throw anotherText();
    this.#at += part.length;
    this.#seen += part.slice(known.length);
    this.#ids.push(...ids ?? []);
    this.#ended ||= finishReason !== undefined &&
        finishReason !== 'FINISH_REASON_UNSPECIFIED';
    return part.slice(known.length);
  }

  /** The attempt ends well; that it ends before what has been seen does not. */
  end() {
    if (this.#at < this.#seen.length) throw anotherText();
  }
}

function anotherText(): AttendError {
  return new AttendError(
      status.UNAVAILABLE, 'the stream broke off, and has another text when it is ' +
      'made again', {final: true});
}

/** Draws the seed that the server would draw, so that a second attempt has the
 * same. It does nothing where results are not sampled. */
export function withSeed<Options extends object>(options: Options): Options {
  return {seed: String(randomBytes(8).readBigUInt64LE()), ...options};
}
