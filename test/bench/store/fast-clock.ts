import type { Clock } from '#kernel/clock.ts';
import { start } from '../../support/store.ts';

/** Time that passes only when it is told to, without turns of the event loop, so that they are not measured. */
export class FastClock implements Clock {
  #now: number;
  #timers: { readonly at: number; readonly action: () => void }[] = [];

  constructor(now = start) {
    this.#now = now;
  }

  now = () => this.#now;
  elapsed = () => this.#now - start;

  after(ms: number, action: () => void): Disposable {
    const timer = { at: this.#now + ms, action };
    this.#timers.push(timer);
    return { [Symbol.dispose]: () => void (this.#timers = this.#timers.filter((other) => other !== timer)) };
  }

  advanceTo(now: number): void {
    const due = this.#timers.filter((timer) => timer.at <= now);
    this.#timers = this.#timers.filter((timer) => timer.at > now);
    for (const timer of due) {
      this.#now = Math.max(this.#now, timer.at);
      timer.action();
    }
    this.#now = now;
  }
}
