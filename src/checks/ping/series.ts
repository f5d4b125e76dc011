import type { Clock } from '#kernel/clock.ts';
import { WatchpostError } from '#kernel/errors.ts';
import { singleLine } from '#kernel/text.ts';
import type { AddressFamily } from '../address.ts';
import { toSeconds } from '../outcome.ts';
import type { Attempt, Detail } from './detail.ts';
import type { Exchange } from './exchange.ts';
import type { Arrival, EchoSender } from './flights.ts';
import { describeError, linux } from './libc.ts';
import { describeNotice } from './notice.ts';
import type { EchoRequest } from './packet.ts';
import type { RhythmMember } from './rhythm.ts';
import type { TimedBy } from './round-trip.ts';
import type { Shape } from './shape.ts';

/** A number of echo requests to one address. */
export interface EchoSeries {
  readonly family: AddressFamily;
  readonly request: EchoRequest;
  /** The socket address. */
  readonly destination: Uint8Array;
  readonly shape: Shape | null;
  readonly count: number;
  /** From the start of one attempt to the start of the next, whether it is answered by then or not. */
  readonly intervalMs: number;
  /** How long each attempt waits for its answer. */
  readonly timeoutMs: number;
  /** Its outcome is not urgent: it may come a moment later, and its requests a moment before or after their time, to be done with others. */
  readonly isPatient: boolean;
}

/**
 * Sends the echo requests of a series. Each waits for its true reply until its own timeout, which starts when it is sent: attempts
 * overlap if the interval is shorter. An ICMP error, or a reply with another content, is what an attempt comes to only where
 * no true reply follows in time: anybody can forge them. A request that cannot be sent is the last one. Rejects with the
 * signal's reason when aborted, and leaves nothing behind either way.
 */
export async function runSeries(
  exchange: Exchange,
  clock: Clock,
  series: EchoSeries,
  signal: AbortSignal,
): Promise<Detail> {
  signal.throwIfAborted();
  if (exchange.closed) throw socketClosedError();
  return new Promise<Detail>((resolve, reject) => {
    const onAbort = () => running.end(() => reject(signal.reason));
    const running = new RunningSeries(exchange, clock, series, {
      found: resolve,
      socketClosedError: () => reject(socketClosedError()),
      ended: () => signal.removeEventListener('abort', onAbort),
    });
    signal.addEventListener('abort', onAbort, { once: true });
    exchange.join(running);
  });
}

/** Who hears what became of a series. */
interface SeriesCallbacks {
  readonly found: (detail: Detail) => void;
  readonly socketClosedError: () => void;
  /** Before either, and where it is ended from outside. */
  readonly ended: () => void;
}

interface SentEcho {
  readonly sentAt: number;
  readonly sequence: number | null;
  /** What it comes to where no true reply is there in time: the first error about it, or reply that was not whole. */
  doubt: Attempt | null;
}

const shortestMs = 1;
// Strangers' replies share the receive buffer of a raw socket: it must not be left alone for long.
const longestMs = 500;
// A reading comes late by at most this share of the time since the last request.
const lateness = 1 / 3;
// Round trips vary a little.
const margin = { share: 1.05, ms: 1 } as const;
// A timer fires up to a millisecond early.
const earlyMs = 1;
// How much longer a reading waits for something else to be woken for if the outcome is not urgent.
const patienceMs = 100;
// And a request is sent so much before or after its time, to be sent with others.
const shift = { share: 0.01, mostMs: 5 } as const;

class RunningSeries implements EchoSender, RhythmMember {
  until = Number.POSITIVE_INFINITY;
  readonly request: EchoSeries['request'];
  readonly destination: EchoSeries['destination'];
  readonly shape: EchoSeries['shape'];
  readonly #exchange: Exchange;
  readonly #clock: Clock;
  readonly #series: EchoSeries;
  readonly #ending: SeriesCallbacks;
  readonly #startedAt: number;
  readonly #patienceMs: number;
  readonly #shiftMs: number;
  readonly #attempts: Attempt[] = [];
  readonly #requests: SentEcho[] = [];
  #sendAt: number;
  #readAt = Number.POSITIVE_INFINITY;
  #waiting = 0;
  // All before this one are.
  #finished = 0;
  #lastRttMs: number | null = null;
  #timedBy: TimedBy = 'kernel';
  #duplicates = 0;
  #hasEnded = false;

  constructor(exchange: Exchange, clock: Clock, series: EchoSeries, ending: SeriesCallbacks) {
    this.request = series.request;
    this.destination = series.destination;
    this.shape = series.shape;
    this.#exchange = exchange;
    this.#clock = clock;
    this.#series = series;
    this.#ending = ending;
    this.#sendAt = this.#startedAt = clock.elapsed();
    this.#patienceMs = series.isPatient ? patienceMs : 0;
    this.#shiftMs = series.isPatient ? Math.min(series.intervalMs * shift.share, shift.mostMs) : 0;
  }

