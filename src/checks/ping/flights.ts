import type { EchoRequest } from './packet.ts';
import type { Notice } from './receive-buffer.ts';
import type { Instant, RoundTrip } from './round-trip.ts';
import type { Shape } from './shape.ts';

/** What came of an echo request. Times are milliseconds since it was sent. */
export type Arrival =
  | (RoundTrip & { readonly kind: 'reply'; readonly ttl: number | null; readonly intact: boolean })
  | { readonly kind: 'notice'; readonly ms: number; readonly notice: Notice }
  | { readonly kind: 'closed' };

/** Whose echo requests they are. */
export interface EchoSender {
  readonly request: EchoRequest;
  /** A socket address. */
  readonly destination: Uint8Array;
  readonly shape: Shape | null;
  /** Hears everything that comes back to one of its requests, duplicates too. */
  onArrival(index: number, what: Arrival): void;
}

/** An echo request that was sent and is not yet forgotten. */
export interface Flight {
  readonly sender: EchoSender;
  /** What its sender calls it. */
  readonly index: number;
  readonly sent: Instant;
  readonly departure: number;
  /** When the kernel sent it, if the kernel said so. */
  departedMs: number | null;
}

/** The echo requests under way, by sequence number. */
export interface Flights {
  readonly size: number;
  readonly isFull: boolean;
  /** One that no request under way has; never asked for if they are full. */
  freeSequence(): number;
  add(sequence: number, flight: Flight): void;
  get(sequence: number): Flight | undefined;
  /** The kernel has sent the packet with this number; reported once for each. */
  departed(departure: number, atMs: number): void;
  remove(sequence: number): Flight | undefined;
  /** Takes all of them out. */
  clear(): readonly Flight[];
}

const sequences = 0x10000;

export function createFlights(): Flights {
  const flights = new Map<number, Flight>();
  const departing = new Map<number, Flight>();
  let next = 0;
  return {
    get size() {
      return flights.size;
    },
    get isFull() {
      return flights.size >= sequences;
    },
    freeSequence() {
      while (flights.has(next)) next = (next + 1) % sequences;
      const sequence = next;
      next = (next + 1) % sequences;
      return sequence;
    },
    add(sequence, flight) {
      flights.set(sequence, flight);
      departing.set(flight.departure, flight);
    },
    get: (sequence) => flights.get(sequence),
    departed(departure, atMs) {
      const flight = departing.get(departure);
      if (flight === undefined) return;
      departing.delete(departure);
      flight.departedMs = atMs;
    },
    remove(sequence) {
      const flight = flights.get(sequence);
      if (flight === undefined) return undefined;
      flights.delete(sequence);
      if (departing.get(flight.departure) === flight) departing.delete(flight.departure);
      return flight;
    },
    clear() {
      const all = [...flights.values()];
      flights.clear();
      departing.clear();
      return all;
    },
  };
}
