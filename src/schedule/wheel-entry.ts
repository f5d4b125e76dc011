import { countDues, type NextDue } from './schedule.ts';

/** What becomes of a due time that has come. */
export interface TakenDue {
  /** The due time that is kept: that one or a later one; null if none is. */
  readonly kept: number | null;
  /** How many due times go by unused; many are estimated. */
  readonly passed: number;
  /** The last of them, which may be estimated too; the first is the one that has come. */
  readonly passedUntil: number;
  /** The next one; null if there is none. */
  readonly following: number | null;
}

/** Which due times are passed over although the next one of their item has not come yet: none without it. */
export interface LatenessLimit {
  /** Those that are later than this. */
  readonly mostLateMs: number;
  /** Unless so many of the item in a row were passed over before. */
  readonly owedAfter: number;
}

const noLimit: LatenessLimit = { mostLateMs: Number.POSITIVE_INFINITY, owedAfter: 1 };

// A machine that slept has passed over more.
const mostOwed = 10;

/** When one item is due, in milliseconds since the epoch by the clock that schedules go by. */
export class WheelEntry<Item> {
  readonly item: Item;
  readonly next: NextDue;
  due: number;
  isGone = false;
  /** The latest due time that has come, or null. */
  #last: number | null = null;
  /** How often the wall clock was set back behind what had come. */
  #setBacks = 0;
  /** The same until it is past what had come; then 0. */
  #repeats = 0;
  /** How often in a row nothing was kept. */
  #passes = 0;

  constructor(item: Item, next: NextDue, due: number) {
    this.item = item;
    this.next = next;
    this.due = due;
  }

  /** The item by another schedule, due then: what it is owed and what has come before stay so. */
  exchanged(item: Item, next: NextDue, due: number): WheelEntry<Item> {
    const entry = new WheelEntry(item, next, due);
    entry.#last = this.#last;
    entry.#setBacks = this.#setBacks;
    entry.#repeats = this.#repeats;
    entry.#passes = this.#passes;
    entry.dueNext(due);
    return entry;
  }

  /** When it is to be started: a millisecond after its due time for each time that this was repeated. */
  get startAt(): number {
    return this.due + this.#repeats;
  }

  /**
   * Takes the due time that has come: it is kept until the next one comes, if the limit allows it, and passed over after that. If as many
   * as the limit says were passed over before, the latest one is kept instead, if they are few. `kept` has its repeats.
   */
  take(now: number, { mostLateMs, owedAfter } = noLimit): TakenDue {
    const moment = now - this.#repeats;
    const isOwed = this.#passes >= owedAfter;
    const { kept, passed, passedUntil, following } = takeDue(this.next, this.due, moment, isOwed, mostLateMs);
    this.#passes = kept === null ? this.#passes + 1 : 0;
    const taken = kept ?? this.due;
    this.#last = Math.max(taken, this.#last ?? taken);
    const repeats = this.#repeats;
    return { kept: kept === null ? null : kept + repeats, passed, passedUntil: passedUntil + repeats, following };
  }

  dueNext(due: number): void {
    if (this.#last !== null && due > this.#last) this.#repeats = 0;
    this.due = due;
  }

  /** The wall clock was set back: the next due time has been before, or has not. */
  setBack(due: number | null): void {
    if (due !== null && this.#last !== null && due <= this.#last) this.#repeats = this.#setBacks += 1;
  }

  /** The clock was never set back: only what was known of it was wrong. */
  correct(): void {
    this.#last = null;
    this.#repeats = 0;
  }
}

function takeDue(next: NextDue, due: number, now: number, isOwed: boolean, mostLateMs: number): TakenDue {
  const following = next(due);
  if (following === null || following > now) {
    const isKept = isOwed || now - due <= mostLateMs;
    return { kept: isKept ? due : null, passed: isKept ? 0 : 1, passedUntil: due, following };
  }
  const latest = isOwed ? latestOf(next, following, now) : null;
  if (latest !== null) return latest;
  return { kept: null, passed: 1 + countDues(next, due, now), passedUntil: now, following: next(now) };
}

function latestOf(next: NextDue, first: number, now: number): TakenDue | null {
  let due = first;
  for (let passed = 1; passed < mostOwed; passed += 1) {
    const following = next(due);
    if (following === null || following > now) return { kept: due, passed, passedUntil: due - 1, following };
    due = following;
  }
  return null;
}
