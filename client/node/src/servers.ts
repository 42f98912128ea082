// Calls go to servers in turn, or by their keys, to those only that say they are
// serving. This is gRPC's round_robin with health checks, which @grpc/grpc-js does
// not have, and its ring_hash.

import {lookup} from 'node:dns/promises';

import {Client, Metadata, status} from '@grpc/grpc-js';
import type {ClientReadableStream, StatusObject} from '@grpc/grpc-js';

import {Ring} from './affinity.js';
import {AttendError} from './errors.js';
import {health} from './protos.js';
import type {Address} from './settings.js';

const FIRST_BACKOFF = 100;  // ms
const MOST_BACKOFF = 5000;
const LOOK_UP_AFTER = 5000;  // not more often than this

type State = 'connecting' | 'serving' | 'not serving' | 'lost';
type Watched = {status: string};

class Server {
  state: State = 'connecting';
  why = '';
  #watched?: ClientReadableStream<Watched>;
  #again?: NodeJS.Timeout;
  #backoff = FIRST_BACKOFF;
  #closed = false;

  constructor(readonly client: Client, readonly changed: () => void,
              watched: boolean) {
    if (watched) this.#watch();
    else this.state = 'serving';
  }

  close() {
    this.#closed = true;
    clearTimeout(this.#again);
    this.#watched?.cancel();
    this.client.close();
  }

  #watch() {
    const {path, requestSerialize, responseDeserialize} = health.Watch;
    this.#watched = this.client.makeServerStreamRequest(
        path, requestSerialize, responseDeserialize as (bytes: Buffer) => Watched,
        {service: ''}, new Metadata());
    this.#watched.on('data', ({status: said}: Watched) => {
      this.#backoff = FIRST_BACKOFF;
      this.#become(said === 'SERVING' ? 'serving' : 'not serving');
    });
    this.#watched.on('error', () => {});  // it has a status, too
    this.#watched.on('status', (ended: StatusObject) => this.#ended(ended));
  }

  #ended({code, details}: StatusObject) {
    if (this.#closed) return;
    if (code === status.UNIMPLEMENTED) return this.#become('serving');
    this.why = details;
    this.#again = setTimeout(() => this.#watch(), this.#backoff);
    this.#backoff = Math.min(MOST_BACKOFF, this.#backoff * 1.6);
    this.#become('lost');
  }

  #become(state: State) {
    this.state = state;
    this.changed();
  }
}

/** All servers of a client. They are found and connected to when first asked
 * for; names are resolved again when a server is lost. */
export class Servers {
  #servers = new Map<string, Server>();
  #ring = new Ring([]);
  #next = 0;
  #waiting: Array<() => void> = [];
  #lookedUp = -Infinity;
  #looking?: Promise<void>;
  #closed = false;

  constructor(readonly addresses: Address[],
              readonly open: (address: string) => Client,
              readonly watched: boolean, readonly byKey: boolean) {}

  /** The next server that is serving, or that of the key; with `any` one that is
   * not serving, too. Waits for those that are being connected to, and throws
   * UNAVAILABLE if there are no such either. */
  async pick(key?: string, any = false): Promise<Client> {
    if (this.#servers.size === 0) await this.#lookUp();
    for (;;) {
      if (this.#closed) {
        throw new AttendError(status.CANCELLED, 'the client is closed');
      }
      const servers = [...this.#servers.values()];
      const serving = key === undefined ?
          servers.filter(({state}) => state === 'serving' ||
                                      (any && state === 'not serving')) :
          this.#of(key);
      if (serving.length > 0) {
        return serving[this.#next++ % serving.length].client;
      }
      if (!servers.some(({state}) => state === 'connecting')) {
        throw new AttendError(status.UNAVAILABLE, [...this.#servers].map(
            ([address, {state, why}]) =>
              `${address} is ${state}${why && `: ${why}`}`).join('; '));
      }
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  /** The server of a key, if it is serving. One that is being connected to keeps
   * its keys. */
  #of(key: string): Server[] {
    const state = (address: string) => this.#servers.get(address)!.state;
    const found = this.#ring.find(key, (address) =>
      ['serving', 'connecting'].includes(state(address)));
    return found !== undefined && state(found) === 'serving' ?
        [this.#servers.get(found)!] : [];
  }

  close() {
    this.#closed = true;
    for (const server of this.#servers.values()) server.close();
    this.#wake();
  }

  #wake() {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  #changed() {
    const servers = [...this.#servers.values()];
    if (servers.some(({state}) => state === 'lost') &&
        Date.now() - this.#lookedUp > LOOK_UP_AFTER) {
      this.#lookUp().catch(() => {});  // those that are known stay
    }
    this.#wake();
  }

  /** Resolves the addresses; several calls at once share one answer. */
  #lookUp(): Promise<void> {
    this.#looking ??= this.#resolve().finally(() => this.#looking = undefined);
    return this.#looking;
  }

  async #resolve() {
    this.#lookedUp = Date.now();
    const found = new Set<string>();
    for (const {host, port} of this.addresses) {
      try {
        for (const {address, family} of await lookup(host, {all: true})) {
          found.add(family === 6 ? `[${address}]:${port}` :
                                   `${address}:${port}`);
        }
      } catch (cause) {
        throw new AttendError(status.UNAVAILABLE, `address '${host}': ${
            (cause as Error).message}`, {cause});
      }
    }
    if (this.#closed) return;
    for (const [address, server] of this.#servers) {
      if (found.has(address)) continue;
      this.#servers.delete(address);
      server.close();
    }
    for (const address of found) {
      if (this.#servers.has(address)) continue;
      this.#servers.set(address, new Server(
          this.open(address), () => this.#changed(), this.watched));
    }
    if (this.byKey) this.#ring = new Ring([...this.#servers.keys()]);
  }
}
