import { Socket } from 'node:net';
import { DeadlineError, orAbort } from '#kernel/clock.ts';
import { systemCode } from '#kernel/errors.ts';
import { formatDuration } from '#kernel/units.ts';
import type { ProbeEnvironment } from './check.ts';
import type { Gate, PinnedAddress } from './gate.ts';
import { connectFailure, refused } from './network-errors.ts';
import { type Failure, failure, toSeconds } from './outcome.ts';
import { isConnectedToItself } from './own-port.ts';
import { type ArrivedAt, observeArrivals, observeSending, type SentAt } from './arrivals.ts';
import type { LimitReceiving, ReadArrivalAge, ReadHandshake, ReadSentAge } from './tcp-info.ts';

export interface HandshakeTime {
  /** The handshake's time: the kernel's if it has one, else ours. */
  readonly seconds: number;
  /** Between our call and our hearing of it. */
  readonly clockSeconds: number;
  readonly timedBy: 'kernel' | 'clock';
}

/** A TCP connection to a pinned address that the gate has verified. */
export interface Connection extends HandshakeTime {
  readonly ok: true;
  readonly pinned: PinnedAddress;
  readonly socket: Socket;
  /** When what came last was there, also if it is read through TLS or a proxy. */
  readonly arrivedAt: ArrivedAt;
  /** When what was written last was sent, also if it was written through TLS. */
  readonly sentAt: SentAt;
}

export interface ConnectionFailure {
  readonly ok: false;
  readonly failure: Failure;
  /** Set if the target accepted the connection and reset it before we came to hear of either. */
  readonly reset: (HandshakeTime & { readonly error: Error }) | null;
}

/** Takes what comes in as it comes, in place of the socket's stream, which makes a buffer of 64 KiB for whatever it reads. */
export interface DataReceiver {
  /** Called with bytes that are there until it returns. Nothing comes while the socket is paused. */
  take: (chunk: Buffer) => void;
}

export interface ConnectOptions {
  readonly environment: Pick<ProbeEnvironment, 'clock' | 'localAddress'>;
  readonly gate: Gate;
  readonly readHandshake: ReadHandshake;
  readonly readArrivalAge: ReadArrivalAge;
  readonly readSentAge: ReadSentAge;
  readonly limitReceiving: LimitReceiving;
  /** An expired `Deadline` is a failure of the target; any other abort rejects. */
  readonly signal: AbortSignal;
  readonly incoming?: DataReceiver | undefined;
}

/** Connects to the pinned address and nothing else. The caller closes the socket with `closeSocket`. */
export async function openConnection(
  pinned: PinnedAddress,
  port: number,
  { environment, gate, readHandshake, readArrivalAge, readSentAge, limitReceiving, signal, incoming }: ConnectOptions,
): Promise<Connection | ConnectionFailure> {
  const { clock, localAddress } = environment;
  const local = localAddress[pinned.family];
  const start = clock.elapsed();
  const timing = (): HandshakeTime => {
    const clockSeconds = toSeconds(clock.elapsed() - start);
    const kernelSeconds = readHandshake(socket);
    const timedBy = kernelSeconds === null ? 'clock' : 'kernel';
    return { clockSeconds, seconds: kernelSeconds ?? clockSeconds, timedBy };
  };
  const socket = new ProbeSocket(timing, incoming ?? null);
  socket.connect({
    host: pinned.address,
    port,
    autoSelectFamily: false,
    ...(local === undefined ? {} : { localAddress: local }),
  });
  try {
    const made = await orAbort(handshake(socket, timing, limitReceiving), signal);
    const refusal = gate.verify(pinned, socket) ?? (isConnectedToItself(socket) ? refused() : null);
    const arrivedAt = observeArrivals(clock, (what) => readArrivalAge(socket, what));
    const sentAt = observeSending(clock, () => readSentAge(socket));
    if (refusal === null) return { ok: true, pinned, socket, arrivedAt, sentAt, ...made };
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
    const made = socket.timingAtFailure;
    return { ok: false, failure: reason, reset: wasEstablished(error) && made !== null ? { ...made, error } : null };
  }
}

/** Closes a socket, whatever its state, and waits until its descriptor is closed. Later events are ignored. */
export async function closeSocket(socket: Socket): Promise<void> {
  if (!socket.closed) await closed(socket);
  // Node holds on to it until the next collection of everything old, and it would to all that its listeners know of its check.
  socket.removeAllListeners();
}

async function closed(socket: Socket): Promise<void> {
  return new Promise<void>((resolve) => {
    socket.once('close', () => resolve());
    // An error that comes with the closing is of no account any more.
    socket.on('error', () => {});
    socket.destroy();
  });
}

// A reset in answer to the handshake is ECONNREFUSED: this one came after it, but before the event loop did (tcp(7)).
function wasEstablished(error: unknown): error is Error {
  return error instanceof Error && systemCode(error) === 'ECONNRESET';
}

class ProbeSocket extends Socket {
  /** A socket that fails is destroyed before anybody hears of it: what it knew has to be asked for on the way. */
  timingAtFailure: HandshakeTime | null = null;
  readonly #timing: () => HandshakeTime;
  // Dropped at the end, for the same reason as listeners.
  #incoming: DataReceiver | null;

  constructor(timing: () => HandshakeTime, incoming: DataReceiver | null) {
    const onread = { buffer: inPlace, callback: (bytes: number) => this.#take(bytes) };
    super(incoming === null ? { noDelay: true } : { noDelay: true, onread });
    this.#timing = timing;
    this.#incoming = incoming;
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    if (error !== null) this.timingAtFailure = this.#timing();
    this.#incoming = null;
    super._destroy(error, done);
  }

  #take(bytes: number): boolean {
    this.#incoming?.take(inPlace.subarray(0, bytes));
    return true;
  }
}

// Shared: a reader has copied its bytes when the next socket is read.
const inPlace = Buffer.alloc(65_536);

async function handshake(
  socket: Socket,
  timing: () => HandshakeTime,
  limitReceiving: LimitReceiving,
): Promise<HandshakeTime> {
  return new Promise<HandshakeTime>((resolve, reject) => {
    socket.once('error', reject);
    socket.once('connect', () => {
      const made = timing();
      limitReceiving(socket);
      socket.off('error', reject);
      // Until a reader listens for them, errors of the open connection must not end the process.
      socket.on('error', () => {});
      resolve(made);
    });
  });
}
