import { countDues, type NextDue } from './schedule.ts';

/** What becomes of a due time that has come. */
export interface TakenDue {
  /** The due time that is kept: that one or a later one; null if none is. */
  readonly kept: number | null;
  /** How many due times go by unused; many are estimated. */
  readonly passed: number;
  /** The next one; null if there is none. */
  readonly following: number | null;
}

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
  /** The due time before was passed over. */
  #isOwed = false;

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
    entry.#isOwed = this.#isOwed;
    entry.dueNext(due);
    return entry;
  }

  /** When it is to be started: a millisecond after its due time for each time that this was repeated. */
  get startAt(): number {
    return this.due + this.#repeats;
  }

  /**
   * Takes the due time that has come: it is kept until the next one comes, and passed over after that. If the one before was passed over,
   * the latest one is kept instead, if they are few. `kept` has its repeats.
   */
  take(now: number): TakenDue {
    const moment = now - this.#repeats;
    const { kept, passed, following } = takeDue(this.next, this.due, moment, this.#isOwed);
    this.#isOwed = kept === null;
    const taken = kept ?? this.due;
    this.#last = Math.max(taken, this.#last ?? taken);
    return { kept: kept === null ? null : kept + this.#repeats, passed, following };
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

function takeDue(next: NextDue, due: number, now: number, isOwed: boolean): TakenDue {
  const following = next(due);
  if (following === null || following > now) return { kept: due, passed: 0, following };
  const latest = isOwed ? latestOf(next, following, now) : null;
  return latest ?? { kept: null, passed: 1 + countDues(next, due, now), following: next(now) };
}

function latestOf(next: NextDue, first: number, now: number): TakenDue | null {
  let due = first;
  for (let passed = 1; passed < mostOwed; passed += 1) {
    const following = next(due);
    if (following === null || following > now) return { kept: due, passed, following };
    due = following;
  }
  return null;
}
