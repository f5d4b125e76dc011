import type { Clock } from './clock.ts';

export interface PunctualOptions {
  readonly clock: Clock;
  /** Whether nothing would be kept waiting by a thread that sleeps for a millisecond. */
  readonly isIdle: () => boolean;
  /** Has the thread sleep, for less than two milliseconds. */
  readonly sleep?: (ms: number) => void;
}

// Timers are whole milliseconds and come up to one and a half too late: what is left after one that comes too early is slept.
const earlyMs = 1;
const longestSleepMs = 2;
// A waiter that is woken up must not find that it is still too early.
const marginMs = 0.02;
// Clocks drift by less than a tenth of a millisecond in a second; if one is slewed faster it is off by one at the most.
const driftPerMs = 0.0001;
const tickMs = 1;

/** The clock with fractions of a millisecond in `now`, and timers that keep them if the thread has nothing else to do. */
export function createPunctualClock({ clock, isIdle, sleep = sleepThread }: PunctualOptions): Clock {
  // The wall clock is cut to milliseconds: the most that it was ever ahead of the monotonic one is what it is.
  let aheadMs = clock.now() - clock.elapsed();
  let lookedAt = clock.elapsed();

  function now(): number {
    const elapsed = clock.elapsed();
    const seen = clock.now() - elapsed;
    const least = aheadMs - (elapsed - lookedAt) * driftPerMs;
    // It was set back, or the machine slept.
    aheadMs = seen < least - tickMs ? seen : Math.max(seen, least);
    lookedAt = elapsed;
    return elapsed + aheadMs;
  }

  function after(ms: number, action: () => void): Disposable {
    const end = clock.elapsed() + ms;
    let timer = clock.after(Math.max(0, Math.floor(ms - earlyMs)), function come() {
      const leftMs = end - clock.elapsed();
      if (leftMs > 0 && leftMs < longestSleepMs && isIdle()) sleep(leftMs + marginMs);
      else if (leftMs > 0) {
        timer = clock.after(Math.ceil(leftMs), action);
        return;
      }
      action();
    });
    return { [Symbol.dispose]: () => timer[Symbol.dispose]() };
  }

  return { now, elapsed: () => clock.elapsed(), after };
}

const never = new Int32Array(new SharedArrayBuffer(4));

function sleepThread(ms: number): void {
  Atomics.wait(never, 0, 0, ms);
}
