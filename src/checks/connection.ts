import { connect, type Socket } from 'node:net';
import { DeadlineError, orAbort } from '#kernel/clock.ts';
import { systemCode } from '#kernel/errors.ts';
import { formatDuration } from '#kernel/units.ts';
import type { NodeEnvironment } from './check.ts';
import type { Gate, Pinned } from './gate.ts';
import { connectFailure } from './network-errors.ts';
import { type Failure, failure, toSeconds } from './outcome.ts';
import type { ReadHandshake } from './tcp-info.ts';

export interface Timing {
  /** The handshake's time: the kernel's where it has one, else ours. */
  readonly seconds: number;
  /** Between our call and our hearing of it. */
  readonly clockSeconds: number;
  readonly timedBy: 'kernel' | 'clock';
}

/** A TCP connection to a pinned address that the gate has verified. */
export interface Connection extends Timing {
  readonly ok: true;
  readonly socket: Socket;
}

export interface NotConnected {
  readonly ok: false;
  readonly failure: Failure;
  /** Set where the target accepted the connection and reset it before we came to hear of either. */
  readonly reset: (Timing & { readonly error: Error }) | null;
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
  const timing = (): Timing => {
    const clockSeconds = toSeconds(clock.elapsed() - start);
    const kernelSeconds = readHandshake(socket);
    const timedBy = kernelSeconds === null ? 'clock' : 'kernel';
    return { clockSeconds, seconds: kernelSeconds ?? clockSeconds, timedBy };
  };
  const timingAtEnd = beforeItsEnd(socket, timing);
  try {
    const made = await orAbort(handshake(socket, timing), signal);
    const refusal = gate.verify(pinned, socket);
    if (refusal === null) return { ok: true, socket, ...made };
    await closeSocket(socket);
    return { ok: false, failure: refusal, reset: null };
  } catch (error) {
    await closeSocket(socket);
    if (error instanceof DeadlineError) {
      const message = `connection timed out after ${formatDuration(error.ms)}`;
      return { ok: false, failure: failure('target', 'timeout', message), reset: null };
    }
    if (signal.aborted) throw error;
    const reason = connectFailure(error);
    const made = timingAtEnd();
    return { ok: false, failure: reason, reset: wasMade(error) && made !== null ? { ...made, error } : null };
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

// A reset in answer to the handshake is ECONNREFUSED: this one came after it, but before the event loop did (tcp(7)).
function wasMade(error: unknown): error is Error {
  return error instanceof Error && systemCode(error) === 'ECONNRESET';
}

// A socket that fails is destroyed before anybody hears of it: what it knew has to be asked for on the way.
function beforeItsEnd<T>(socket: Socket, read: () => T): () => T | null {
  const destroy = socket._destroy.bind(socket);
  let known: T | null = null;
  socket._destroy = (error, done) => {
    if (error !== null) known = read();
    destroy(error, done);
  };
  return () => known;
}

async function handshake(socket: Socket, timing: () => Timing): Promise<Timing> {
  return new Promise<Timing>((resolve, reject) => {
    socket.once('error', reject);
    socket.once('connect', () => {
      const made = timing();
      socket.off('error', reject);
      // Until somebody listens for them, errors of the open connection must not end the process.
      socket.on('error', () => {});
      resolve(made);
    });
  });
}
