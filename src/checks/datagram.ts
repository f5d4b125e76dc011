import { createSocket, type Socket } from 'node:dgram';
import type { Clock } from '#kernel/clock.ts';
import { messageOf, systemCode } from '#kernel/errors.ts';
import type { AddressFamily } from './address.ts';
import { type Failure, failure } from './outcome.ts';
import { type ConnectedEnds, isConnectedToItself } from './own-port.ts';

/** The other end of a conversation: an address that the gate pinned, or one of the node's own name servers. */
export interface Peer {
  readonly address: string;
  readonly family: AddressFamily;
  readonly port: number;
}

/** Both ends of a connected socket, as `Gate.verify` takes them. */
export interface DatagramAddresses {
  readonly remoteAddress?: string | undefined;
  readonly localAddress?: string | undefined;
}

export interface DatagramArrival {
  /** Monotonic milliseconds at which each datagram so far was sent. */
  readonly sentAt: readonly number[];
  /** Monotonic milliseconds at which this one came. */
  readonly receivedAt: number;
}

export interface DatagramExchangeOptions<Reply> {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Source address; absent means the system's choice. */
  readonly localAddress: string | undefined;
  /** When the datagrams are sent, in milliseconds from the start, ascending. The first reply ends the conversation. */
  readonly sendAtMs: readonly number[];
  /** How long to listen, in milliseconds from the start. */
  readonly timeoutMs: number;
  /** Judges both ends before anything is sent. */
  verify(ends: DatagramAddresses): Failure | null;
  /** Makes the datagram with this number, counted from 0, right before it is sent. */
  make(number: number): Uint8Array;
  /** The reply that a datagram is, or null to go on listening. */
  read(datagram: Buffer, received: DatagramArrival): Reply | null;
}

export type DatagramExchange<Reply> = { readonly sent: number; readonly ignored: number } & (
  | { readonly kind: 'reply'; readonly reply: Reply }
  | { readonly kind: 'silent' }
  | { readonly kind: 'failed'; readonly failure: Failure }
);

type DatagramOutcome<Reply> =
  | { readonly kind: 'reply'; readonly reply: Reply }
  | { readonly kind: 'silent' }
  | { readonly kind: 'failed'; readonly failure: Failure }
  | { readonly kind: 'broken'; readonly error: unknown };
type DatagramResult<Reply> = DatagramOutcome<Reply> & { readonly sent: number; readonly ignored: number };

/**
 * Sends a few datagrams from a new connected socket and listens for the first proper reply. The kernel drops what comes
 * from any other address or port, and tells of ICMP errors. Rejects only when aborted; the socket is closed at its end.
 */
export async function converse<Reply>(
  peer: Peer,
  options: DatagramExchangeOptions<Reply>,
): Promise<DatagramExchange<Reply>> {
  const { clock, signal } = options;
  signal.throwIfAborted();
  const socket = openSocket(peer);
  const timers: Disposable[] = [];
  let onAbort = () => {};
  try {
    const ended = await new Promise<DatagramResult<Reply>>((resolve, reject) => {
      const sentAt: number[] = [];
      let ignored = 0;
      const end = (how: DatagramOutcome<Reply>) => resolve({ ...how, sent: sentAt.length, ignored });
      const fail = (error: unknown) => end({ kind: 'broken', error });
      const attempt = (action: () => void) => {
        try {
          action();
        } catch (error) {
          reject(error);
        }
      };

      onAbort = () => reject(signal.reason);
      signal.addEventListener('abort', onAbort, { once: true });
      socket.on('error', fail);
      timers.push(clock.after(options.timeoutMs, () => end({ kind: 'silent' })));
      socket.on('message', (datagram) => {
        const receivedAt = clock.elapsed();
        attempt(() => {
          const reply = options.read(datagram, { sentAt, receivedAt });
          if (reply === null) ignored += 1;
          else end({ kind: 'reply', reply });
        });
      });
      const send = () => {
        const datagram = options.make(sentAt.length);
        sentAt.push(clock.elapsed());
        socket.send(datagram, (error) => {
          if (error !== null) fail(error);
        });
      };
      const start = () => {
        const ends = endsOf(socket);
        const refused = options.verify(ends) ?? (isConnectedToItself(ends) ? closedPort(peer) : null);
        if (refused !== null) return end({ kind: 'failed', failure: refused });
        for (const at of options.sendAtMs) {
          if (at <= 0) send();
          else timers.push(clock.after(at, () => attempt(send)));
        }
      };
      connect(socket, peer, options.localAddress, (error) => {
        if (error === null) attempt(start);
        else fail(error);
      });
    });
    if (ended.kind !== 'broken') return ended;
    const { sent, ignored, error } = ended;
    return { kind: 'failed', failure: socketFailure(error, peer), sent, ignored };
  } finally {
    signal.removeEventListener('abort', onAbort);
    for (const timer of timers) timer[Symbol.dispose]();
    socket.close();
  }
}

// Addresses are literal: a lookup that answers at once keeps sends from waiting for the next turn of the loop.
function openSocket({ family }: Peer): Socket {
  return createSocket({
    type: family === 6 ? 'udp6' : 'udp4',
    lookup: (address, _options, callback) => callback(null, address, family),
  });
}

function connect(
  socket: Socket,
  { address, port }: Peer,
  localAddress: string | undefined,
  done: (error: Error | null) => void,
): void {
  const proceed = () => {
    // The callback gets the error of connect(2), though its declared type has no parameter.
    socket.connect(port, address, (...results: readonly unknown[]) => {
      const [error] = results;
      done(error instanceof Error ? error : null);
    });
  };
  if (localAddress === undefined) proceed();
  else socket.bind({ address: localAddress, port: 0, exclusive: true }, proceed);
}

// With a connected socket, udp(7) reports ICMP errors on receiving; what connect(2) or send(2) refuse is this machine's.
function socketFailure(error: unknown, peer: Peer): Failure {
  const { address } = peer;
  const code = systemCode(error) ?? messageOf(error);
  if (code === 'ECONNREFUSED') return closedPort(peer);
  const fromNetwork = error instanceof Error && 'syscall' in error && error.syscall === 'recvmsg';
  const unreachable = failure('target', 'unreachable', `${address} is unreachable (${code})`);
  if (code === 'EHOSTUNREACH' || code === 'ENETUNREACH') return unreachable;
  if (fromNetwork && networkErrors.has(code)) return unreachable;
  return failure('node', 'local', `this node cannot send to ${address}: ${code}`);
}

function closedPort({ port }: Peer): Failure {
  return failure('target', 'refused', `connection refused: UDP port ${port} is closed`);
}

function endsOf(socket: Socket): ConnectedEnds {
  const [local, remote] = [socket.address(), socket.remoteAddress()];
  return {
    localAddress: local.address,
    localPort: local.port,
    remoteAddress: remote.address,
    remotePort: remote.port,
  };
}

const networkErrors: ReadonlySet<string> = new Set(['EHOSTDOWN', 'ENONET', 'ENOPROTOOPT', 'EPROTO']);
