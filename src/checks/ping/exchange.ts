import type { Clock } from '#kernel/clock.ts';
import { linux } from './libc.ts';
import type { ReceivedPacket, Notice } from './receive-buffer.ts';
import { checksum, type EchoRequest, readEchoReply, readEchoRequest, samePayload } from './packet.ts';
import { isFailure } from './notice.ts';
import { createRhythm } from './rhythm.ts';
import { sameHost } from './socket-address.ts';
import type { EchoListener, EchoSocket } from './socket.ts';

/** Who took a time: the kernel's stamp on the packet, or our own clock when we came to read it. */
export type TimedBy = 'kernel' | 'clock';

/** What came of an echo request. Times are milliseconds since it was sent. */
export type Arrival =
  | {
      readonly kind: 'reply';
      readonly ms: number;
      readonly timedBy: TimedBy;
      readonly ttl: number | null;
      readonly intact: boolean;
    }
  | { readonly kind: 'notice'; readonly ms: number; readonly notice: Notice }
  | { readonly kind: 'closed' };

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
  /** When the reply is to be looked for, in milliseconds from now; null is as soon as it may come. */
  readonly expectedMs: number | null;
  readonly onArrival: (what: Arrival) => void;
}

interface Flight {
  readonly destination: Uint8Array;
  readonly payload: Uint8Array;
  readonly onArrival: (what: Arrival) => void;
  readonly sent: Instant;
  readonly departure: number;
  /** When the kernel saw it off, where it told. */
  departedMs: number | null;
  answered: boolean;
}

const sequences = 0x10000;
const sendTries = 4;

/** Takes the socket over and closes it in the end. */
export function createExchange(clock: Clock, socket: EchoSocket): Exchange {
  const flights = new Map<number, Flight>();
  const departures = new Map<number, Flight>();
  let next = 0;
  let closed = false;
  // Raw IPv4 sockets get packets before the kernel has checked them.
  const kernelChecks = socket.identifier === null || socket.family === 6;

  const rhythm = createRhythm(clock, () => socket.drain(listener));
  const listener: EchoListener = {
    onMessage(received) {
      const echo = readEchoReply(socket.family, received.bytes);
      if (echo === null) return;
      const flight = find(echo.identifier, echo.sequence, received);
      if (flight === null) return;
      const intact = samePayload(echo.payload, flight.payload) && (kernelChecks || checksum(received.bytes) === 0);
      const { ms, timedBy } = roundTrip(flight, received.stampMs, now());
      tell(flight, { kind: 'reply', ms, timedBy, ttl: received.ttl, intact });
    },
    onNotice(received) {
      const echo = readEchoRequest(socket.family, received.bytes);
      if (echo === null || received.notice?.fromNetwork !== true) return;
      if (!isFailure(socket.family, received.notice)) return;
      const flight = find(echo.identifier, echo.sequence, received);
      // Routers quote at least the header (RFC 792) and as a rule more: what is quoted must be ours.
      const quoted = Math.min(echo.payload.length, flight?.payload.length ?? 0);
      if (flight === null || !samePayload(echo.payload.subarray(0, quoted), flight.payload.subarray(0, quoted))) return;
      const { ms } = roundTrip(flight, received.stampMs, now());
      tell(flight, { kind: 'notice', ms, notice: received.notice });
    },
    onDeparture(departure, atMs) {
      const flight = departures.get(departure);
      if (flight === undefined) return;
      departures.delete(departure);
      flight.departedMs = atMs;
    },
  };

  // Only the true reply ends the reading: errors, and replies that are not whole, may come before it.
  function tell(flight: Flight, what: Arrival): void {
    const last = what.kind === 'closed' || (what.kind === 'reply' && what.intact);
    if (last && !flight.answered) {
      flight.answered = true;
      rhythm.done();
    }
    flight.onArrival(what);
  }

  function now(): Instant {
    return { elapsedMs: clock.elapsed(), wallMs: socket.wallMs() };
  }

  function find(identifier: number, sequence: number, { peer }: ReceivedPacket): Flight | null {
    if (socket.identifier !== null && identifier !== socket.identifier) return null;
    const flight = flights.get(sequence);
    return flight !== undefined && sameHost(peer, flight.destination, socket.family) ? flight : null;
  }

  function nextSequence(): number {
    while (flights.has(next)) next = (next + 1) % sequences;
    const sequence = next;
    next = (next + 1) % sequences;
    return sequence;
  }

  return {
    identifier: socket.identifier ?? 0,
    send(request, { destination, expectedMs, onArrival }) {
      if (flights.size >= sequences) return { ok: false, errno: linux.ENOBUFS };
      // What gathered while nobody read could fill the receive buffer.
      if (rhythm.waiting === 0) socket.drain(listener);
      const sequence = nextSequence();
      request.number(sequence);
      // A shared socket reports an error that some other echo met to whoever sends next, once: only what stays is our own.
      let elapsedMs = clock.elapsed();
      let sending = socket.send(request.packet, destination);
      for (let tries = 1; !sending.ok && tries < sendTries; tries += 1) {
        elapsedMs = clock.elapsed();
        sending = socket.send(request.packet, destination);
      }
      if (!sending.ok) return sending;
      const { departure, wallMs } = sending;
      const sent = { elapsedMs, wallMs };
      const flight = {
        destination,
        payload: request.payload,
        onArrival,
        sent,
        departure,
        departedMs: null,
        answered: false,
      };
      flights.set(sequence, flight);
      departures.set(departure, flight);
      rhythm.wait(expectedMs);
      return { ok: true, sequence };
    },
    forget(sequence) {
      const flight = flights.get(sequence);
      if (flight === undefined) return;
      flights.delete(sequence);
      if (departures.get(flight.departure) === flight) departures.delete(flight.departure);
      if (!flight.answered) rhythm.done();
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
      for (const flight of flights.values()) tell(flight, { kind: 'closed' });
      flights.clear();
      departures.clear();
    },
  };
}

/** A moment on both clocks: the wall clock, which the kernel's stamps are on, and the monotonic one. */
export interface Instant {
  readonly wallMs: number;
  readonly elapsedMs: number;
}

/** Wall and monotonic clock agree to this much over the few seconds of an echo unless somebody sets the wall clock. */
const stepMs = 1;

interface Departed {
  /** Right before it was handed to the kernel. */
  readonly sent: Instant;
  /** When the kernel handed it to the network device, or null. */
  readonly departedMs: number | null;
}

/**
 * The time from the departure, else from sending, to the kernel's receive stamp. Where there is no stamp, or where the wall
 * clock was set between sending and now, it is the monotonic time until now, which includes how late we came to read.
 */
export function roundTrip({ sent, departedMs }: Departed, stampMs: number | null, now: Instant): RoundTrip {
  const elapsedMs = now.elapsedMs - sent.elapsedMs;
  const stepped = Math.abs(now.wallMs - sent.wallMs - elapsedMs) > stepMs;
  if (stepped || stampMs === null) return { ms: elapsedMs, timedBy: 'clock' };
  const ms = stampMs - sent.wallMs;
  if (ms < 0 || ms > elapsedMs + stepMs) return { ms: elapsedMs, timedBy: 'clock' };
  const left = departedMs !== null && departedMs >= sent.wallMs && departedMs <= stampMs;
  return { ms: left ? stampMs - departedMs : ms, timedBy: 'kernel' };
}

interface RoundTrip {
  readonly ms: number;
  readonly timedBy: TimedBy;
}
