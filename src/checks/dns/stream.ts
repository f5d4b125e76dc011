import { connect, type Socket } from 'node:net';
import type { Clock } from '#kernel/clock.ts';
import { messageOf, systemCode } from '#kernel/errors.ts';
import type { Ends, Peer } from '../datagram.ts';
import { type Failure, failure } from '../outcome.ts';

export interface StreamOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly localAddress: string | undefined;
  readonly timeoutMs: number;
  verify(ends: Ends): Failure | null;
}

export type StreamAnswer =
  | { readonly kind: 'reply'; readonly bytes: Buffer }
  | { readonly kind: 'silent' }
  | { readonly kind: 'failed'; readonly failure: Failure };

/** Asks over a TCP connection of its own (RFC 7766) and gives the first message that comes. Rejects only when aborted. */
export async function askOverStream(peer: Peer, query: Buffer, options: StreamOptions): Promise<StreamAnswer> {
  options.signal.throwIfAborted();
  const socket = connect({
    host: peer.address,
    port: peer.port,
    noDelay: true,
    autoSelectFamily: false,
    ...(options.localAddress === undefined ? {} : { localAddress: options.localAddress }),
  });
  let onAbort = () => {};
  let timer: Disposable | null = null;
  try {
    return await new Promise<StreamAnswer>((resolve, reject) => {
      onAbort = () => reject(options.signal.reason);
      options.signal.addEventListener('abort', onAbort, { once: true });
      timer = options.clock.after(options.timeoutMs, () => resolve({ kind: 'silent' }));
      socket.on('error', (error) => resolve({ kind: 'failed', failure: streamFailure(error, peer) }));
      socket.on('connect', () => {
        const refused = options.verify(endsOf(socket));
        if (refused === null) socket.write(framed(query));
        else resolve({ kind: 'failed', failure: refused });
      });
      readFrame(socket, (bytes) => resolve({ kind: 'reply', bytes }));
      socket.on('end', () => {
        const message = `${peer.address} closed the connection before it answered`;
        resolve({ kind: 'failed', failure: failure('target', 'closed', message) });
      });
    });
  } finally {
    options.signal.removeEventListener('abort', onAbort);
    disposeOf(timer);
    socket.destroy();
  }
}

function disposeOf(timer: Disposable | null): void {
  timer?.[Symbol.dispose]();
}

function endsOf(socket: Socket): Ends {
  return { remoteAddress: socket.remoteAddress ?? '', localAddress: socket.localAddress ?? '' };
}

// RFC 1035, section 4.2.2: two bytes of length before the message.
function framed(query: Buffer): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(query.length);
  return Buffer.concat([length, query]);
}

function readFrame(socket: Socket, done: (bytes: Buffer) => void): void {
  const chunks: Buffer[] = [];
  let received = 0;
  socket.on('data', (chunk) => {
    chunks.push(chunk);
    received += chunk.length;
    if (received < 2) return;
    const head = Buffer.concat(chunks.slice(0, 2));
    const length = head.readUInt16BE(0);
    if (received >= 2 + length) done(Buffer.concat(chunks).subarray(2, 2 + length));
  });
}

function streamFailure(error: unknown, { address, port }: Peer): Failure {
  const code = systemCode(error) ?? messageOf(error);
  switch (code) {
    case 'ECONNREFUSED':
      return failure('target', 'refused', `connection refused: TCP port ${port} is closed`);
    case 'ECONNRESET':
    case 'EPIPE':
      return failure('target', 'reset', `${address} reset the connection`);
    case 'ETIMEDOUT':
      return failure('target', 'timeout', `no answer from ${address}`);
    case 'EHOSTUNREACH':
      return failure('target', 'unreachable', `${address} is unreachable (${code})`);
    case 'ENETUNREACH':
      return failure('node', 'local', `this node has no route to ${address} (${code})`);
    default:
      return failure('node', 'local', `this node cannot connect to ${address}: ${code}`);
  }
}
