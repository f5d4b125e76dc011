import type { Clock } from '#kernel/clock.ts';

/** What came on a connection: data, or any segment, such as one without data that ends it. */
export type ArrivalKind = 'data' | 'segment';

/**
 * The moment on the monotonic clock, in milliseconds, at which what a connection received last (data if nothing else is asked for) was
 * there for certain. Call it when what ends a wait is handled.
 */
export type ArrivedAt = (what?: ArrivalKind) => number;

/**
 * The moment on the monotonic clock, in milliseconds, before which nothing was sent of what has just been written; at the earliest
 * `since`, when that was handed over. Call it right after the write.
 */
export type SentAt = (since: number) => number;

// What is shorter the kernel cannot tell: its ticks are up to 10 ms long.
const leastDelayMs = 10;

/**
 * Times what comes on one connection, which was made just now: by the kernel if this thread was held up, or did other things for a while
 * since the last came, and by our own clock otherwise. `ageMs` is for how long the last has been there at the least, or null if the
 * kernel does not tell.
 */
export function observeArrivals(clock: Clock, ageMs: (what: ArrivalKind) => number | null): ArrivedAt {
  const heldUpBefore = clock.heldUpMs?.() ?? 0;
  let last = clock.elapsed();
  let busyBefore = clock.busyMs?.() ?? 0;
  return (what = 'data') => {
    const now = clock.elapsed();
    if (now - last < leastDelayMs) return (last = now);
    const busy = clock.busyMs?.() ?? 0;
    const isLate = busy - busyBefore >= leastDelayMs || (clock.heldUpMs?.() ?? 0) !== heldUpBefore;
    if (!isLate) {
      busyBefore = busy;
      return (last = now);
    }
    const age = ageMs(what) ?? 0;
    // Read afterwards: if the thread is put aside between the two, the moment is late, and never early.
    return (last = clock.elapsed() - age);
  };
}

/** Times what is sent on one connection by the kernel if that took long. `ageMs` is for how long the last has been sent at the most. */
export function observeSending(clock: Clock, ageMs: () => number | null): SentAt {
  return (since) => {
    const now = clock.elapsed();
    if (now - since < leastDelayMs) return since;
    // Asked afterwards: if the thread is put aside between the two, the moment is early, and never late.
    const age = ageMs();
    return age === null ? since : Math.max(since, now - age);
  };
}
