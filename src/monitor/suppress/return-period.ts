import { type ElapsedBetween, plainlyBetween } from '#kernel/clock-steps.ts';

/** The time in which what was away comes back: routes do one after the other. */
export interface ReturnPeriod {
  /** When it ends, in milliseconds since the epoch; 0 if there was none. */
  readonly endsAt: number;
  isOn(now: number): boolean;
  begin(now: number): void;
  /** One more target is back: the others are waited for, up to a limit. */
  goOn(now: number): void;
  /** The clock was set back to `now`. */
  setBack(now: number): void;
}

const usualMs = 15_000;
const longestMs = 60_000;

export function createReturnPeriod(elapsedBetween: ElapsedBetween = plainlyBetween): ReturnPeriod {
  let began = 0;
  let endsAt = 0;
  let lookedAt = 0;

  function isOn(now: number): boolean {
    const forwardMs = now - lookedAt - elapsedBetween(lookedAt, now);
    if (forwardMs > 0 && lookedAt < endsAt) {
      began += forwardMs;
      endsAt += forwardMs;
    }
    lookedAt = now;
    // What lies further ahead was before the clock was set back.
    return now < endsAt && endsAt - now <= usualMs;
  }

  return {
    get endsAt() {
      return endsAt;
    },
    isOn,
    begin(now) {
      if (!isOn(now)) began = now;
      endsAt = now + usualMs;
    },
    goOn(now) {
      if (isOn(now)) endsAt = Math.max(endsAt, Math.min(now + usualMs, began + longestMs));
    },
    setBack: (now) => void (endsAt = Math.min(endsAt, now)),
  };
}
