import { setImmediate as turn } from 'node:timers/promises';
import type { Clock } from '#kernel/clock.ts';

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly action: () => void;
}

/** A clock that stands still until it is told to advance; timers then fire in order, with promises settled in between. */
export class FakeClock implements Clock {
  #wall: number;
  #elapsed = 0;
  #order = 0;
  #timers: Timer[] = [];

  constructor(start = '2026-01-01T00:00:00Z') {
    this.#wall = Date.parse(start);
  }

  now(): number {
    return this.#wall;
  }

  elapsed(): number {
    return this.#elapsed;
  }

  after(ms: number, action: () => void): Disposable {
    const timer: Timer = { at: this.#elapsed + Math.max(ms, 0), order: this.#order++, action };
    this.#timers.push(timer);
    return {
      [Symbol.dispose]: () => {
        this.#timers = this.#timers.filter((other) => other !== timer);
      },
    };
  }

  /** How many timers are pending. */
  get pending(): number {
    return this.#timers.length;
  }

  /** Sets the wall clock by `ms` without any time passing, as an operator or NTP does. */
  step(ms: number): void {
    this.#wall += ms;
  }

  async advance(ms: number): Promise<void> {
    const end = this.#elapsed + ms;
    await settle();
    for (let timer = this.#next(end); timer !== undefined; timer = this.#next(end)) {
      this.#pass(timer.at);
      this.#timers = this.#timers.filter((other) => other !== timer);
      timer.action();
      await settle();
    }
    this.#pass(end);
    await settle();
  }

  #next(end: number): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.at > end) continue;
      if (next === undefined || timer.at < next.at || (timer.at === next.at && timer.order < next.order)) next = timer;
    }
    return next;
  }

  #pass(at: number): void {
    if (at <= this.#elapsed) return;
    this.#wall += at - this.#elapsed;
    this.#elapsed = at;
  }
}

async function settle(): Promise<void> {
  for (let round = 0; round < 3; round += 1) await turn();
}
