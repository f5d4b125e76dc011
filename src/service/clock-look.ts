import { type Clock, clockJitterMs } from '#kernel/clock.ts';
import { onTick } from '#kernel/ticks.ts';

/** What the clocks of this process say since they were looked at last. */
export interface ClockState {
  /** In milliseconds since the epoch. */
  readonly now: number;
  /** The wall clock was set back. */
  readonly isSetBack: boolean;
  /** The wall clock was set forward, by more than this process may stand still unnoticed: nothing was missed. */
  readonly isSetForward: boolean;
  /** This process saw nothing for seconds. */
  readonly wasAway: boolean;
  /** It had too much to do for the processor that it was given: it did not stand still, and the machine did not sleep. */
  readonly wasBusy: boolean;
  /** The look itself came late: this thread was held up until now. */
  readonly isLate: boolean;
}

/** What else tells how the time passed; in milliseconds. */
export interface TimeSources {
  /** For how long the thread has computed. Default: unknown. */
  readonly busyMs?: (() => number) | undefined;
  /** For how long the machine has been up, its sleep included. Default: unknown, and a clock that is set forward is taken for sleep. */
  readonly upMs?: (() => number) | undefined;
}

// If this process saw nothing for longer, no vote could come meanwhile.
const heldUpMs = 5_000;
// Nodes know the time of this process better than that.
const aheadMs = 5_000;
// A process that was stopped did something before and after it.
const busyShare = 0.05;

/** Looks at the clocks of this process, every `everyMs`. */
export class ClockLook {
  readonly #clock: Clock;
  readonly #everyMs: number;
  readonly #sources: TimeSources;
  #lookedAt: { readonly now: number; readonly up: number; readonly elapsed: number; readonly busy: number };
  #setBacks = 0;
  #wasLate = false;

  constructor(clock: Clock, everyMs: number, sources: TimeSources = {}) {
    this.#clock = clock;
    this.#everyMs = everyMs;
    this.#sources = sources;
    this.#lookedAt = this.#read();
  }

  /** How often the wall clock was set back. */
  get setBacks(): number {
    return this.#setBacks;
  }

  /** Whether a due time is of the time before the wall clock was set back: nothing is due so much later than now. */
  isAhead(dueAt: number): boolean {
    return this.#setBacks > 0 && dueAt > this.#clock.now() + aheadMs;
  }

  /** Whether by the wall clock the last look was so long before `now`, in milliseconds since the epoch, that it has to be looked again. */
  isOverdue(now: number): boolean {
    return this.#isLong(now - this.#lookedAt.now);
  }

  look(): ClockState {
    const before = this.#lookedAt;
    const { now, up, elapsed, busy } = this.#read();
    this.#lookedAt = { now, up, elapsed, busy };
    const passedMs = elapsed - before.elapsed;
    const isSetBack = now < before.now - clockJitterMs;
    if (isSetBack) this.#setBacks += 1;
    this.#wasLate = passedMs > 1.1 * this.#everyMs;
    return {
      now,
      isSetBack,
      isSetForward: now - before.now - (up - before.up) > heldUpMs,
      wasAway: this.#isLong(up - before.up),
      wasBusy: busy - before.busy > busyShare * passedMs,
      isLate: this.#wasLate,
    };
  }

  /**
   * Calls `action` once, after `ms` or at the tick before (`onTick`); if the last look came late, not before `ms` are over: a tick could
   * come before what has arrived meanwhile is read.
   */
  next(ms: number, action: () => void): Disposable {
    return this.#wasLate ? this.#clock.after(ms, action) : onTick(this.#clock, ms, action);
  }

  #isLong(ms: number): boolean {
    return ms > heldUpMs + this.#everyMs;
  }

  #read() {
    const now = this.#clock.now();
    const { upMs, busyMs } = this.#sources;
    return { now, up: upMs?.() ?? now, elapsed: this.#clock.elapsed(), busy: busyMs?.() ?? 0 };
  }
}
