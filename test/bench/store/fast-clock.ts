import type { Clock } from '#kernel/clock.ts';
import { start } from '../../support/store.ts';

interface Timer {
  readonly at: number;
  readonly action: () => void;
  readonly what: string;
}

/** Time that passes only when it is told to, without turns of the event loop, so that they are not measured. */
export class FastClock implements Clock {
  #now: number;
  #timers: Timer[] = [];
  readonly #run: (action: () => void, what: string) => void;

  /** `run` runs what is due, and is told whose it is. */
  constructor(now = start, run: (action: () => void, what: string) => void = (action) => action()) {
    this.#now = now;
    this.#run = run;
  }

  now = () => this.#now;
  elapsed = () => this.#now - start;
  after = (ms: number, action: () => void) => this.#after(ms, action, 'rounds');

  /** The same time, for others. */
  of(what: string): Clock {
    return { now: this.now, elapsed: this.elapsed, after: (ms, action) => this.#after(ms, action, what) };
  }

  advanceTo(now: number): void {
    const due = this.#timers.filter((timer) => timer.at <= now);
    if (due.length > 0) this.#timers = this.#timers.filter((timer) => timer.at > now);
    for (const { at, action, what } of due) {
      this.#now = Math.max(this.#now, at);
      this.#run(action, what);
    }
    this.#now = now;
  }

  #after(ms: number, action: () => void, what: string): Disposable {
    const timer = { at: this.#now + ms, action, what };
    this.#timers.push(timer);
    return { [Symbol.dispose]: () => void (this.#timers = this.#timers.filter((other) => other !== timer)) };
  }
}
