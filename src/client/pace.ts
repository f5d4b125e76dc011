import { type Clock, sleep } from '#kernel/clock.ts';
import { formatDuration } from '#kernel/units.ts';

/** So many in any time of this length. */
export interface PaceBudget {
  readonly count: number;
  readonly perMs: number;
}

export interface PaceOptions {
  readonly budget: PaceBudget;
  readonly clock: Clock;
}

/** Keeps our starts below what the other side takes. */
export interface RequestPace {
  /**
   * Resolves to null once this target may be checked, or to the reason why it may not be soon. Who was refused comes first
   * the next time, so that too small a budget goes round.
   */
  admit(target: string, signal: AbortSignal): Promise<string | null>;
  /** Admits no request for so long. */
  pause(ms: number): void;
}

const patienceMs = 20_000;
const forgetMs = 300_000;
const pausedReason = 'the check service wants to be left alone for a while';

export function createPace({ budget, clock }: PaceOptions): RequestPace {
  // When the last were or will be admitted, on the monotonic clock, in order: never more than the budget.
  const admissions: number[] = [];
  // Who was refused, the longest ago first, and when it last asked: a part of the budget is kept for each.
  const owed = new Map<string, number>();
  let pausedUntil = 0;

  function isReserved(target: string, now: number): boolean {
    for (const [other, since] of owed) if (since < now - forgetMs) owed.delete(other);
    const first = [...owed.keys()].indexOf(target);
    const before = first === -1 ? owed.size : first;
    const taken = admissions.filter((at) => at > now - budget.perMs).length;
    return before > 0 && taken + before >= budget.count;
  }

  function take(target: string, now: number): number | null {
    const free = admissions.length < budget.count ? now : (admissions[0] ?? now) + budget.perMs;
    const at = Math.max(now, free, admissions.at(-1) ?? now, pausedUntil);
    if (at - now > patienceMs || isReserved(target, now)) {
      owed.set(target, now);
      return null;
    }
    owed.delete(target);
    admissions.push(at);
    if (admissions.length > budget.count) admissions.shift();
    return at;
  }

  return {
    async admit(target, signal) {
      const now = clock.elapsed();
      if (pausedUntil - now > patienceMs) return pausedReason;
      const at = take(target, now);
      if (at === null) return `the budget of ${budget.count} checks in ${formatDuration(budget.perMs)} is used up`;
      if (at > now) await sleep(clock, at - now, signal);
      return pausedUntil > clock.elapsed() ? pausedReason : null;
    },
    pause(ms) {
      pausedUntil = Math.max(pausedUntil, clock.elapsed() + ms);
    },
  };
}
