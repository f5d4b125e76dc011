import type { Clock } from '#kernel/clock.ts';

/** Which share of the healthy results of nodes this process can take. */
export interface Grant {
  /** From 1/16 to 1: less while results wait for long to be read. */
  share(): number;
  /** Whether the share was less than 1 within the last two minutes. */
  isRecent(): boolean;
}

const lookEveryMs = 1_000;
const longestWaitMs = 1_000;
const least = 1 / 16;
// Additive increase, multiplicative decrease, as TCP does it (RFC 5681, section 3.1).
const increase = 0.02;
const decrease = 0.9;
const recentMs = 120_000;

/** `waitedMs` is how long the oldest live result has waited to be read. */
export function createGrant(clock: Clock, waitedMs: () => number): Grant {
  let share = 1;
  let lookedAt = clock.elapsed();
  let waitedBefore = 0;
  let limitedAt = Number.NEGATIVE_INFINITY;
  return {
    share() {
      const now = clock.elapsed();
      if (now - lookedAt < lookEveryMs) return share;
      const looks = Math.floor((now - lookedAt) / lookEveryMs);
      lookedAt = now;
      const waited = waitedMs();
      // What is less already needs seconds to show: nodes hear of it late, and gather what they send.
      const isGrowing = waited >= waitedBefore;
      if (waited <= longestWaitMs) share = Math.min(1, share + increase * looks);
      else if (isGrowing) share = Math.max(least, share * decrease);
      waitedBefore = waited;
      if (share < 1) limitedAt = now;
      return share;
    },
    isRecent: () => clock.elapsed() - limitedAt < recentMs,
  };
}
