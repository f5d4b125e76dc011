import type { Clock } from '#kernel/clock.ts';

/** What nodes that go by the grant have sent since the start, in healthy results, and what of it was read. */
export interface GrantedIntake {
  readonly came: number;
  readonly read: number;
  /** What of it was skipped unread, because it had waited for too long or there was no room. */
  readonly skipped: number;
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

/** What happened from one look to the next. */
interface IntakeLook {
  readonly at: number;
  readonly seconds: number;
  readonly came: number;
  readonly read: number;
  /** What came, and what nodes left out. */
  readonly offered: number;
  /** Nothing waited in the end and nothing was skipped: more could have been read. */
  readonly isIdle: boolean;
}

const lookEveryMs = 1_000;
const briefWaitMs = 1_000;
// What waits for less is read after the moment in which a collection of garbage or a long page held up reading.
const longestWaitMs = 2_000;
const idleMs = 100;
const least = 1 / 16;
// In a second: a tenth more, and where that is little or much, so much.
const leastIncrease = 0.01;
const mostIncrease = 0.04;
// At the least so much of it is kept from one look to the next.
const leastKept = 0.75;
// A full collection of garbage comes that often to a hub that is short of processor time.
const measuredMs = 16_000;
const recentMs = 120_000;

/**
 * If results wait for more than two seconds, or some were skipped, at two looks in a row and less was read than came in between, the
 * share is what could be read of all that nodes had to send within the last sixteen seconds, but not less than three quarters of what
 * it was. What waits after a moment in which nothing was read is soon read, and after results were skipped nothing may wait. Nodes
 * hear of a share seconds later, and gather what they send: to cut by what waits would cut again and again before the first cut
 * shows. While nothing waits for more than a second the share grows by a tenth each second, so that it is soon as large as before, but
 * not by more than nodes hear of in time.
 */
export function createGrant(clock: Clock, intake: () => GrantedIntake): Grant {
  let share = 1;
  let leftOut = 0;
  let limitedAt = Number.NEGATIVE_INFINITY;
  let last = { at: clock.elapsed(), came: 0, read: 0, skipped: 0, leftOut: 0 };
  let looks: readonly IntakeLook[] = [];
  let hasWaited = false;

  function look(at: number): void {
    const { came, read, skipped, waitedMs } = intake();
    const hasSkipped = skipped > last.skipped;
    const now: IntakeLook = {
      at,
      seconds: (at - last.at) / 1_000,
      came: came - last.came,
      read: read - last.read,
      offered: came + leftOut - last.came - last.leftOut,
      isIdle: waitedMs <= idleMs && !hasSkipped,
    };
    last = { at, came, read, skipped, leftOut };
    looks = [...looks.filter((one) => at - one.at < measuredMs), now];
    const increase = Math.min(Math.max(share / 10, leastIncrease), mostIncrease);
    const waits = waitedMs > longestWaitMs || hasSkipped;
    if (waitedMs <= briefWaitMs && !hasSkipped) share = Math.min(1, share + increase * Math.floor(now.seconds));
    else if (waits && hasWaited && now.read < now.came)
      share = Math.max(least, share * leastKept, Math.min(share, readable(looks)));
    hasWaited = waits;
    if (share < 1) limitedAt = at;
  }

  return {
    share() {
      const now = clock.elapsed();
      if (now - last.at >= lookEveryMs) look(now);
      return share;
    },
    leftOut: (results) => void (leftOut += results),
    isRecent: () => clock.elapsed() - limitedAt < recentMs,
  };
}

// Which share of what nodes had to send could be read: while nothing waited as fast as at the best of times.
function readable(looks: readonly IntakeLook[]): number {
  const fastest = Math.max(...looks.map(({ read, seconds }) => read / seconds));
  let read = 0;
  let offered = 0;
  for (const one of looks) {
    read += one.isIdle ? Math.max(one.read, fastest * one.seconds) : one.read;
    offered += one.offered;
  }
  return offered === 0 ? 1 : read / offered;
}
