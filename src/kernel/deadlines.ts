import { type Clock, type Deadline, DeadlineError } from './clock.ts';
import { type SequenceEntry, Sequence } from './sequence.ts';

/** Deadlines for what others have to answer in time. */
export interface Deadlines {
  /**
   * A signal that aborts with a `DeadlineError` after `ms`, or with the outer signal's reason. If this thread itself was held up
   * when the time was over, it goes on for as long as that, so that what has arrived is read first. Dispose it when done.
   */
  begin(ms: number, outer: AbortSignal): Deadline;
}

const heldUpMs = 50;
const longestGraceMs = 5_000;

/**
 * Those under one outer signal share one listener on it, and those of one length one timer: a thousand that run together cost
 * little more than their own signals. (A listener for each would cost more with each, as one that goes is looked for among all.)
 */
export function createDeadlines(clock: Clock): Deadlines {
  const groups = new Map<AbortSignal, DeadlineGroup>();
  return {
    begin(ms, outer) {
      let group = groups.get(outer);
      if (group === undefined) {
        group = new DeadlineGroup(clock, outer, () => groups.delete(outer));
        groups.set(outer, group);
      }
      return group.begin(ms);
    },
  };
}

class DeadlineGroup {
  readonly #clock: Clock;
  readonly #outer: AbortSignal;
  readonly #onEmpty: () => void;
  readonly #lines = new Map<number, DeadlineQueue>();
  readonly #onOuter = () => {
    for (const line of this.#lines.values()) line.abort(this.#outer.reason);
  };

  constructor(clock: Clock, outer: AbortSignal, onEmpty: () => void) {
    this.#clock = clock;
    this.#outer = outer;
    this.#onEmpty = onEmpty;
    outer.addEventListener('abort', this.#onOuter, { once: true });
  }

  begin(ms: number): Deadline {
    let line = this.#lines.get(ms);
    if (line === undefined) {
      line = new DeadlineQueue(this.#clock, ms, () => this.#forget(ms));
      this.#lines.set(ms, line);
    }
    const begun = line.begin();
    if (this.#outer.aborted) begun.abort(this.#outer.reason);
    return begun;
  }

  #forget(ms: number): void {
    this.#lines.delete(ms);
    if (this.#lines.size > 0) return;
    this.#outer.removeEventListener('abort', this.#onOuter);
    this.#onEmpty();
  }
}

/** Those of one length: they end in the order in which they began. */
class DeadlineQueue {
  readonly #clock: Clock;
  readonly #ms: number;
  readonly #onEmpty: () => void;
  readonly #running = new Sequence<SharedDeadline>();
  /** Those whose time is over. */
  readonly #over = new Sequence<SharedDeadline>();
  #timer: Disposable | null = null;

  constructor(clock: Clock, ms: number, onEmpty: () => void) {
    this.#clock = clock;
    this.#ms = ms;
    this.#onEmpty = onEmpty;
  }

  begin(): SharedDeadline {
    const one = new SharedDeadline(this.#clock.elapsed() + this.#ms, () => this.#end());
    one.place = this.#running.add(one);
    this.#timer ??= this.#clock.after(this.#ms, () => this.#look());
    return one;
  }

  abort(reason: unknown): void {
    for (const one of [...this.#running.items(), ...this.#over.items()]) one.abort(reason);
  }

  #end(): void {
    if (this.#running.size + this.#over.size > 0) return;
    this.#timer?.[Symbol.dispose]();
    this.#timer = null;
    this.#onEmpty();
  }

  #look(): void {
    this.#timer = null;
    const now = this.#clock.elapsed();
    for (let one = this.#running.first; one !== null; one = this.#running.first) {
      if (one.until > now) {
        this.#timer = this.#clock.after(one.until - now, () => this.#look());
        return;
      }
      this.#running.shift();
      one.place = this.#over.add(one);
      one.isOver(now - one.until, this.#clock, this.#ms);
    }
  }
}

class SharedDeadline implements Deadline {
  readonly until: number;
  /** Where it stands among the others; null once it is disposed. */
  place: SequenceEntry | null = null;
  readonly #onEnd: () => void;
  readonly #controller = new AbortController();
  #grace: Disposable | null = null;
  #own: DeadlineError | null = null;

  constructor(until: number, onEnd: () => void) {
    this.until = until;
    this.#onEnd = onEnd;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get expired(): boolean {
    return this.#own !== null && this.signal.reason === this.#own;
  }

  abort(reason: unknown): void {
    this.#controller.abort(reason);
  }

  isOver(lateMs: number, clock: Clock, ms: number): void {
    const expire = () => this.abort((this.#own = new DeadlineError(ms)));
    if (lateMs < heldUpMs) expire();
    else this.#grace = clock.after(Math.min(lateMs, longestGraceMs), expire);
  }

  [Symbol.dispose](): void {
    if (this.place === null) return;
    this.#grace?.[Symbol.dispose]();
    this.place.leave();
    this.place = null;
    this.#onEnd();
  }
}
