import type { Outcome } from '#checks/index.ts';
import type { Clock } from '#kernel/clock.ts';
import { observedTimers } from '#kernel/lateness.ts';

/**
 * How late this thread's event loop comes to things. It is seen from the timers that run anyway, and from one of its own while a
 * check runs that needs to know it closely. While none does nothing wakes an idle process, and a late loop does no harm.
 */
export interface LagWatch extends Disposable {
  /** The clock for whatever runs in this thread: its timers tell how late they came. */
  readonly clock: Clock;
  /** A check begins. `closely` looks every 20 ms until it is over; without it only what a timer was waiting for is seen. */
  observe(how: { readonly closely: boolean }): LagMeasurement;
  /** Whether a check runs that has to know it closely. */
  readonly isClose: boolean;
  /** The worst since this was asked last, in seconds. */
  worst(): number;
}

/** A check that runs, until it is disposed of. */
export interface LagMeasurement extends Disposable {
  /** The outcome; if the loop was held up meanwhile, with the fact `node_lag`: for how long at the worst. */
  withLag(outcome: Outcome): Outcome;
}

// How often the timer looks: what is found is short of the truth by up to so much.
const resolutionMs = 20;
// What is shorter happens all the time, and hardly shows in any figure.
const leastLagMs = 5;
const keptStalls = 100;

/** From when something was due to when the loop came to it. */
interface ThreadStall {
  readonly from: number;
  readonly until: number;
}

export function watchLag(clock: Clock): LagWatch {
  const stalls: ThreadStall[] = [];
  let observed = 0;
  let dueAt = 0;
  let timer: Disposable | null = null;
  let worstMs = 0;
  let heldUpMs = 0;
  let heldUpUntil = Number.NEGATIVE_INFINITY;

  function wait(): void {
    dueAt = clock.elapsed() + resolutionMs;
    timer = clock.after(resolutionMs, () => {
      look();
      wait();
    });
  }

  // Also read between two firings: an overdue timer reveals the stall that has just ended.
  function look(): void {
    if (timer !== null && came(dueAt)) dueAt = clock.elapsed();
  }

  // Whether it came late.
  function came(due: number): boolean {
    const now = clock.elapsed();
    const ms = now - due;
    if (ms < leastLagMs) return false;
    worstMs = Math.max(worstMs, ms);
    heldUpMs += now - Math.max(due, heldUpUntil);
    heldUpUntil = now;
    const last = stalls.at(-1);
    // One stall makes many timers late: those after the first tell nothing new.
    if (last !== undefined && last.from <= due && now - last.until < leastLagMs) return true;
    stalls.push({ from: due, until: now });
    if (stalls.length > keptStalls) stalls.shift();
    return true;
  }

  function longestSince(moment: number): number {
    let longest = 0;
    for (const { from, until } of stalls) longest = Math.max(longest, until - Math.max(from, moment));
    return longest < leastLagMs ? 0 : longest;
  }

  function rest(): void {
    timer?.[Symbol.dispose]();
    timer = null;
  }

  return {
    clock: {
      ...observedTimers(clock, came),
      heldUpMs() {
        look();
        return heldUpMs;
      },
    },
    observe({ closely }) {
      look();
      if (closely && timer === null) wait();
      if (closely) observed += 1;
      const start = clock.elapsed();
      return {
        withLag(outcome) {
          look();
          const ms = longestSince(start);
          if (ms === 0) return outcome;
          return { ...outcome, facts: { ...outcome.facts, node_lag: Math.round(ms * 1e3) / 1e6 } };
        },
        [Symbol.dispose]() {
          if (closely) observed -= 1;
          if (observed === 0) rest();
        },
      };
    },
    get isClose() {
      return observed > 0;
    },
    worst() {
      look();
      const seconds = worstMs / 1e3;
      worstMs = 0;
      return seconds;
    },
    [Symbol.dispose]: rest,
  };
}
