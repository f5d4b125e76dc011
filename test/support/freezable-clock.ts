import type { Clock } from '#kernel/clock.ts';

/** The clock of a process that can be stopped as by SIGSTOP: time goes on, its timers fire once it is continued. */
export class FreezableClock implements Clock {
  readonly #base: Clock;
  #waiting: (() => void)[] | null = null;

  constructor(base: Clock) {
    this.#base = base;
  }

  get isFrozen(): boolean {
    return this.#waiting !== null;
  }

  now(): number {
    return this.#base.now();
  }

  elapsed(): number {
    return this.#base.elapsed();
  }

  after(ms: number, action: () => void): Disposable {
    let isDisposed = false;
    const run = () => {
      if (!isDisposed) action();
    };
    const timer = this.#base.after(ms, () => this.whenAwake(run));
    return {
      [Symbol.dispose]() {
        isDisposed = true;
        timer[Symbol.dispose]();
      },
    };
  }

  /** Runs something now, or once the process is continued: what a socket has for it. */
  whenAwake(action: () => void): void {
    if (this.#waiting === null) action();
    else this.#waiting.push(action);
  }

  freeze(): void {
    this.#waiting ??= [];
  }

  thaw(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = null;
    for (const action of waiting) action();
  }

  /** What waits never happens: the process is gone. */
  drop(): void {
    this.#waiting = null;
  }
}
