import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setImmediate as turn } from 'node:timers/promises';
import type { Clock } from '#kernel/clock.ts';
import type { Outcome } from '#checks/index.ts';

/** How late this thread's event loop comes to things. It is found out by the runtime's own sampler, not by timers of ours. */
export interface LagWatch extends Disposable {
  /** The outcome of `probe`; where the loop was held up meanwhile, with the fact `node_lag`: for how long at the worst. */
  observe(probe: () => Promise<Outcome>): Promise<Outcome>;
  /** The worst since this was asked last, in seconds. */
  worst(): number;
}

// How often the sampler looks: what is found is short of the truth by up to so much.
const resolutionMs = 20;
// What is shorter happens all the time, and hardly shows in any figure.
const worthTellingMs = 5;
const keptStalls = 100;

interface Stall {
  readonly noticedAt: number;
  readonly ms: number;
}

export function watchLag(clock: Clock): LagWatch {
  const sampler = monitorEventLoopDelay({ resolution: resolutionMs });
  sampler.enable();
  const stalls: Stall[] = [];
  let worstMs = 0;

  // The sampler keeps the longest delay only, so it is emptied as soon as there is one worth telling.
  function look(): void {
    const ms = sampler.max / 1e6 - resolutionMs;
    worstMs = Math.max(worstMs, ms);
    if (ms < worthTellingMs) return;
    sampler.reset();
    stalls.push({ noticedAt: clock.elapsed(), ms });
    if (stalls.length > keptStalls) stalls.shift();
  }

  function longestSince(moment: number): number {
    let longest = 0;
    for (const { noticedAt, ms } of stalls) if (noticedAt >= moment) longest = Math.max(longest, ms);
    return longest;
  }

  return {
    async observe(probe) {
      look();
      const start = clock.elapsed();
      const outcome = await probe();
      // The sampler has its turn before the second of these: it knows by then what held up the outcome.
      await turn();
      await turn();
      look();
      const ms = longestSince(start);
      return ms === 0 ? outcome : { ...outcome, facts: { ...outcome.facts, node_lag: Math.round(ms * 1e3) / 1e6 } };
    },
    worst() {
      look();
      const seconds = worstMs / 1e3;
      worstMs = 0;
      sampler.reset();
      return seconds;
    },
    [Symbol.dispose]: () => void sampler.disable(),
  };
}
