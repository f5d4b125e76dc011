import type { Clock } from '#kernel/clock.ts';
import { type Arrival, createFlights, type Flight } from './flights.ts';
import { linux } from './libc.ts';
import { createListener } from './listener.ts';
import type { EchoRequest } from './packet.ts';
import { createRhythm } from './rhythm.ts';
import type { Instant } from './round-trip.ts';
import type { Shape } from './shape.ts';
import type { EchoSocket } from './socket.ts';

type Sent = { readonly ok: true; readonly sequence: number } | { readonly ok: false; readonly errno: number };

/**
 * Sends echo requests of one family and finds for every answer the request it belongs to. The socket is read by a timer
 * while somebody waits, and not at all otherwise: the kernel's stamps make it all one for the figures when that is, one
 * reading serves all pings, and a native callback from the event loop would take the process down with a thread that ends.
 */
export interface Exchange {
  /** The identifier that requests are made with. */
  readonly identifier: number;
  /** Sends at once. Everything that comes back is told, duplicates too, until the sequence number is forgotten. */
  send(request: EchoRequest, options: SendOptions): Sent;
  forget(sequence: number): void;
  /** Tells at once what has arrived. */
  drain(): void;
  /** How many sequence numbers are in use. */
  readonly pending: number;
  readonly closed: boolean;
  /** Answers every pending request with `closed`. */
  close(): void;
}

interface SendOptions {
  /** A socket address. */
  readonly destination: Uint8Array;
  readonly shape: Shape | null;
  /** When the reply is to be looked for, in milliseconds from now; null is as soon as it may come. */
  readonly expectedMs: number | null;
  readonly onArrival: (what: Arrival) => void;
}

const sendTries = 4;

/** Takes the socket over and closes it in the end. */
export function createExchange(clock: Clock, socket: EchoSocket): Exchange {
  const flights = createFlights();
  let closed = false;
  const listener = createListener({ socket, flights, now, tell });
  const rhythm = createRhythm(clock, () => socket.drain(listener));

  function now(): Instant {
    return { elapsedMs: clock.elapsed(), wallMs: socket.wallMs() };
  }

  // Only the true reply ends the reading: errors, and replies that are not whole, may come before it.
  function tell(flight: Flight, what: Arrival): void {
    const last = what.kind === 'closed' || (what.kind === 'reply' && what.intact);
    if (last && !flight.answered) {
      flight.answered = true;
      rhythm.done();
    }
    flight.onArrival(what);
  }

  // A shared socket reports an error that some other echo met to whoever sends next, once: only what stays is our own.
  function sendTrying(packet: Uint8Array, destination: Uint8Array, shape: Shape | null) {
    let elapsedMs = clock.elapsed();
    let sending = socket.send(packet, destination, shape);
    for (let tries = 1; !sending.ok && tries < sendTries; tries += 1) {
      elapsedMs = clock.elapsed();
      sending = socket.send(packet, destination, shape);
    }
    return sending.ok ? { ...sending, sent: { elapsedMs, wallMs: sending.wallMs } } : sending;
  }

  return {
    identifier: socket.identifier ?? 0,
    send(request, { destination, shape, expectedMs, onArrival }) {
      if (flights.isFull) return { ok: false, errno: linux.ENOBUFS };
      // What gathered while nobody read could fill the receive buffer.
      if (rhythm.waiting === 0) socket.drain(listener);
      const sequence = flights.freeSequence();
      request.number(sequence);
      const sending = sendTrying(request.packet, destination, shape);
      if (!sending.ok) return sending;
      const { sent, departure } = sending;
      const { payload } = request;
      flights.add(sequence, { destination, payload, onArrival, sent, departure, departedMs: null, answered: false });
      rhythm.wait(expectedMs);
      return { ok: true, sequence };
    },
    forget(sequence) {
      if (flights.remove(sequence)?.answered === false) rhythm.done();
    },
    drain: () => socket.drain(listener),
    get pending() {
      return flights.size;
    },
    get closed() {
      return closed;
    },
    close() {
      closed = true;
      socket.close();
      for (const flight of flights.clear()) tell(flight, { kind: 'closed' });
    },
  };
}
