import type { Clock } from '#kernel/clock.ts';

// In a large outage each of a thousand rounds has deliveries, and each reading of the outbox has a thousand of them.
const restShare = 8;
const longestRestMs = 2_000;

/** Something that is done again and again: when it is time, and when there is news. */
export interface PacedAction extends Disposable {
  /** Does it at once. */
  now(): void;
  /** Does it at once, or, if it took long just before, after a rest of eight times as long, two seconds at the most. */
  soon(): void;
}

/** `action` returns after how many milliseconds it is time again. */
export function createPacedAction(clock: Clock, action: () => number): PacedAction {
  let timer: Disposable | null = null;
  let restsUntil = 0;
  let isScheduled = false;

  function now(): void {
    const began = clock.elapsed();
    isScheduled = false;
    const nextMs = action();
    const ended = clock.elapsed();
    restsUntil = ended + Math.min(restShare * (ended - began), longestRestMs);
    schedule(nextMs);
  }

  function schedule(ms: number): void {
    timer?.[Symbol.dispose]();
    timer = clock.after(ms, now);
  }

  return {
    now,
    soon() {
      if (isScheduled) return;
      const restMs = restsUntil - clock.elapsed();
      if (restMs <= 0) {
        now();
        return;
      }
      isScheduled = true;
      schedule(restMs);
    },
    [Symbol.dispose]: () => timer?.[Symbol.dispose](),
  };
}
