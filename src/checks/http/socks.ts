import { isIP, type Socket } from 'node:net';
import { once } from 'node:events';
import ipaddr from 'ipaddr.js';
import { type Failure, failure } from '../outcome.ts';
import { EndedEarly } from './body.ts';

/** What a SOCKS proxy is asked for. */
export interface SocksRequest {
  /** A host name, which the proxy resolves, or an address. */
  readonly host: string;
  readonly port: number;
  readonly credentials: { readonly username: string; readonly password: string } | null;
  /** Called when the proxy has let the node in: what it says from now on is about the target. */
  readonly onAccepted: () => void;
  readonly signal: AbortSignal;
}

/** What a SOCKS proxy did not do: `ofTarget` if the target is at fault. */
export class SocksRefusal extends Error {
  readonly failure: Failure;
  readonly ofTarget: boolean;

  constructor(reason: Failure, ofTarget: boolean) {
    super(reason.message);
    this.failure = reason;
    this.ofTarget = ofTarget;
  }
}

const version = 5;
const noSignIn = 0;
const passwordSignIn = 2;

/**
 * Has a proxy connect to the target (SOCKS 5, RFC 1928; user and password, RFC 1929). The socket then leads there. Rejects with a
 * `SocksRefusal`, or with the error of the connection.
 */
export async function connectOverSocks(socket: Socket, request: SocksRequest): Promise<void> {
  const { host, port, credentials, onAccepted, signal } = request;
  const offered = credentials === null ? [noSignIn] : [noSignIn, passwordSignIn];
  socket.write(Buffer.from([version, offered.length, ...offered]));
  const [spoken, method = 0xff] = await read(socket, 2, signal);
  if (spoken !== version) throw notSocks();
  if (!offered.includes(method)) throw unwelcome('it wants another way to sign in than this check has');
  if (method === passwordSignIn && credentials !== null) await signIn(socket, credentials, signal);
  onAccepted();
  socket.write(Buffer.concat([Buffer.from([version, 1, 0]), addressOf(host), portBytes(port)]));
  const [answered, code = 0xff, , kind = 0] = await read(socket, 4, signal);
  if (answered !== version) throw notSocks();
  if (code !== 0) throw refusalBy(code, host);
  const [length = 0] = kind === 3 ? await read(socket, 1, signal) : [kind === 4 ? 16 : 4];
  // Where the proxy connects from: of no interest, but it must be read.
  await read(socket, length + 2, signal);
}

async function signIn(
  socket: Socket,
  { username, password }: NonNullable<SocksRequest['credentials']>,
  signal: AbortSignal,
): Promise<void> {
  const [user, secret] = [Buffer.from(username), Buffer.from(password)];
  socket.write(Buffer.concat([Buffer.from([1, user.length]), user, Buffer.from([secret.length]), secret]));
  const [, status] = await read(socket, 2, signal);
  if (status !== 0) throw unwelcome('it does not accept the user name and password');
}

function addressOf(host: string): Buffer {
  const family = isIP(host);
  if (family !== 0) return Buffer.from([family === 4 ? 1 : 4, ...ipaddr.parse(host).toByteArray()]);
  const name = Buffer.from(host, 'latin1');
  return Buffer.concat([Buffer.from([3, name.length]), name]);
}

function portBytes(port: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(port);
  return bytes;
}

// RFC 1928, section 6.
const unreached: ReadonlyMap<number, string> = new Map([
  [3, 'network unreachable'],
  [4, 'host unreachable'],
  [5, 'connection refused'],
  [6, 'TTL expired'],
]);
const refusals: ReadonlyMap<number, string> = new Map([
  [1, 'general failure'],
  [2, 'its rules do not allow the connection'],
  [7, 'command not supported'],
  [8, 'address type not supported'],
]);

function refusalBy(code: number, host: string): SocksRefusal {
  const why = unreached.get(code);
  if (why === undefined) return unwelcome(`it refuses (${refusals.get(code) ?? `reply ${code}`})`);
  const message = `the proxy could not connect to ${host}: ${why}`;
  return new SocksRefusal(failure('target', code === 5 ? 'refused' : 'unreachable', message), true);
}

function unwelcome(message: string): SocksRefusal {
  return new SocksRefusal(failure('target', 'status', message), false);
}

function notSocks(): SocksRefusal {
  return new SocksRefusal(failure('target', 'protocol', 'its answer is not SOCKS 5'), false);
}

/** Reads so many bytes, and leaves what comes behind them in the socket: it is the target's. */
async function read(socket: Socket, length: number, signal: AbortSignal): Promise<Buffer> {
  for (;;) {
    const bytes: unknown = socket.read(length);
    if (bytes instanceof Buffer && bytes.length === length) return bytes;
    if (bytes !== null || socket.readableEnded || socket.destroyed) throw socket.errored ?? new EndedEarly();
    const stop = new AbortController();
    const options = { signal: AbortSignal.any([signal, stop.signal]) };
    try {
      await Promise.race([
        once(socket, 'readable', options),
        once(socket, 'end', options),
        once(socket, 'close', options),
      ]);
    } finally {
      stop.abort();
    }
  }
}
