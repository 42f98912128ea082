// Resolves a target to the servers that are serving. @grpc/grpc-js balances calls
// (round_robin), but does not check health (gRFC A17): this resolver does, by a
// watch of grpc.health.v1 at each address.

import {lookup} from 'node:dns/promises';

import {Metadata, experimental, status} from '@grpc/grpc-js';
import type {ChannelOptions, Client, ClientReadableStream, StatusObject}
    from '@grpc/grpc-js';

import {health} from './protos.js';
import type {Address} from './settings.js';

const FIRST_BACKOFF = 100;  // ms
const MAX_BACKOFF = 5000;

type Watched = {status: string};

/** The channel option that has the addresses of a target, and opens a connection for
 * the watch of one; without `open` health is not checked. */
export const SERVERS = 'attend.servers';
export interface Servers {
  addresses: Address[];
  open?: (address: string) => Client;
}

class Server {
  state: 'connecting' | 'serving' | 'not serving' | 'lost' = 'connecting';
  why = '';
  #watch?: ClientReadableStream<Watched>;
  #again?: NodeJS.Timeout;
  #backoff = FIRST_BACKOFF;
  #stopped = false;

  constructor(readonly address: Address, readonly changed: () => void,
              readonly client?: Client) {
    if (client) this.#begin(client);
    else this.state = 'serving';
  }

  stop() {
    this.#stopped = true;
    clearTimeout(this.#again);
    this.#watch?.cancel();
    this.client?.close();
  }

  #begin(client: Client) {
    const {path, requestSerialize, responseDeserialize} = health.Watch;
    this.#watch = client.makeServerStreamRequest(
        path, requestSerialize, responseDeserialize as (bytes: Buffer) => Watched,
        {service: ''}, new Metadata());
    this.#watch.on('data', ({status: said}: Watched) => {
      this.#backoff = FIRST_BACKOFF;
      this.#become(said === 'SERVING' ? 'serving' : 'not serving');
    });
    this.#watch.on('error', () => {});  // a status comes, too
    this.#watch.on('status', ({code, details}: StatusObject) => {
      if (this.#stopped) return;
      if (code === status.UNIMPLEMENTED) return this.#become('serving');
      this.why = details;
      this.#again = setTimeout(() => this.#begin(client), this.#backoff);
      this.#backoff = Math.min(MAX_BACKOFF, this.#backoff * 1.6);
      this.#become('lost');
    });
  }

  #become(state: Server['state']) {
    this.state = state;
    this.changed();
  }
}

class ServingResolver implements experimental.Resolver {
  readonly #given: Servers;
  readonly #servers = new Map<string, Server>();
  #lookedUp = -Infinity;
  #again?: NodeJS.Timeout;

  constructor(_: experimental.GrpcUri, readonly listener: experimental.ResolverListener,
              options: ChannelOptions) {
    this.#given = options[SERVERS];
  }

  static getDefaultAuthority({path}: experimental.GrpcUri): string {
    return path;
  }

  /** Names are resolved again when a server is lost, but not at once. */
  updateResolution() {
    clearTimeout(this.#again);
    const pause = this.#lookedUp + MAX_BACKOFF - Date.now();
    this.#again = setTimeout(() => this.#lookUp(), Math.max(0, pause));
  }

  destroy() {
    clearTimeout(this.#again);
    this.#lookedUp = -Infinity;
    for (const server of this.#servers.values()) server.stop();
    this.#servers.clear();
  }

  async #lookUp() {
    const begun = this.#lookedUp = Date.now();
    const found = new Map<string, Address>();
    try {
      for (const {host, port} of this.#given.addresses) {
        for (const {address, family} of await lookup(host, {all: true})) {
          found.set(family === 6 ? `[${address}]:${port}` : `${address}:${port}`,
                    {host: address, port});
        }
      }
    } catch (cause) {
      if (begun !== this.#lookedUp) return;  // it was destroyed meanwhile
      this.updateResolution();
      return this.#fail((cause as Error).message);
    }
    if (begun !== this.#lookedUp) return;
    for (const [address, server] of this.#servers) {
      if (found.has(address)) continue;
      this.#servers.delete(address);
      server.stop();
    }
    for (const [name, address] of found) {
      if (this.#servers.has(name)) continue;
      this.#servers.set(name, new Server(address, () => this.#changed(),
                                         this.#given.open?.(name)));
    }
    this.#report();
  }

  #changed() {
    if ([...this.#servers.values()].some(({state}) => state === 'lost')) {
      this.updateResolution();
    }
    this.#report();
  }

  /** While no server serves, calls wait for those that are being connected to. */
  #report() {
    const servers = [...this.#servers.values()];
    const serving = servers.filter(({state}) => state === 'serving');
    if (serving.length === 0 && servers.some(({state}) => state === 'connecting')) {
      return;
    }
    this.listener(experimental.statusOrFromValue(
        serving.map(({address}) => ({addresses: [address]}))), {}, null, '');
    if (serving.length > 0) return;
    // round_robin lets calls wait if there are no addresses, unless there is an error.
    this.#fail(servers.map(({address: {host, port}, state, why}) =>
      `${host}:${port} is ${state} ${why}`.trim()).join('; '));
  }

  #fail(details: string) {
    this.listener(experimental.statusOrFromError({code: status.UNAVAILABLE, details}),
                  {}, null, '');
  }
}

experimental.registerResolver('attend', ServingResolver);
