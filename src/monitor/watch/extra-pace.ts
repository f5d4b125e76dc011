import type { Clock } from '#kernel/clock.ts';

/** Whether there is room for rounds besides the schedule. */
export interface ExtraPace {
  /** To be asked before each: whether it may begin now. */
  mayBegin(): boolean;
}

// Longer than a page or a collection of garbage holds up the reading of results.
const behindMs = 500;
const everyBehindMs = 250;
const restMs = 10_000;
const everyMs = 50;

/**
 * Rounds besides the schedule are a command to each node, which costs the hub more than a scheduled result. When thousands of targets
 * fail at once on a machine with little of a processor, they would keep it from the results that tell the same. So four a second
 * begin while results wait for half a second to be read, enough for outages of a few targets, and twenty a second within the ten
 * seconds after that. `waitedMs` is how long the oldest one has waited.
 */
export function createExtraPace(clock: Clock, waitedMs: () => number): ExtraPace {
  let behindAt = Number.NEGATIVE_INFINITY;
  let begunAt = Number.NEGATIVE_INFINITY;
  return {
    mayBegin() {
      const now = clock.elapsed();
      if (waitedMs() >= behindMs) behindAt = now;
      const gapMs = behindAt === now ? everyBehindMs : now - behindAt < restMs ? everyMs : 0;
      if (now - begunAt < gapMs) return false;
      begunAt = now;
      return true;
    },
  };
}
