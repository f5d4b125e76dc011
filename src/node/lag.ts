import type { Clock } from '#kernel/clock.ts';
import type { Outcome } from '#checks/index.ts';

/**
 * How late this thread's event loop comes to things, found out by a timer of its own while checks run. While none does nothing
 * wakes an idle process, and nobody is hurt by a loop that is late.
 */
export interface LagWatch extends Disposable {
  /** The outcome of `probe`; where the loop was held up meanwhile, with the fact `node_lag`: for how long at the worst. */
  observe(probe: () => Promise<Outcome>): Promise<Outcome>;
  /** The worst since this was asked last, in seconds. */
  worst(): number;
}

// How often the timer looks: what is found is short of the truth by up to so much.
const resolutionMs = 20;
// What is shorter happens all the time, and hardly shows in any figure.
const worthTellingMs = 5;
const keptStalls = 100;

interface Stall {
  readonly noticedAt: number;
  readonly ms: number;
}

export function watchLag(clock: Clock): LagWatch {
  const stalls: Stall[] = [];
  let observed = 0;
  let dueAt = 0;
  let timer: Disposable | null = null;
  let worstMs = 0;

  function wait(): void {
    dueAt = clock.elapsed() + resolutionMs;
    timer = clock.after(resolutionMs, () => {
      look();
      wait();
    });
  }

  // Also asked for between two firings: a timer that is overdue tells of the stall that has just ended.
  function look(): void {
    if (timer === null) return;
    const now = clock.elapsed();
    const ms = now - dueAt;
    if (ms < worthTellingMs) return;
    worstMs = Math.max(worstMs, ms);
    dueAt = now;
    stalls.push({ noticedAt: now, ms });
    if (stalls.length > keptStalls) stalls.shift();
  }

  function longestSince(moment: number): number {
    let longest = 0;
    for (const { noticedAt, ms } of stalls) if (noticedAt > moment) longest = Math.max(longest, ms);
    return longest;
  }

  function rest(): void {
    timer?.[Symbol.dispose]();
    timer = null;
  }

  return {
    async observe(probe) {
      look();
      if (timer === null) wait();
      observed += 1;
      const start = clock.elapsed();
      try {
        const outcome = await probe();
        look();
        const ms = longestSince(start);
        return ms === 0 ? outcome : { ...outcome, facts: { ...outcome.facts, node_lag: Math.round(ms * 1e3) / 1e6 } };
      } finally {
        observed -= 1;
        if (observed === 0) rest();
      }
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
