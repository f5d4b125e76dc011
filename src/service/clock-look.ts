import { type Clock, clockJitterMs } from '#kernel/clock.ts';

/** What the clocks of this process say since they were looked at last. */
export interface ClockState {
  /** In milliseconds since the epoch. */
  readonly now: number;
  /** The wall clock was set back. */
  readonly isSetBack: boolean;
  /** This process saw nothing for seconds. */
  readonly wasAway: boolean;
  /** It had too much to do for the processor that it was given: it did not stand still, and the machine did not sleep. */
  readonly wasBusy: boolean;
  /** The look itself came late: this thread was held up until now. */
  readonly isLate: boolean;
}

// If this process saw nothing for longer, no vote could come meanwhile.
const heldUpMs = 5_000;
// A process that was stopped did something before and after it.
const busyShare = 0.05;

/** Looks at the clocks of this process, every `everyMs`. `busyMs` is for how long its thread has computed, in milliseconds. */
export class ClockLook {
  readonly #clock: Clock;
  readonly #everyMs: number;
  readonly #busyMs: () => number;
  #lookedAt: { readonly now: number; readonly elapsed: number; readonly busy: number };
  #setBacks = 0;

  constructor(clock: Clock, everyMs: number, busyMs: () => number) {
    this.#clock = clock;
    this.#everyMs = everyMs;
    this.#busyMs = busyMs;
    this.#lookedAt = this.#read();
  }

  /** How often the wall clock was set back. */
  get setBacks(): number {
    return this.#setBacks;
  }

  /** Whether this process saw nothing from the last look until `now`, in milliseconds since the epoch. */
  wasAway(now: number): boolean {
    return now - this.#lookedAt.now > heldUpMs + this.#everyMs;
  }

  look(): ClockState {
    const before = this.#lookedAt;
    const { now, elapsed, busy } = this.#read();
    const isSetBack = now < before.now - clockJitterMs;
    const wasAway = this.wasAway(now);
    this.#lookedAt = { now, elapsed, busy };
    const passedMs = elapsed - before.elapsed;
    // The wall clock may have been set forward, or the machine have slept, beside a thread that had something to do.
    const leapMs = now - before.now - passedMs;
    const wasBusy = leapMs <= heldUpMs && busy - before.busy > busyShare * passedMs;
    if (isSetBack) this.#setBacks += 1;
    return { now, isSetBack, wasAway, wasBusy, isLate: passedMs > 1.1 * this.#everyMs };
  }

  #read() {
    return { now: this.#clock.now(), elapsed: this.#clock.elapsed(), busy: this.#busyMs() };
  }
}
