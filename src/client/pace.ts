import { type Clock, sleep } from '#kernel/clock.ts';

export interface PaceOptions {
  /** Starts in any 60 seconds. */
  readonly perMinute: number;
  readonly clock: Clock;
}

/** Keeps our starts below what the other side takes. */
export interface Pace {
  /**
   * Resolves to null when it is this target's turn, or to the reason why there is none soon. Who was refused last time may
   * wait longer the next time, so that too small a budget goes round.
   */
  turn(target: string, signal: AbortSignal): Promise<string | null>;
  /** No turns for so long. */
  pause(ms: number): void;
}

const windowMs = 60_000;
const patienceMs = 20_000;

export function createPace({ perMinute, clock }: PaceOptions): Pace {
  // When the last turns are or will be, on the monotonic clock, in order; never more than a minute may hold.
  const turns: number[] = [];
  const refused = new Set<string>();
  let pausedUntil = 0;

  const refuse = (target: string, reason: string) => {
    refused.add(target);
    return reason;
  };
  return {
    async turn(target, signal) {
      const now = clock.elapsed();
      const free = turns.length < perMinute ? now : (turns[0] ?? now) + windowMs;
      const at = Math.max(now, free, turns.at(-1) ?? now);
      const patience = refused.has(target) ? patienceMs : patienceMs / 2;
      if (pausedUntil - now > 0) return refuse(target, 'the check service wants to be left alone for a while');
      if (at - now > patience) return refuse(target, `the budget of ${perMinute} checks a minute is used up`);
      turns.push(at);
      if (turns.length > perMinute) turns.shift();
      refused.delete(target);
      if (at > now) await sleep(clock, at - now, signal);
      if (pausedUntil > clock.elapsed()) return refuse(target, 'the check service wants to be left alone for a while');
      return null;
    },
    pause(ms) {
      pausedUntil = Math.max(pausedUntil, clock.elapsed() + ms);
    },
  };
}
