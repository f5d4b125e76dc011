import type { Clock } from './clock.ts';

const everyMs = 1_000;
// Node's timers come up to a millisecond too early by this clock.
const earlyMs = 5;

interface WaitingAction {
  readonly tick: number;
  readonly action: () => void;
}

const ticksOf = new WeakMap<Clock, Ticks>();

/**
 * Calls `action` once, at a whole second of the monotonic clock: the last one that is at most `ms` milliseconds away, or the next one.
 * All such calls on one clock share a timer, because waking up is most of what an idle program costs, and the threads of a process
 * come at the same moments. For periodic tasks that may run up to a second early; less than a second is waited as by `after`.
 */
export function onTick(clock: Clock, ms: number, action: () => void): Disposable {
  if (ms < everyMs) return clock.after(ms, action);
  let ticks = ticksOf.get(clock);
  if (ticks === undefined) ticksOf.set(clock, (ticks = new Ticks(clock)));
  return ticks.add(ms, action);
}

class Ticks {
  readonly #clock: Clock;
  readonly #waiting = new Set<WaitingAction>();
  #timer: { readonly tick: number; readonly handle: Disposable } | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(ms: number, action: () => void): Disposable {
    const one = { tick: this.#tickIn(ms), action };
    this.#waiting.add(one);
    this.#arm();
    return {
      [Symbol.dispose]: () => {
        if (this.#waiting.delete(one)) this.#arm();
      },
    };
  }

  #tickIn(ms: number): number {
    return Math.floor((this.#clock.elapsed() + earlyMs + ms) / everyMs);
  }

  #arm(): void {
    let first = Number.POSITIVE_INFINITY;
    for (const { tick } of this.#waiting) first = Math.min(first, tick);
    if (this.#timer?.tick === first) return;
    this.#timer?.handle[Symbol.dispose]();
    this.#timer = null;
    if (first === Number.POSITIVE_INFINITY) return;
    const leftMs = Math.max(0, first * everyMs - this.#clock.elapsed());
    this.#timer = { tick: first, handle: this.#clock.after(leftMs, () => this.#come()) };
  }

  #come(): void {
    this.#timer = null;
    const now = this.#tickIn(0);
    const due = [...this.#waiting].filter(({ tick }) => tick <= now);
    try {
      for (const one of due) if (this.#waiting.delete(one)) one.action();
    } finally {
      this.#arm();
    }
  }
}
