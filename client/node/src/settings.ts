// How a client reaches its servers: addresses, TLS, token.

import {readFileSync} from 'node:fs';

import {credentials} from '@grpc/grpc-js';
import type {ChannelCredentials, ChannelOptions} from '@grpc/grpc-js';

/** Files in PEM. */
export interface Tls {
  /** The CAs that may have signed servers' certificates. Default: Node's list. */
  ca?: string;
  /** This client's own certificate, and its key. */
  cert?: string;
  key?: string;
  /** In servers' certificates. Default: the (first) host. */
  serverName?: string;
}

/** How often, and after how many seconds, gRPC makes a call again: UNAVAILABLE, and
 * RESOURCE_EXHAUSTED unless the server forbids it. The pause that the server names
 * (grpc-retry-pushback-ms) takes the place of the backoff. A stream is made again
 * until its first message. */
export interface Retry {
  /** The first included. Default: 4. */
  maxAttempts?: number;
  /** Doubles. Default: 0.1. */
  initialBackoff?: number;
  /** Default: 2. */
  maxBackoff?: number;
}

export interface ClientOptions {
  /** Of calls that do not say. Default: the server's default model. */
  model?: string;
  /** Sent as `authorization: Bearer TOKEN`. */
  token?: string;
  tls?: boolean | Tls;
  /** Seconds of a call that does not say, all attempts together. Default: 60;
   * null: no limit. */
  timeout?: number | null;
  retry?: Retry;
  /** Watch the health of each server. Not behind a proxy that balances calls: the
   * health of one server would speak for all. Default: true. */
  healthChecks?: boolean;
  /** Sent with each call. */
  metadata?: Record<string, string>;
  /** More options of gRPC's channels. */
  channelOptions?: ChannelOptions;
}

/** Throws a TypeError for a name that is none of `known`. */
export function checkNames(what: string, given: object, known: string[]) {
  const other = Object.keys(given).find((name) => !known.includes(name));
  if (other !== undefined) throw new TypeError(`${what} has no option '${other}'`);
}

/** Sends calls to servers in turn, and makes them again. */
export function serviceConfigOf(retry: Retry = {}): string {
  checkNames('retry', retry, ['maxAttempts', 'initialBackoff', 'maxBackoff']);
  const {maxAttempts = 4, initialBackoff = 0.1, maxBackoff = 2} = retry;
  return JSON.stringify({
    loadBalancingConfig: [{round_robin: {}}],
    methodConfig: maxAttempts <= 1 ? [] : [{name: [{}], retryPolicy: {
      maxAttempts, initialBackoff: `${initialBackoff}s`, maxBackoff: `${maxBackoff}s`,
      backoffMultiplier: 2,
      retryableStatusCodes: ['UNAVAILABLE', 'RESOURCE_EXHAUSTED'],
    }}],
  });
}

const YES = ['1', 'true', 'on', 'yes'];
const NO = ['0', 'false', 'off', 'no', ''];

const variable = (name: string) => process.env[`ATTEND_${name}`] || undefined;

export interface Address {
  host: string;
  port: number;
}

/** Addresses of the target, of ATTEND_ADDRESS, or of localhost. */
export function addressesOf(target?: string | string[]): Address[] {
  target ??= variable('ADDRESS') ?? 'localhost:50051';
  const list = typeof target === 'string' ? target.split(',') : target;
  if (list.length === 0) throw new TypeError('the list of addresses is empty');
  return list.map((address) => {
    const [, host, port] = /^\[?([^[\]]+)\]?:(\d+)$/.exec(address.trim()) ?? [];
    if (!host) throw new TypeError(`address '${address}' must be HOST:PORT`);
    return {host, port: Number(port)};
  });
}

/** The metadata of a token, or of ATTEND_TOKEN. */
export function authorizationOf(token?: string): Record<string, string> {
  token ||= variable('TOKEN');
  if (!token) return {};
  if (!/^[!-~]+$/.test(token)) {
    throw new TypeError('the token has a character that is not printable ' +
                        'ASCII, or a space');
  }
  return {authorization: `Bearer ${token}`};
}

/** With variables for what is not given. */
export function securityOf(tls?: boolean | Tls):
    {transport: ChannelCredentials, serverName?: string} {
  const given = typeof tls === 'object' ? tls : {};
  const ca = given.ca ?? variable('CA');
  const cert = given.cert ?? variable('CERT');
  const key = given.key ?? variable('KEY');
  const serverName = given.serverName ?? variable('SERVER_NAME');
  const wanted = tls === undefined ? asBoolean(variable('TLS') ?? '') : !!tls;
  if (!wanted && !ca && !cert && !key && !serverName) {
    return {transport: credentials.createInsecure()};
  }
  if (!cert !== !key) throw new TypeError('cert and key must be given together');
  return {
    transport: credentials.createSsl(
        readPem(ca, 'CERTIFICATE'), readPem(key, 'PRIVATE KEY'),
        readPem(cert, 'CERTIFICATE')),
    serverName,
  };
}

function asBoolean(text: string): boolean {
  if (YES.includes(text.toLowerCase())) return true;
  if (NO.includes(text.toLowerCase())) return false;
  throw new TypeError(`ATTEND_TLS is '${text}', must be true or false`);
}

/** The bytes of a file that has such a thing; null if there is no path. */
function readPem(path: string | undefined, what: string): Buffer | null {
  if (!path) return null;
  const text = readFileSync(path);
  if (!text.includes(`${what}-----`)) {
    throw new TypeError(`${path}: has no ${what.toLowerCase()} in PEM`);
  }
  return text;
}
