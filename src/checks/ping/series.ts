import type { Clock } from '#kernel/clock.ts';
import { WatchpostError } from '#kernel/errors.ts';
import { singleLine } from '#kernel/text.ts';
import type { Family } from '../address.ts';
import { toSeconds } from '../outcome.ts';
import type { Attempt, Detail } from './detail.ts';
import type { Exchange } from './exchange.ts';
import type { Arrival } from './flights.ts';
import { describeError, linux } from './libc.ts';
import { describeNotice } from './notice.ts';
import type { EchoRequest } from './packet.ts';
import type { TimedBy } from './round-trip.ts';
import type { Shape } from './shape.ts';

/** A number of echo requests to one address. */
export interface EchoSeries {
  readonly family: Family;
  readonly request: EchoRequest;
  /** The socket address. */
  readonly destination: Uint8Array;
  readonly shape: Shape | null;
  readonly count: number;
  /** From the start of one attempt to the start of the next, whether it is answered by then or not. */
  readonly intervalMs: number;
  /** How long each attempt waits for its answer. */
  readonly timeoutMs: number;
}

/**
 * Sends the echo requests of a series. Each waits for its true reply until its own timeout, which starts when it is sent: attempts
 * overlap where the interval is shorter. An ICMP error, or a reply with another content, is what an attempt comes to only where
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
  if (exchange.closed) throw gone();
  return new Promise<Detail>((resolve, reject) => {
    const startedAt = clock.elapsed();
    const attempts: Attempt[] = [];
    const flights: Flight[] = [];
    let timedBy: TimedBy = 'kernel';
    let duplicates = 0;
    let lastRttMs: number | null = null;
    let waiting = 0;
    let nextSend: Disposable | null = null;
    let ended = false;

    const onAbort = () => end(() => reject(signal.reason));
    signal.addEventListener('abort', onAbort, { once: true });
    sendNext();

    function sendNext(): void {
      // What has come by now is read in passing; only the last reply is worth waking up for.
      exchange.drain();
      if (ended) return;
      nextSend = null;
      const index = flights.length;
      const sentAt = clock.elapsed();
      const sent = exchange.send(series.request, {
        destination: series.destination,
        shape: series.shape,
        expectedMs: index + 1 < series.count ? series.intervalMs : lastRttMs,
        onArrival: (what) => onArrival(flight, what),
      });
      const flight: Flight = { index, sentAt, sequence: sent.ok ? sent.sequence : null, timer: null, doubt: null };
      flights.push(flight);
      waiting += 1;
      if (sent.ok) flight.timer = clock.after(series.timeoutMs, () => onTimeout(flight));
      if (flights.length < series.count && sent.ok) {
        nextSend = clock.after(startedAt + flights.length * series.intervalMs - sentAt, sendNext);
      }
      if (!sent.ok) finish(flight, { status: 'ERROR', seconds: 0, ttl: null, reason: reasonOf(sent.errno) });
    }

    function onArrival(flight: Flight, what: Arrival): void {
      if (what.kind === 'closed') {
        end(() => reject(gone()));
        return;
      }
      const finished = attempts[flight.index];
      if (finished !== undefined) {
        if (what.kind === 'reply' && finished.status === 'OK') duplicates += 1;
        return;
      }
      // Too late, however early the loop came to read it: its timer ends it.
      if (what.ms > series.timeoutMs) return;
      const seconds = toSeconds(what.ms);
      if (what.kind === 'notice') {
        const reason = singleLine(describeNotice(series.family, what.notice));
        flight.doubt ??= { status: 'DEST_UNREACH', seconds, ttl: null, reason };
      } else if (what.intact) {
        lastRttMs = what.ms;
        if (what.timedBy === 'clock') timedBy = 'clock';
        finish(flight, { status: 'OK', seconds, ttl: what.ttl, reason: null });
      } else {
        const reason = 'the reply has another content than the request';
        flight.doubt ??= { status: 'MALFORMED', seconds, ttl: what.ttl, reason };
      }
    }

    function onTimeout(flight: Flight): void {
      flight.timer = null;
      // A loop that was held up comes to its timers before its sockets.
      exchange.drain();
      if (ended || attempts[flight.index] !== undefined) return;
      const seconds = toSeconds(clock.elapsed() - flight.sentAt);
      finish(flight, flight.doubt ?? { status: 'TIMEOUT', seconds, ttl: null, reason: null });
    }

    function finish(flight: Flight, attempt: Attempt) {
      flight.timer?.[Symbol.dispose]();
      attempts[flight.index] = attempt;
      waiting -= 1;
      if (waiting > 0 || nextSend !== null) return;
      const measured = attempts.some(({ status }) => status === 'OK');
      end(() => resolve({ attempts, duplicates, timed_by: measured ? timedBy : null }));
    }

    function end(report: () => void): void {
      if (ended) return;
      ended = true;
      signal.removeEventListener('abort', onAbort);
      nextSend?.[Symbol.dispose]();
      for (const { timer, sequence } of flights) {
        timer?.[Symbol.dispose]();
        if (sequence !== null) exchange.forget(sequence);
      }
      report();
    }
  });
}

function reasonOf(errno: number): string {
  const why = errno === linux.EMSGSIZE ? "it is larger than this node's own interface takes: " : '';
  return `${why}${describeError(errno)}`;
}

function gone(): WatchpostError {
  return new WatchpostError('node_gone', 'the node was stopped while it was pinging');
}

interface Flight {
  readonly index: number;
  readonly sentAt: number;
  readonly sequence: number | null;
  timer: Disposable | null;
  /** What it comes to where no true reply is there in time: the first error about it, or reply that was not whole. */
  doubt: Attempt | null;
}
