import type { Clock } from '#kernel/clock.ts';
import { WatchpostError } from '#kernel/errors.ts';
import { singleLine } from '#kernel/text.ts';
import type { Family } from '../address.ts';
import { toSeconds } from '../outcome.ts';
import type { Attempt, Detail } from './detail.ts';
import type { Answer, Exchange, TimedBy } from './exchange.ts';
import { describeError, linux } from './libc.ts';
import type { Notice } from './receive-buffer.ts';
import { describeNotice } from './notice.ts';
import type { EchoRequest } from './packet.ts';

/** A number of echo requests to one address. */
export interface EchoSeries {
  readonly family: Family;
  readonly request: EchoRequest;
  /** The socket address. */
  readonly destination: Uint8Array;
  readonly count: number;
  /** From the start of one attempt to the start of the next, whether it is answered by then or not. */
  readonly intervalMs: number;
  /** How long each attempt waits for its answer. */
  readonly timeoutMs: number;
}

/** What came of a series. `notices` are the ICMP errors that were met. */
export interface SeriesResult extends Detail {
  readonly notices: readonly Notice[];
}

/**
 * Sends the echo requests of a series and settles each by its first answer or by its own timeout, which starts when it is sent:
 * attempts overlap where the interval is shorter. A request that cannot be sent is the last one. Rejects with the signal's
 * reason when aborted, and leaves nothing behind either way.
 */
export async function runSeries(
  exchange: Exchange,
  clock: Clock,
  series: EchoSeries,
  signal: AbortSignal,
): Promise<SeriesResult> {
  signal.throwIfAborted();
  if (exchange.closed) throw gone();
  return new Promise<SeriesResult>((resolve, reject) => {
    const startedAt = clock.elapsed();
    const attempts: Attempt[] = [];
    const flights: Flight[] = [];
    const notices: Notice[] = [];
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
        expectedMs: index + 1 < series.count ? series.intervalMs : lastRttMs,
        onAnswer: (answer) => onAnswer(flight, answer),
      });
      const flight: Flight = { index, sentAt, sequence: sent.ok ? sent.sequence : null, timer: null };
      flights.push(flight);
      waiting += 1;
      if (sent.ok) flight.timer = clock.after(series.timeoutMs, () => onTimeout(flight));
      const unsendable = !sent.ok && sent.errno !== linux.EHOSTUNREACH;
      if (flights.length < series.count && !unsendable) {
        nextSend = clock.after(startedAt + flights.length * series.intervalMs - sentAt, sendNext);
      }
      if (!sent.ok) settle(flight, unsendable ? 'ERROR' : 'DEST_UNREACH', 0, null, describeError(sent.errno));
    }

    function onAnswer(flight: Flight, answer: Answer): void {
      if (answer.kind === 'closed') {
        end(() => reject(gone()));
        return;
      }
      const settled = attempts[flight.index];
      if (settled !== undefined) {
        if (answer.kind === 'reply' && settled.status === 'OK') duplicates += 1;
        return;
      }
      // Too late, however early the loop came to read it: its timer ends it.
      if (answer.ms > series.timeoutMs) return;
      if (answer.kind === 'notice') {
        notices.push(answer.notice);
        settle(flight, 'DEST_UNREACH', answer.ms, null, describeNotice(series.family, answer.notice));
      } else if (answer.intact) {
        lastRttMs = answer.ms;
        if (answer.timedBy === 'clock') timedBy = 'clock';
        settle(flight, 'OK', answer.ms, answer.ttl, null);
      } else {
        settle(flight, 'MALFORMED', answer.ms, answer.ttl, 'the reply has another content than the request');
      }
    }

    function onTimeout(flight: Flight): void {
      flight.timer = null;
      // A loop that was held up comes to its timers before its sockets.
      exchange.drain();
      if (ended || attempts[flight.index] !== undefined) return;
      settle(flight, 'TIMEOUT', clock.elapsed() - flight.sentAt, null, null);
    }

    function settle(flight: Flight, status: Attempt['status'], ms: number, ttl: number | null, reason: string | null) {
      flight.timer?.[Symbol.dispose]();
      attempts[flight.index] = {
        status,
        seconds: toSeconds(ms),
        ttl,
        reason: reason === null ? null : singleLine(reason),
      };
      waiting -= 1;
      if (waiting > 0 || nextSend !== null) return;
      const measured = attempts.some((attempt) => attempt.status === 'OK');
      end(() => resolve({ attempts, duplicates, timed_by: measured ? timedBy : null, notices }));
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

function gone(): WatchpostError {
  return new WatchpostError('node_gone', 'the node was stopped while it was pinging');
}

interface Flight {
  readonly index: number;
  readonly sentAt: number;
  readonly sequence: number | null;
  timer: Disposable | null;
}
