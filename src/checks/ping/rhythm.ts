import type { Clock } from '#kernel/clock.ts';

/** When to read the socket: when a reply is due, then less and less often, and not at all while nobody waits. */
export interface Rhythm {
  /** A request was sent whose reply is to be looked for in `expectedMs`, or as soon as it may come. */
  wait(expectedMs: number | null): void;
  /** One of the requests needs no more reading. */
  done(): void;
  /** How many requests are waited for. */
  readonly waiting: number;
}

const shortestMs = 1;
// Strangers' replies share the receive buffer of a raw socket: it must not be left alone for long.
const longestMs = 500;
// A reading comes late by at most this share of the time since the last request.
const lateness = 1 / 3;
// Round trips vary a little, and a timer fires up to a millisecond early.
const margin = { share: 1.05, ms: 1 } as const;

export function createRhythm(clock: Clock, read: () => void): Rhythm {
  let waiting = 0;
  let lastSentAt = 0;
  let dueAt = Number.POSITIVE_INFINITY;
  let timer: Disposable | null = null;
  let soon = false;

  function schedule(at: number): void {
    timer?.[Symbol.dispose]();
    dueAt = at;
    timer = clock.after(at - clock.elapsed(), beat);
  }

  function beat(): void {
    timer = null;
    dueAt = Number.POSITIVE_INFINITY;
    read();
    if (waiting === 0) return;
    const now = clock.elapsed();
    const delay = Math.min(Math.max((now - lastSentAt) * lateness, shortestMs), longestMs);
    // Reading may have led to the next request, which has set its own time.
    if (now + delay < dueAt) schedule(now + delay);
  }

  function readSoon(): void {
    soon = false;
    read();
  }

  return {
    wait(expectedMs) {
      waiting += 1;
      lastSentAt = clock.elapsed();
      const delay = expectedMs === null ? shortestMs : Math.min(expectedMs * margin.share + margin.ms, longestMs);
      if (lastSentAt + delay < dueAt) schedule(lastSentAt + delay);
      // This machine answers itself before the request is out of our hands.
      if (!soon && (expectedMs === null || expectedMs < shortestMs)) {
        soon = true;
        queueMicrotask(readSoon);
      }
    },
    done() {
      waiting -= 1;
      if (waiting > 0) return;
      timer?.[Symbol.dispose]();
      timer = null;
      dueAt = Number.POSITIVE_INFINITY;
    },
    get waiting() {
      return waiting;
    },
  };
}
