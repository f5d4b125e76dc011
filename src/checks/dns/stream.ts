import { connect, type Socket } from 'node:net';
import type { Clock } from '#kernel/clock.ts';
import { closeSocket } from '../connection.ts';
import { connectFailure, refused, streamFailure } from '../network-errors.ts';
import { isConnectedToItself } from '../own-port.ts';
import type { DatagramAddresses, Peer } from '../datagram.ts';
import { type Failure, failure } from '../outcome.ts';

export interface StreamQueryOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly localAddress: string | undefined;
  readonly timeoutMs: number;
  verify(ends: DatagramAddresses): Failure | null;
}

export type StreamAnswer =
  | { readonly kind: 'reply'; readonly bytes: Buffer }
  | { readonly kind: 'silent' }
  | { readonly kind: 'failed'; readonly failure: Failure };

interface UnconnectedStream {
  readonly kind: 'unconnected';
  readonly error: unknown;
}

/** Asks over a TCP connection of its own (RFC 7766) and gives the first message that comes. Rejects only when aborted. */
export async function askOverStream(peer: Peer, query: Buffer, options: StreamQueryOptions): Promise<StreamAnswer> {
  options.signal.throwIfAborted();
  const socket = connect({
    host: peer.address,
    port: peer.port,
    noDelay: true,
    autoSelectFamily: false,
    ...(options.localAddress === undefined ? {} : { localAddress: options.localAddress }),
  });
  let onAbort = () => {};
  let limit: Disposable | null = null;
  try {
    const answer = await new Promise<StreamAnswer | UnconnectedStream>((resolve, reject) => {
      const fail = (reason: Failure) => resolve({ kind: 'failed', failure: reason });
      onAbort = () => reject(options.signal.reason);
      options.signal.addEventListener('abort', onAbort, { once: true });
      limit = options.clock.after(options.timeoutMs, () => resolve({ kind: 'silent' }));
      let connected = false;
      socket.on('error', (error) => {
        if (connected) fail(streamFailure(error));
        else resolve({ kind: 'unconnected', error });
      });
      socket.on('connect', () => {
        connected = true;
        const refusal = options.verify(endsOf(socket)) ?? (isConnectedToItself(socket) ? refused() : null);
        if (refusal === null) socket.write(framed(query));
        else fail(refusal);
      });
      readFrame(socket, (bytes) => resolve({ kind: 'reply', bytes }));
      socket.on('end', () =>
        fail(failure('target', 'closed', 'the connection was closed before the answer was whole')),
      );
    });
    if (answer.kind !== 'unconnected') return answer;
    return { kind: 'failed', failure: connectFailure(answer.error) };
  } finally {
    options.signal.removeEventListener('abort', onAbort);
    disposeOf(limit);
    await closeSocket(socket);
  }
}

function disposeOf(timer: Disposable | null): void {
  timer?.[Symbol.dispose]();
}

function endsOf(socket: Socket): DatagramAddresses {
  return { remoteAddress: socket.remoteAddress, localAddress: socket.localAddress };
}

// RFC 1035, section 4.2.2: two bytes of length before the message.
export function framed(query: Buffer): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(query.length);
  return Buffer.concat([length, query]);
}

export function readFrame(socket: Socket, done: (bytes: Buffer) => void): void {
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
