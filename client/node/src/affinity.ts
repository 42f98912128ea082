// What calls have in common that begin alike, and which server they go to: the
// policy ring_hash of gRPC, with the same ring, which @grpc/grpc-js does not have.

import {createHash} from 'node:crypto';

/** Proxies send calls with one value of it to one server, too. */
export const AFFINITY_HEADER = 'x-attend-affinity';

/** Of all servers together, at least. */
const POINTS = 1024;

interface Input {
  text?: string;
  tokens?: {ids?: Iterable<number>};
  chat?: {messages?: Array<{role?: string, content?: string}>};
}

/** Of the first `size` bytes of what a request asks about first; undefined if it
 * asks about nothing. */
export function affinityKey(request: object, size: number): string | undefined {
  const fields = request as Record<string, unknown>;
  for (const name of ['inputs', 'documents', 'pairs', 'texts', 'query']) {
    const found = fields[name] as string | Array<any> | undefined;
    if (!found?.length) continue;
    const first = typeof found === 'string' ? found : found[0];
    const begin = Buffer.from(textOf(first.source ?? first)).subarray(0, size);
    return createHash('sha256').update(begin).digest('hex').slice(0, 16);
  }
  return undefined;
}

function textOf(source: string | Input): string {
  if (typeof source === 'string') return source;
  if (source.chat) {
    return (source.chat.messages ?? []).map(({role = '', content = ''}) =>
      `${role}\0${content}`).join('\0');
  }
  if (source.tokens) return [...source.tokens.ids ?? []].join(' ');
  return source.text ?? '';
}

/** Points of servers on a circle. */
export class Ring {
  readonly #points: Array<{hash: bigint, server: string}> = [];

  constructor(servers: string[]) {
    const each = Math.ceil(POINTS / servers.length);
    for (const server of servers) {
      for (let i = 0; i < each; i++) {
        this.#points.push({hash: xxHash64(`${server}_${i}`), server});
      }
    }
    this.#points.sort((a, b) => a.hash < b.hash ? -1 : 1);
  }

  /** The first server from the key's point on that is good. */
  find(key: string, good: (server: string) => boolean): string | undefined {
    const hash = xxHash64(key);
    const at = this.#points.findIndex((point) => point.hash >= hash);
    const begin = Math.max(0, at);  // after the last comes the first
    for (let i = 0; i < this.#points.length; i++) {
      const {server} = this.#points[(begin + i) % this.#points.length];
      if (good(server)) return server;
    }
    return undefined;
  }
}

const P1 = 0x9E3779B185EBCA87n;
const P2 = 0xC2B2AE3D27D4EB4Fn;
const P3 = 0x165667B19E3779F9n;
const P4 = 0x85EBCA77C2B2AE63n;
const P5 = 0x27D4EB2F165667C5n;
const wrap = (value: bigint) => BigInt.asUintN(64, value);
const rotate = (value: bigint, bits: bigint) =>
  wrap(value << bits) | (value >> (64n - bits));
const round = (sum: bigint, word: bigint) =>
  wrap(rotate(wrap(sum + word * P2), 31n) * P1);

/** XXH64 of a text, with the seed 0. */
export function xxHash64(text: string): bigint {
  const bytes = Buffer.from(text);
  let at = 0;
  let hash = P5;
  if (bytes.length >= 32) {
    const sums = [wrap(P1 + P2), P2, 0n, wrap(-P1)];
    for (; at + 32 <= bytes.length; at += 32) {
      for (let i = 0; i < 4; i++) {
        sums[i] = round(sums[i], bytes.readBigUInt64LE(at + 8 * i));
      }
    }
    const [a, b, c, d] = sums;
    hash = wrap(rotate(a, 1n) + rotate(b, 7n) + rotate(c, 12n) + rotate(d, 18n));
    for (const sum of sums) hash = wrap((hash ^ round(0n, sum)) * P1 + P4);
  }
  hash = wrap(hash + BigInt(bytes.length));
  for (; at + 8 <= bytes.length; at += 8) {
    hash ^= round(0n, bytes.readBigUInt64LE(at));
    hash = wrap(rotate(hash, 27n) * P1 + P4);
  }
  if (at + 4 <= bytes.length) {
    hash ^= wrap(BigInt(bytes.readUInt32LE(at)) * P1);
    hash = wrap(rotate(hash, 23n) * P2 + P3);
    at += 4;
  }
  for (; at < bytes.length; at++) {
    hash = wrap(rotate(hash ^ wrap(BigInt(bytes[at]) * P5), 11n) * P1);
  }
  hash = wrap((hash ^ (hash >> 33n)) * P2);
  hash = wrap((hash ^ (hash >> 29n)) * P3);
  return hash ^ (hash >> 32n);
}
