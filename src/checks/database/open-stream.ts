import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';

/** The most that is read of a server. */
export const mostBytes = 1_048_576;

/**
 * A connection that is open already, for client libraries that expect to connect by themselves: `connect` only says that it is done.
 * It ends with a `RangeError` after 1 MiB, and destroying it leaves the connection open.
 */
export class OpenStream extends Duplex {
  readonly #socket: Socket;
  readonly #take: (piece: Buffer) => void;
  readonly #finish: () => void;
  readonly #fail: (error: Error) => void;
  #bytes = 0;
  /** Whether the other end has closed the connection. */
  isOver = false;

  constructor(socket: Socket) {
    super({ allowHalfOpen: false });
    this.#socket = socket;
    this.#take = (piece) => {
      this.#bytes += piece.length;
      if (this.#bytes > mostBytes) this.destroy(new RangeError(`the server sent more than ${mostBytes} bytes`));
      else if (!this.push(piece)) socket.pause();
    };
    this.#finish = () => {
      this.isOver = true;
      this.push(null);
    };
    this.#fail = (error) => this.destroy(error);
    socket.on('data', this.#take);
    socket.once('end', this.#finish);
    socket.once('error', this.#fail);
    // A library that listens no more must not end the process.
    this.on('error', () => {});
  }

  connect(): this {
    process.nextTick(() => this.emit('connect'));
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  setTimeout(): this {
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _write(piece: Buffer, _: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#socket.write(piece, done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#socket.end(() => done());
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#socket.off('data', this.#take).off('end', this.#finish).off('error', this.#fail);
    done(error);
  }
}
