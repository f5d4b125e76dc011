import { createSocket } from 'node:dgram';
import { connect, isIPv6, type Socket } from 'node:net';
import { type Clock, DeadlineError, orAbort } from '#kernel/clock.ts';
import { messageOf, systemCode } from '#kernel/errors.ts';
import { formatDuration } from '#kernel/units.ts';
import type { NodeEnvironment } from './check.ts';
import type { Gate, Pinned } from './gate.ts';
import { type Failure, failure, toSeconds } from './outcome.ts';
import type { ReadHandshake } from './tcp-info.ts';

/** A TCP connection to a pinned address that the gate has verified. */
export interface Connection {
  readonly ok: true;
  readonly socket: Socket;
  /** The handshake's time: the kernel's where it has one, else ours. */
  readonly seconds: number;
  /** Between our call and our hearing of it. */
  readonly clockSeconds: number;
  readonly timedBy: 'kernel' | 'clock';
}

export interface NotConnected {
  readonly ok: false;
  readonly failure: Failure;
}

export interface ConnectOptions {
  readonly environment: Pick<NodeEnvironment, 'clock' | 'localAddress'>;
  readonly gate: Gate;
  readonly readHandshake: ReadHandshake;
  /** An expired `Deadline` is a failure of the target; any other abort rejects. */
  readonly signal: AbortSignal;
}

/** Connects to the pinned address and nothing else. The caller closes the socket with `closeSocket`. */
export async function openConnection(
  pinned: Pinned,
  port: number,
  { environment, gate, readHandshake, signal }: ConnectOptions,
): Promise<Connection | NotConnected> {
  const { clock, localAddress } = environment;
  const local = localAddress[pinned.family];
  const start = clock.elapsed();
  const socket = connect({
    host: pinned.address,
    port,
    autoSelectFamily: false,
    noDelay: true,
    ...(local === undefined ? {} : { localAddress: local }),
  });
  try {
    const timing = await orAbort(handshake(socket, clock, start, readHandshake), signal);
    const refusal = gate.verify(pinned, socket);
    if (refusal === null) return { ok: true, socket, ...timing };
    await closeSocket(socket);
    return { ok: false, failure: refusal };
  } catch (error) {
    await closeSocket(socket);
    if (error instanceof DeadlineError) {
      return {
        ok: false,
        failure: failure('target', 'timeout', `connection timed out after ${formatDuration(error.ms)}`),
      };
    }
    if (signal.aborted) throw error;
    return { ok: false, failure: await connectFailure(error, pinned.address) };
  }
}

/** Closes a socket, whatever its state, and waits until its descriptor is gone. */
export async function closeSocket(socket: Socket): Promise<void> {
  if (socket.closed) return;
  await new Promise<void>((resolve) => {
    socket.once('close', () => resolve());
    // An error that comes with the closing is of no account any more.
    socket.on('error', () => {});
    socket.destroy();
  });
}

/** What an error of an open connection means. */
export function streamFailure(error: unknown): Failure {
  const code = systemCode(error);
  if (code === 'ECONNRESET' || code === 'EPIPE' || code === 'ECONNABORTED') {
    return failure('target', 'reset', 'connection reset by the target');
  }
  if (code === 'ETIMEDOUT') return failure('target', 'timeout', 'connection timed out');
  return failure('node', 'local', `the node could not go on: ${messageOf(error)}`);
}

/** What it means that a connection was not made: the target's fault, or ours where we have no route or no means. */
export async function connectFailure(error: unknown, address: string): Promise<Failure> {
  switch (systemCode(error)) {
    case 'ECONNREFUSED':
      return failure('target', 'refused', 'connection refused');
    case 'ETIMEDOUT':
      return failure('target', 'timeout', 'connection timed out');
    case 'ECONNRESET':
      return failure('target', 'reset', 'connection reset by the target');
    case 'ENETUNREACH':
    case 'EHOSTUNREACH':
      if (!(await hasRoute(address))) {
        return failure('node', 'local', `this node has no route to IPv${isIPv6(address) ? 6 : 4} address ${address}`);
      }
      return failure('target', 'unreachable', 'host or network unreachable');
    default:
      return failure('node', 'local', `this node could not connect: ${messageOf(error)}`);
  }
}

// Connecting a datagram socket looks up the route and sends nothing.
async function hasRoute(address: string): Promise<boolean> {
  const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4');
  try {
    return await new Promise<boolean>((resolve) => {
      socket.once('error', () => resolve(false));
      socket.once('connect', () => resolve(true));
      socket.connect(9, address);
    });
  } finally {
    socket.close();
  }
}

type Timing = Pick<Connection, 'seconds' | 'clockSeconds' | 'timedBy'>;

async function handshake(socket: Socket, clock: Clock, start: number, readHandshake: ReadHandshake): Promise<Timing> {
  return new Promise<Timing>((resolve, reject) => {
    socket.once('error', reject);
    socket.once('connect', () => {
      const clockSeconds = toSeconds(clock.elapsed() - start);
      const kernelSeconds = readHandshake(socket);
      socket.off('error', reject);
      // Until somebody listens for them, errors of the open connection must not end the process.
      socket.on('error', () => {});
      resolve({
        clockSeconds,
        seconds: kernelSeconds ?? clockSeconds,
        timedBy: kernelSeconds === null ? 'clock' : 'kernel',
      });
    });
  });
}
