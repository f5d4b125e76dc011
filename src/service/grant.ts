import type { Clock } from '#kernel/clock.ts';

/** What nodes that go by the grant have sent since the start, in healthy results, and what of it was read. */
export interface GrantedIntake {
  readonly came: number;
  readonly read: number;
  /** How long the oldest live result has waited to be read, in milliseconds. */
  readonly waitedMs: number;
}

/** Which share of the healthy results of nodes this process can take. */
export interface Grant {
  /** From 1/16 to 1: less while results wait for long to be read. */
  share(): number;
  /** Nodes left out so many results because of it. */
  leftOut(results: number): void;
  /** Whether the share was less than 1 within the last two minutes. */
  isRecent(): boolean;
}

/** What the counts were at a moment. */
interface IntakeLook extends Pick<GrantedIntake, 'came' | 'read'> {
  readonly at: number;
  /** What came, and what nodes left out. */
  readonly offered: number;
}

const lookEveryMs = 1_000;
const longestWaitMs = 1_000;
const least = 1 / 16;
// In a second: a tenth more, and where that is little or much, so much.
const leastIncrease = 0.01;
const mostIncrease = 0.04;
// So that what waits becomes less.
const ofCapacity = 0.9;
// A full collection of garbage, or a long page, comes every few seconds.
const measuredMs = 8_000;
const recentMs = 120_000;

/**
 * If results wait for more than a second and less was read than came, the share is what was read of all that nodes had to send within
 * the last eight seconds, but not less than half of what it was. Nodes hear of a share seconds later, and gather what they send: to cut
 * by what waits would cut again and again before the first cut shows. While nothing waits the share grows by a tenth each second, so
 * that it is soon as large as before, but not by more than nodes hear of in time.
 */
export function createGrant(clock: Clock, intake: () => GrantedIntake): Grant {
  let share = 1;
  let leftOut = 0;
  let limitedAt = Number.NEGATIVE_INFINITY;
  const looks: IntakeLook[] = [{ at: clock.elapsed(), came: 0, read: 0, offered: 0 }];
  let lookedAt = clock.elapsed();

  function look(now: number): void {
    const { came, read, waitedMs } = intake();
    const seconds = Math.floor((now - lookedAt) / lookEveryMs);
    lookedAt = now;
    looks.push({ at: now, came, read, offered: came + leftOut });
    // At least one that is old enough stays.
    while (looks.length > 2 && (looks[1]?.at ?? now) <= now - measuredMs) looks.shift();
    const increase = Math.min(Math.max(share / 10, leastIncrease), mostIncrease);
    if (waitedMs <= longestWaitMs) share = Math.min(1, share + increase * seconds);
    else share = Math.max(least, share / 2, Math.min(share, ofCapacity * capacity()));
    if (share < 1) limitedAt = now;
  }

  // Which share of what nodes have to send can be read: not known, and enough, as long as all that comes is read.
  function capacity(): number {
    const [first, last] = [looks[0], looks.at(-1)];
    if (first === undefined || last === undefined) return Infinity;
    const read = last.read - first.read;
    return read >= last.came - first.came ? Infinity : read / (last.offered - first.offered);
  }

  return {
    share() {
      const now = clock.elapsed();
      if (now - lookedAt >= lookEveryMs) look(now);
      return share;
    },
    leftOut: (results) => void (leftOut += results),
    isRecent: () => clock.elapsed() - limitedAt < recentMs,
  };
}