  beat(now: number, maySend: boolean): boolean {
    this.#giveUp(now);
    if (this.#hasEnded) return false;
    if (this.#waiting > 0) this.#readAt = Math.max(this.#readAt, now + this.#pause(now));
    const sends = maySend && now >= this.#sendAt - Math.max(this.#shiftMs, earlyMs);
    if (sends) this.#sendNext();
    this.until = this.#hasEnded ? Number.POSITIVE_INFINITY : this.#latest();
    return sends;
  }

  onArrival(index: number, what: Arrival): void {
    if (what.kind === 'closed') return this.end(this.#ending.socketClosedError);
    const finished = this.#attempts[index];
    if (finished !== undefined) {
      if (what.kind === 'reply' && finished.status === 'OK') this.#duplicates += 1;
      return;
    }
    // Too late, however early the loop came to read it: its time ends it.
    if (what.ms > this.#series.timeoutMs) return;
    const seconds = toSeconds(what.ms);
    if (what.kind === 'notice') {
      const reason = singleLine(describeNotice(this.#series.family, what.notice));
      this.#doubt(index, { status: 'DEST_UNREACH', seconds, ttl: null, reason });
    } else if (what.intact) {
      this.#lastRttMs = what.ms;
      if (what.timedBy === 'clock') this.#timedBy = 'clock';
      this.#finish(index, { status: 'OK', seconds, ttl: what.ttl, reason: null });
    } else {
      const reason = 'the reply has another content than the request';
      this.#doubt(index, { status: 'MALFORMED', seconds, ttl: what.ttl, reason });
    }
  }

  /** Ends it, if it has not ended, and reports. */
  end(report: () => void): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#exchange.leave(this);
    for (const { sequence } of this.#requests) if (sequence !== null) this.#exchange.forget(sequence);
    this.#ending.ended();
    report();
  }

  #sendNext(): void {
    const index = this.#requests.length;
    const sentAt = this.#clock.elapsed();
    const sent = this.#exchange.send(this, index);
    this.#requests.push({ sentAt, sequence: sent.ok ? sent.sequence : null, doubt: null });
    this.#waiting += 1;
    const isLast = index + 1 === this.#series.count || !sent.ok;
    this.#sendAt = isLast ? Number.POSITIVE_INFINITY : this.#startedAt + (index + 1) * this.#series.intervalMs;
    // What comes until the next one is sent is read then; only the last reply is worth waking up for.
    this.#readAt = sentAt + (isLast ? this.#untilReply() : longestMs) + this.#patienceMs;
    if (!sent.ok) this.#finish(index, { status: 'ERROR', seconds: 0, ttl: null, reason: reasonOf(sent.errno) });
  }

  #untilReply(): number {
    const rttMs = this.#lastRttMs;
    // This machine answers itself before the request is out of our hands.
    if (!this.#series.isPatient && (rttMs === null || rttMs < shortestMs)) this.#exchange.readSoon();
    const expectedMs = rttMs === null ? shortestMs : rttMs * margin.share + margin.ms;
    return Math.min(expectedMs, longestMs);
  }

  // From one reading to the next.
  #pause(now: number): number {
    const sinceMs = now - (this.#requests.at(-1)?.sentAt ?? now);
    return Math.min(Math.max(sinceMs * lateness, shortestMs), longestMs) + this.#patienceMs;
  }

  #latest(): number {
    const next = this.#sendAt + this.#shiftMs;
    if (this.#waiting === 0) return next;
    const end = (this.#oldest()?.sentAt ?? 0) + this.#series.timeoutMs + this.#patienceMs;
    return Math.min(next, end, this.#readAt);
  }

  // Comes after a reading: a loop that was held up comes to its timers before its sockets.
  #giveUp(now: number): void {
    const { timeoutMs } = this.#series;
    for (let oldest = this.#oldest(); oldest !== undefined; oldest = this.#oldest()) {
      if (now < oldest.sentAt + timeoutMs - earlyMs) return;
      const silence: Attempt = { status: 'TIMEOUT', seconds: toSeconds(timeoutMs), ttl: null, reason: null };
      this.#finish(this.#finished, oldest.doubt ?? silence);
    }
  }

  // The first request that is not finished.
  #oldest(): SentEcho | undefined {
    while (this.#attempts[this.#finished] !== undefined) this.#finished += 1;
    return this.#requests[this.#finished];
  }

  #doubt(index: number, attempt: Attempt): void {
    const request = this.#requests[index];
    if (request !== undefined) request.doubt ??= attempt;
  }

  #finish(index: number, attempt: Attempt): void {
    this.#attempts[index] = attempt;
    this.#waiting -= 1;
    if (this.#waiting > 0 || this.#sendAt !== Number.POSITIVE_INFINITY) return;
    const attempts = this.#attempts;
    const measured = attempts.some(({ status }) => status === 'OK');
    const detail = { attempts, duplicates: this.#duplicates, timed_by: measured ? this.#timedBy : null };
    this.end(() => this.#ending.found(detail));
  }
}

function reasonOf(errno: number): string {
  const why = errno === linux.EMSGSIZE ? "it is larger than this node's own interface takes: " : '';
  return `${why}${describeError(errno)}`;
}

function socketClosedError(): WatchpostError {
  return new WatchpostError('node_gone', 'the node was stopped while it was pinging');
}
