import { setImmediate as turn } from 'node:timers/promises';
import type { Clock } from '#kernel/clock.ts';

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly action: () => void;
  /** Fired or disposed: it stays in the heap until it comes up. */
  done: boolean;
}

/** A clock that stands still until it is told to advance; timers then fire in order, with promises settled in between. */
export class FakeClock implements Clock {
  #wall: number;
  #elapsed = 0;
  #order = 0;
  #pending = 0;
  // A binary heap, the earliest first: scenarios of a day with hundreds of targets set a hundred thousand timers.
  readonly #heap: Timer[] = [];

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
    const timer: Timer = { at: this.#elapsed + Math.max(ms, 0), order: this.#order++, action, done: false };
    this.#push(timer);
    this.#pending += 1;
    return { [Symbol.dispose]: () => this.#finish(timer) };
  }

  /** How many timers are pending. */
  get pending(): number {
    return this.#pending;
  }

  /** Sets the wall clock by `ms` without any time passing, as an operator or NTP does. */
  step(ms: number): void {
    this.#wall += ms;
  }

  /** Time passes and no timer fires: the process is held up. What is due by then fires with the next `advance`. */
  hold(ms: number): void {
    this.#pass(this.#elapsed + ms);
  }

  async advance(ms: number): Promise<void> {
    const end = this.#elapsed + ms;
    await settle();
    for (let timer = this.#next(end); timer !== undefined; timer = this.#next(end)) {
      this.#pass(timer.at);
      this.#finish(timer);
      timer.action();
      await settle();
    }
    this.#pass(end);
    await settle();
  }

  #finish(timer: Timer): void {
    if (timer.done) return;
    timer.done = true;
    this.#pending -= 1;
  }

  #next(end: number): Timer | undefined {
    while (this.#heap[0]?.done === true) this.#pop();
    const first = this.#heap[0];
    return first !== undefined && first.at <= end ? first : undefined;
  }

  #push(timer: Timer): void {
    const heap = this.#heap;
    let index = heap.length;
    heap.push(timer);
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!isBefore(timer, heap[parent]!)) break;
      heap[index] = heap[parent]!;
      index = parent;
    }
    heap[index] = timer;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let index = 0;
    for (let child = 1; child < heap.length; child = 2 * index + 1) {
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child += 1;
      if (!isBefore(heap[child]!, last)) break;
      heap[index] = heap[child]!;
      index = child;
    }
    heap[index] = last;
  }

  #pass(at: number): void {
    if (at <= this.#elapsed) return;
    this.#wall += at - this.#elapsed;
    this.#elapsed = at;
  }
}

const longEnoughMs = 600_000;

/**
 * Waits for what real sockets bring, while no time passes unless somebody advances the clock, or until something is so: then
 * all the time passes that anything could wait for.
 */
export async function withoutTime<Result>(
  clock: FakeClock,
  running: Promise<Result>,
  overOnce: () => boolean = () => false,
): Promise<Result> {
  const state = { isOver: false };
  const end = () => (state.isOver = true);
  running.then(end, end);
  while (!state.isOver) await clock.advance(overOnce() ? longEnoughMs : 0);
  return running;
}

function isBefore(a: Timer, b: Timer): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

async function settle(): Promise<void> {
  for (let round = 0; round < 3; round += 1) await turn();
}
