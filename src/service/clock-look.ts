import { type Clock, clockJitterMs } from '#kernel/clock.ts';

/** What the clocks of this process say since they were looked at last. */
export interface ClockState {
  /** In milliseconds since the epoch. */
  readonly now: number;
  /** The wall clock was set back. */
  readonly isSetBack: boolean;
  /** This process stood still, or the machine slept. */
  readonly wasAway: boolean;
  /** The look itself came late: this thread was held up until now. */
  readonly isLate: boolean;
}

// If this process saw nothing for longer, no vote could come meanwhile.
const heldUpMs = 5_000;

/** Looks at the clocks of this process, every `everyMs`. */
export class ClockLook {
  readonly #clock: Clock;
  readonly #everyMs: number;
  #lookedAt: { readonly now: number; readonly elapsed: number };
  #setBacks = 0;

  constructor(clock: Clock, everyMs: number) {
    this.#clock = clock;
    this.#everyMs = everyMs;
    this.#lookedAt = { now: clock.now(), elapsed: clock.elapsed() };
  }

  /** How often the wall clock was set back. */
  get setBacks(): number {
    return this.#setBacks;
  }

  /** Whether this process stood still from the last look until `now`, in milliseconds since the epoch. */
  wasAway(now: number): boolean {
    return now - this.#lookedAt.now > heldUpMs + this.#everyMs;
  }

  look(): ClockState {
    const before = this.#lookedAt;
    const { now, elapsed } = { now: this.#clock.now(), elapsed: this.#clock.elapsed() };
    const isSetBack = now < before.now - clockJitterMs;
    const wasAway = this.wasAway(now);
    this.#lookedAt = { now, elapsed };
    if (isSetBack) this.#setBacks += 1;
    return { now, isSetBack, wasAway, isLate: elapsed - before.elapsed > 1.1 * this.#everyMs };
  }
}
