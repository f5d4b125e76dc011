import type { Clock } from '#kernel/clock.ts';
import { createFlights, type EchoSender } from './flights.ts';
import { linux } from './libc.ts';
import { createListener } from './listener.ts';
import { createRhythm, type Rhythm } from './rhythm.ts';
import type { Instant } from './round-trip.ts';
import type { EchoSocket } from './socket.ts';

type SendResult = { readonly ok: true; readonly sequence: number } | { readonly ok: false; readonly errno: number };

/**
 * Sends echo requests of one family and finds for every answer the request it belongs to. The socket is read at the common beat
 * of those who joined, and not at all while there are none: the kernel's stamps make it all one for the figures when that is, one
 * reading serves all pings, and a native callback from the event loop would take the process down with a thread that ends.
 */
export interface Exchange extends Rhythm {
  /** The identifier that requests are made with. */
  readonly identifier: number;
  /** Sends at once. Reports everything that comes back, duplicates too, until the sequence number is forgotten. */
  send(sender: EchoSender, index: number): SendResult;
  forget(sequence: number): void;
  /** Reads the socket once the work of this moment is done. */
  readSoon(): void;
  /** How many sequence numbers are in use. */
  readonly pending: number;
  readonly closed: boolean;
  /** Answers every pending request with `closed`. */
  close(): void;
}

const sendTries = 4;

/** Takes the socket over and closes it in the end. */
export function createExchange(clock: Clock, socket: EchoSocket): Exchange {
  const flights = createFlights();
  const listener = createListener({ socket, flights, now });
  const read = () => socket.drain(listener);
  let closed = false;
  let soon = false;

  function now(): Instant {
    const elapsedMs = clock.elapsed();
    const wallMs = socket.wallMs();
    return { elapsedMs, wallMs, withinMs: clock.elapsed() - elapsedMs };
  }

  // A shared socket reports an error that some other echo met to the next send, once: only what stays is our own.
  function sendTrying({ request, destination, shape }: EchoSender) {
    let elapsedMs = clock.elapsed();
    let sending = socket.send(request.packet, destination, shape);
    for (let tries = 1; !sending.ok && tries < sendTries; tries += 1) {
      elapsedMs = clock.elapsed();
      sending = socket.send(request.packet, destination, shape);
    }
    if (!sending.ok) return sending;
    return { ...sending, sent: { elapsedMs, wallMs: sending.wallMs, withinMs: clock.elapsed() - elapsedMs } };
  }

  return {
    ...createRhythm(clock, read),
    identifier: socket.identifier ?? 0,
    send(sender, index) {
      if (flights.isFull) return { ok: false, errno: linux.ENOBUFS };
      const sequence = flights.freeSequence();
      sender.request.number(sequence);
      const sending = sendTrying(sender);
      if (!sending.ok) return sending;
      const { sent, departure } = sending;
      flights.add(sequence, { sender, index, sent, departure, departedMs: null });
      return { ok: true, sequence };
    },
    forget: (sequence) => void flights.remove(sequence),
    readSoon() {
      if (soon) return;
      soon = true;
      queueMicrotask(() => {
        soon = false;
        read();
      });
    },
    get pending() {
      return flights.size;
    },
    get closed() {
      return closed;
    },
    close() {
      closed = true;
      socket.close();
      for (const { sender, index } of flights.clear()) sender.onArrival(index, { kind: 'closed' });
    },
  };
}
