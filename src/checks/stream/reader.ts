import type { Socket } from 'node:net';
import { type Clock, orAbort } from '#kernel/clock.ts';
import type { ArrivedAt } from '../arrivals.ts';
import { createReceiveBuffer, type StreamBuffer } from './receive-buffer.ts';

/** How reading ended: by a match, by the cap, by the other side's end, or by an error such as the deadline's. */
export interface Reading {
  readonly end: 'matched' | 'full' | 'ended' | Error;
  /** What came since the last match. */
  readonly bytes: Buffer;
}

/** Reads what comes on a connection, answer by answer. */
export interface StreamReader {
  /** Reads until an answer matches. What comes behind it is kept for the next one: `endOf` says where a match ends. */
  until(matches: (answer: Buffer) => boolean, endOf: (answer: Buffer) => number): Promise<Reading>;
  /** When the first byte had come, by the monotonic clock; null before. */
  readonly firstAt: number | null;
  /** Detaches from the connection and drops unread bytes. */
  stop(): void;
}

export interface StreamReaderOptions {
  readonly clock: Clock;
  readonly arrivedAt: ArrivedAt;
  readonly signal: AbortSignal;
  /** Called with all that comes. */
  readonly onBytes?: ((bytes: Buffer) => void) | undefined;
  /** Called if the other side ends the connection. */
  readonly onEnd?: (() => void) | undefined;
}

export function createReader(
  socket: Socket,
  { clock, arrivedAt, signal, onBytes, onEnd }: StreamReaderOptions,
): StreamReader {
  let left: Buffer = Buffer.alloc(0);
  let answer: StreamBuffer | null = null;
  let firstAt: number | null = null;
  let over: 'ended' | Error | null = null;
  let finishReading: (end: Reading['end']) => void = () => {};

  const take = (piece: Buffer) => {
    firstAt ??= arrivedAt();
    onBytes?.(piece);
    if (answer === null) left = Buffer.concat([left, piece]);
    else answer.take(piece);
    if (answer?.full === true) finishReading('full');
  };
  const finish = (end: 'ended' | Error) => {
    over ??= end;
    finishReading(end);
  };
  const ended = () => {
    onEnd?.();
    finish('ended');
  };
  socket.on('data', take);
  socket.once('end', ended);
  socket.once('close', ended);
  socket.once('error', finish);
  socket.pause();

  return {
    get firstAt() {
      return firstAt;
    },
    async until(matches, endOf) {
      const { promise, resolve } = Promise.withResolvers<Reading['end']>();
      finishReading = resolve;
      using reading = createReceiveBuffer(matches, clock, () => resolve('matched'));
      answer = reading;
      answer.take(left);
      if (over !== null) resolve(over);
      socket.resume();
      const end = await orAbort(promise, signal).catch((error: unknown) =>
        error instanceof Error ? error : new Error(String(error)),
      );
      socket.pause();
      answer = null;
      const bytes = Buffer.from(reading.bytes);
      const matched = reading.look();
      left = matched ? bytes.subarray(endOf(bytes)) : bytes;
      return { end: matched ? 'matched' : end, bytes };
    },
    stop() {
      socket.off('data', take);
      socket.off('end', ended);
      socket.off('close', ended);
      socket.off('error', finish);
    },
  };
}
