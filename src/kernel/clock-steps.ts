import { type Clock, clockJitterMs } from './clock.ts';

/** How many milliseconds went by from one moment of wall time to another. */
export type ElapsedBetween = (from: number, to: number) => number;

/** The same as long as no clock is set. */
export const plainlyBetween: ElapsedBetween = (from, to) => to - from;

interface ClockStep {
  /** What the clock read when it was set forward, and by how many milliseconds. */
  readonly at: number;
  readonly byMs: number;
}

const mostSteps = 20;

/** What notices when the clock is set forward, which makes no time go by: a wait that began before goes on. */
export interface ClockSteps {
  /** Looks at the clock; to be called every few seconds. */
  look(): void;
  readonly between: ElapsedBetween;
}

export function createClockSteps(clock: Clock): ClockSteps {
  let steps: readonly ClockStep[] = [];
  let last = { now: clock.now(), elapsed: clock.elapsed() };

  function look(): void {
    const [now, elapsed] = [clock.now(), clock.elapsed()];
    const byMs = now - last.now - (elapsed - last.elapsed);
    last = { now, elapsed };
    if (byMs > clockJitterMs) steps = [...steps, { at: now - byMs, byMs }].slice(-mostSteps);
    // What the clock reads then again is another moment.
    if (byMs < -clockJitterMs) steps = steps.filter(({ at }) => at <= now);
  }

  return {
    look,
    between(from, to) {
      look();
      let ms = to - from;
      for (const { at, byMs } of steps) if (from <= at && to > at) ms -= byMs;
      return ms;
    },
  };
}
