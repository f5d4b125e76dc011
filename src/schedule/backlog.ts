import type { Clock } from '#kernel/clock.ts';
import type { LatenessLimit } from './wheel-entry.ts';

// If for so long there was always something due, more is due than can be started.
const overloadMs = 5_000;
// Of what begins later than this, the round may be over when it ends. Where there is just enough time for all, hardly anything does.
const mostLateMs = 4_000;
const tooLateMs = 6_000;
const mostPasses = 1_000;
// So long it takes until it is seen what came of another number.
const raiseMs = 1_000;
const lowerMs = 5_000;

/** Whether more is due than can be started, and what is passed over then. */
export class Backlog {
  readonly #clock: Clock;
  #since: number | null = null;
  #owedAfter = 1;
  #changedAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Something that is due has to wait. */
  wait(): void {
    this.#since ??= this.#clock.elapsed();
  }

  /** Nothing is due any more. */
  catchUp(): void {
    this.#since = null;
    this.#owedAfter = 1;
  }

  /** What is passed over; undefined if everything can be started. */
  get limit(): LatenessLimit | undefined {
    if (this.#since === null || this.#clock.elapsed() - this.#since < overloadMs) return undefined;
    return { mostLateMs, owedAfter: this.#owedAfter };
  }

  /** Something began so late, in milliseconds: if that is too late, items have their turns less often. */
  began(lateMs: number): void {
    const forMs = this.#clock.elapsed() - this.#changedAt;
    if (lateMs > tooLateMs && forMs >= raiseMs) this.#owe(this.#owedAfter + 1);
    else if (lateMs <= mostLateMs && forMs >= lowerMs && this.#owedAfter > 1) this.#owe(this.#owedAfter - 1);
  }

  #owe(after: number): void {
    if (this.limit === undefined) return;
    this.#owedAfter = Math.min(after, mostPasses);
    this.#changedAt = this.#clock.elapsed();
  }
}
