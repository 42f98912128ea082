// What calls have in common that begin alike, and which server they go to: the
// policy ring_hash of gRPC, with the same ring, which @grpc/grpc-js does not have.

import {createHash} from 'node:crypto';

import xxhash from 'xxhash-wasm';

/** Proxies send calls with one value of it to one server, too. */
export const AFFINITY_HEADER = 'x-attend-affinity';

/** Of all servers together, at least. */
const POINTS = 1024;

/** XXH64 of a text. */
const {h64} = await xxhash();

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
        this.#points.push({hash: h64(`${server}_${i}`), server});
      }
    }
    this.#points.sort((a, b) => a.hash < b.hash ? -1 : 1);
  }

  /** The first server from the key's point on that is good. */
  find(key: string, good: (server: string) => boolean): string | undefined {
    const hash = h64(key);
    const at = this.#points.findIndex((point) => point.hash >= hash);
    const begin = Math.max(0, at);  // after the last comes the first
    for (let i = 0; i < this.#points.length; i++) {
      const {server} = this.#points[(begin + i) % this.#points.length];
      if (good(server)) return server;
    }
    return undefined;
  }
}
