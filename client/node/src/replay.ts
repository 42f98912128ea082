import {randomBytes} from 'node:crypto';

import {status} from '@grpc/grpc-js';

import {AttendError} from './errors.js';

/** The text of a stream that may have been made several times. Each time it begins
 * anew, and what has been seen is left out. Results are the same each time,
 * whatever else the servers do; see withSeed(). */
export class Replay {
  #seen = '';
  #at = 0;  // the length of the current attempt's text

  get begun(): boolean {
    return this.#seen !== '';
  }

  /** The next part is the first of a new attempt. */
  again() {
    this.#at = 0;
  }

  /** What of the next part has not been seen. */
  next(part: string): string {
    const known = this.#seen.slice(this.#at, this.#at + part.length);
    if (!part.startsWith(known)) throw anotherText();
    this.#at += part.length;
    this.#seen += part.slice(known.length);
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
