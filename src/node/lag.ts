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
  /** A check begins, and looks are as close as it says until it is over. */
  observe(how: Closeness): LagMeasurement;
  /** Whether a check runs that is not observed in passing only. */
  readonly isTiming: boolean;
  /** The worst since this was asked last, in seconds. */
  worst(): number;
}

/**
 * How often the thread is looked at: every 20 ms; every 100 ms, and closely while it is held up again and again; or only when a timer
 * comes that something else waits for.
 */
export type Closeness = 'closely' | 'loosely' | 'in passing';

/** A check that runs, until it is disposed of. */
export interface LagMeasurement extends Disposable {
  /** The outcome; if the loop was held up meanwhile, with the fact `node_lag`: for how long at the worst. */
  withLag(outcome: Outcome): Outcome;
}

// How often the timer looks: what is found is short of the truth by up to so much.
const closeMs = 20;
const looseMs = 100;
// What was held up just now will be so again: less than the sum of many short stalls would be seen otherwise.
const alertMs = 2_000;
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
  const observed = { closely: 0, loosely: 0, 'in passing': 0 };
  let dueAt = 0;
  let timer: Disposable | null = null;
  let worstMs = 0;
  let heldUpMs = 0;
  let heldUpUntil = Number.NEGATIVE_INFINITY;

  const isTiming = () => observed.closely + observed.loosely > 0;

  function wait(): void {
    const now = clock.elapsed();
    const isClose = observed.closely > 0 || now - heldUpUntil < alertMs;
    const ms = isClose ? closeMs : looseMs;
    dueAt = now + ms;
    timer = clock.after(ms, () => {
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
      ...(clock.busyMs !== undefined && { busyMs: clock.busyMs }),
      heldUpMs() {
        look();
        return heldUpMs;
      },
    },
    observe(how) {
      look();
      observed[how] += 1;
      const start = clock.elapsed();
      if (how === 'closely' && dueAt > start + closeMs) rest();
      if (how !== 'in passing' && timer === null) wait();
      return {
        withLag(outcome) {
          look();
          const ms = longestSince(start);
          if (ms === 0) return outcome;
          return { ...outcome, facts: { ...outcome.facts, node_lag: Math.round(ms * 1e3) / 1e6 } };
        },
        [Symbol.dispose]() {
          observed[how] -= 1;
          if (!isTiming()) rest();
        },
      };
    },
    get isTiming() {
      return isTiming();
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
