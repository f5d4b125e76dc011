import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { messageOf } from '#kernel/errors.ts';
import { orAbort } from '#kernel/clock.ts';
import { singleLine } from '#kernel/text.ts';
import { decodeMessage, type BusMessage } from './decode-message.ts';
import { encodeCall, type MethodCall } from './encode-call.ts';
import { type Value, WireError } from './value-reader.ts';

/** Why there is no answer. */
export class BusError extends Error {
  /** `socket`: this node may not use it, or it is missing; `silent`: nothing runs there; `protocol`: what answers is no bus. */
  readonly kind: 'socket' | 'silent' | 'protocol';

  constructor(kind: BusError['kind'], message: string) {
    super(message);
    this.kind = kind;
  }
}

/** An answer that says no, by its name, such as `org.freedesktop.DBus.Error.UnknownProperty`. */
export class CallError extends Error {
  readonly errorName: string;

  constructor(errorName: string, said: string) {
    super(said);
    this.errorName = errorName;
  }
}

export type BusQuestion = Omit<MethodCall, 'serial'>;

const mostBytes = 1_048_576;
const mostAuthBytes = 16_384;

/** A connection to a message bus over its unix socket (D-Bus specification, "Authentication Protocol" and "Message Protocol"). */
export class Bus implements Disposable {
  readonly #socket: Socket;
  readonly #parts: AsyncIterator<unknown>;
  readonly #path: string;
  #received = Buffer.alloc(0);
  #serial = 0;

  private constructor(socket: Socket, path: string) {
    this.#socket = socket;
    this.#parts = socket[Symbol.asyncIterator]();
    this.#path = path;
  }

  /** Rejects with a `BusError`, or with the signal's reason. */
  static async open(path: string, signal: AbortSignal): Promise<Bus> {
    signal.throwIfAborted();
    const socket = connect({ path });
    const bus = new Bus(socket, path);
    let isLoggedIn = false;
    try {
      await bus.#trying(once(socket, 'connect'), signal);
      await bus.#authenticate(signal);
      isLoggedIn = true;
      const hello = { path: '/org/freedesktop/DBus', interface: 'org.freedesktop.DBus', member: 'Hello' };
      await bus.call({ destination: 'org.freedesktop.DBus', ...hello }, signal);
      return bus;
    } catch (error) {
      bus[Symbol.dispose]();
      if (isLoggedIn && error instanceof BusError && error.kind === 'silent')
        throw new BusError('socket', `${path} ended the connection after the login, as a bus of another user does`);
      if (!(error instanceof CallError)) throw error;
      throw new BusError('socket', `${path} refuses this user: ${error.message}`);
    }
  }

  // Without a name: the other side takes the identity from the socket, which works across user namespaces too.
  async #authenticate(signal: AbortSignal): Promise<void> {
    this.#socket.write('\0AUTH EXTERNAL\r\nDATA\r\nBEGIN\r\n');
    for (;;) {
      const end = this.#received.indexOf('\r\n');
      const line = this.#received.toString('latin1', 0, end < 0 ? 0 : end);
      if (end < 0) {
        if (this.#received.length > mostAuthBytes) throw new BusError('protocol', `${this.#path} is no message bus`);
        await this.#more(signal);
        continue;
      }
      this.#received = this.#received.subarray(end + 2);
      if (line.startsWith('OK ')) return;
      if (line.startsWith('REJECTED')) throw new BusError('socket', `${this.#path} refuses this user`);
      if (line.trim() !== 'DATA') throw new BusError('protocol', `${this.#path} said ${singleLine(line, 100)}`);
    }
  }

  /** Asks, and gives what the answer contains. Rejects with a `CallError`, a `BusError` or the signal's reason. */
  async call(question: BusQuestion, signal: AbortSignal): Promise<readonly Value[]> {
    this.#serial += 1;
    const serial = this.#serial;
    this.#socket.write(encodeCall({ ...question, serial }));
    for (;;) {
      const { kind, replyTo, errorName, body } = await this.#next(signal);
      if (replyTo !== serial) continue;
      if (kind === 'return') return body;
      const [said] = body;
      if (kind === 'error') throw new CallError(errorName ?? '', typeof said === 'string' ? said : (errorName ?? ''));
    }
  }

  async #next(signal: AbortSignal): Promise<BusMessage> {
    try {
      for (;;) {
        const { bytes, message } = decodeMessage(this.#received, mostBytes);
        if (message !== null) {
          this.#received = this.#received.subarray(bytes);
          return message;
        }
        await this.#more(signal);
      }
    } catch (error) {
      if (error instanceof WireError) throw new BusError('protocol', `${this.#path} sent ${error.message}`);
      throw error;
    }
  }

  async #more(signal: AbortSignal): Promise<void> {
    const { done, value } = await this.#trying(this.#parts.next(), signal);
    if (done === true) throw new BusError('silent', `${this.#path} closed the connection`);
    if (value instanceof Buffer) this.#received = Buffer.concat([this.#received, value]);
  }

  async #trying<T>(wait: Promise<T>, signal: AbortSignal): Promise<T> {
    try {
      return await orAbort(wait, signal);
    } catch (error) {
      signal.throwIfAborted();
      throw unreachable(this.#path, error);
    }
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }
}

function unreachable(path: string, error: unknown): BusError {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  if (code === 'ENOENT') return new BusError('socket', `there is no ${path}`);
  if (code === 'EACCES' || code === 'ENOTSOCK')
    return new BusError('socket', `${path} cannot be opened: ${messageOf(error)}`);
  if (code === 'ECONNREFUSED') return new BusError('silent', `no message bus runs at ${path}`);
  return new BusError('silent', `the message bus did not answer: ${messageOf(error)}`);
}
