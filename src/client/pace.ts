import { type Clock, sleep } from '#kernel/clock.ts';

export interface PaceOptions {
  /** Starts in any 60 seconds. */
  readonly perMinute: number;
  readonly clock: Clock;
}

/** Keeps our starts below what the other side takes. */
export interface Pace {
  /**
   * Resolves to null when it is this target's turn, or to the reason why there is none soon. Who was refused comes first the
   * next time, so that too small a budget goes round.
   */
  turn(target: string, signal: AbortSignal): Promise<string | null>;
  /** No turns for so long. */
  pause(ms: number): void;
}

const windowMs = 60_000;
const patienceMs = 20_000;
const forgetMs = 300_000;
const pausedReason = 'the check service wants to be left alone for a while';

export function createPace({ perMinute, clock }: PaceOptions): Pace {
  // When the last turns are or will be, on the monotonic clock, in order: never more than the budget.
  const turns: number[] = [];
  // Who was refused, the longest ago first, and when it last asked: a part of the budget is kept for each.
  const owed = new Map<string, number>();
  let pausedUntil = 0;

  function isSpokenFor(target: string, now: number): boolean {
    for (const [other, since] of owed) if (since < now - forgetMs) owed.delete(other);
    const first = [...owed.keys()].indexOf(target);
    const before = first === -1 ? owed.size : first;
    const taken = turns.filter((at) => at > now - windowMs).length;
    return before > 0 && taken + before >= perMinute;
  }

  function take(target: string, now: number): number | null {
    const free = turns.length < perMinute ? now : (turns[0] ?? now) + windowMs;
    const at = Math.max(now, free, turns.at(-1) ?? now);
    if (at - now > patienceMs || isSpokenFor(target, now)) {
      owed.set(target, now);
      return null;
    }
    owed.delete(target);
    turns.push(at);
    if (turns.length > perMinute) turns.shift();
    return at;
  }

  return {
    async turn(target, signal) {
      const now = clock.elapsed();
      if (pausedUntil > now) return pausedReason;
      const at = take(target, now);
      if (at === null) return `the budget of ${perMinute} checks a minute is used up`;
      if (at > now) await sleep(clock, at - now, signal);
      return pausedUntil > clock.elapsed() ? pausedReason : null;
    },
    pause(ms) {
      pausedUntil = Math.max(pausedUntil, clock.elapsed() + ms);
    },
  };
}
