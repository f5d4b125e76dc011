import { type Clock, clockJitterMs } from '#kernel/clock.ts';
import { Backlog } from './backlog.ts';
import { createNextDue, type Schedule } from './schedule.ts';
import { WheelEntry } from './wheel-entry.ts';

/** Something that is due again and again. */
export interface RecurringItem {
  readonly name: string;
  readonly schedule: Schedule;
}

/** Due times that went by unused. */
export interface PassedDues {
  readonly from: number;
  readonly until: number;
  /** Whether more is due than can be started, and not for a moment only. */
  readonly isOverload: boolean;
}

export interface WheelOptions<Item> {
  readonly clock: Clock;
  /** How far the wall clock of this machine is ahead of the one that schedules go by, in milliseconds. Default: not at all. */
  readonly aheadMs?: () => number;
  /** Called when an item is due; with the name of the item, `dueAt` names what is done then. */
  readonly start: (item: Item, dueAt: number) => void;
  /** Called with how many due times of an item went by unused; many are estimated. */
  readonly skipped: (item: Item, count: number, dues: PassedDues) => void;
}

/** Keeps the time of many items with one timer. */
export interface Wheel<Item> extends Disposable {
  /** From now on this item is due by its schedule, in place of the one of its name; what is due already stays so. */
  add(item: Item): void;
  remove(name: string): void;
  has(name: string): boolean;
  /**
   * The clock that schedules go by was corrected: due times are named by it from now on, as everywhere else.
   */
  retime(): void;
}

// A burst must not blur what it measures: the next ones start once those have had the thread to themselves.
const mostAtOnce = 8;
const pauseMs = 1;
// More are due than that lets through: to be late is worse then.
const behindMs = 20;
const mostWhenBehind = 32;
// Those that are passed over take little time, but are many after a machine slept.
const mostPassedAtOnce = 500;
// The wall clock is read so often, whatever is due.
const longestNapMs = 60_000;

/**
 * Starts each item when it is due, at most eight in one go, or more if it is behind. A due time that cannot be kept until the
 * next one of its item, for the thread was held up or the machine asleep, is counted and never made up for. Where that happens to an
 * item twice in a row, more is due than can be started: its latest due time is kept then, late, so that each item has its turn.
 *
 * After five seconds in which there was always something due, due times are passed over that are later than four seconds, and an item has
 * its turn after as many of them as it takes for the others to begin in time.
 *
 * If the wall clock was set back, the same due times come again a millisecond later, so that no two are alike, until it is past what had
 * come: from then on they are again as everywhere else.
 */
export function createWheel<Item extends RecurringItem>(options: WheelOptions<Item>): Wheel<Item> {
  const { clock, aheadMs = () => 0, start, skipped } = options;
  const entries = new Map<string, WheelEntry<Item>>();
  const heap = createHeap<WheelEntry<Item>>(({ startAt }) => startAt);
  const timer = createTimer(clock, turn);
  const backlog = new Backlog(clock);
  let seen = now();

  function now(): number {
    return clock.now() - aheadMs();
  }

  function armForFirst(): void {
    const first = heap.first();
    if (first !== undefined) timer.arm(Math.min(Math.max(0, first.startAt - now()), longestNapMs));
  }

  function turn(): void {
    lookAtClock();
    let [started, passed] = [0, 0];
    for (let entry = heap.first(); entry !== undefined && isDue(entry); entry = heap.first()) {
      if (!entry.isGone && (started >= mostFor(entry) || passed >= mostPassedAtOnce)) {
        backlog.wait();
        return timer.arm(pauseMs);
      }
      heap.pop();
      if (entry.isGone) continue;
      if (take(entry)) started += 1;
      else passed += 1;
    }
    backlog.catchUp();
    armForFirst();
  }

  const mostFor = ({ startAt }: WheelEntry<Item>) => (now() - startAt < behindMs ? mostAtOnce : mostWhenBehind);
  const isDue = ({ startAt, isGone }: WheelEntry<Item>) => isGone || startAt <= now();

  // Whether it was started.
  function take(entry: WheelEntry<Item>): boolean {
    const [moment, from, limit] = [now(), entry.startAt, backlog.limit];
    const { kept, passed, passedUntil: until, following } = entry.take(moment, limit);
    if (passed > 0) skipped(entry.item, passed, { from, until, isOverload: limit !== undefined });
    if (kept !== null) {
      backlog.began(moment - kept);
      start(entry.item, kept);
    }
    if (!entry.isGone) place(entry, following);
    return kept !== null;
  }

  function place(entry: WheelEntry<Item>, due: number | null): void {
    if (due === null) return void entries.delete(entry.item.name);
    entry.dueNext(due);
    heap.push(entry);
  }

  function lookAtClock(): void {
    const before = seen;
    seen = now();
    if (seen >= before - clockJitterMs) return;
    placeAll((entry, due) => entry.setBack(due));
  }

  function placeAll(change: (entry: WheelEntry<Item>, due: number | null) => void): void {
    heap.clear();
    for (const entry of entries.values()) {
      const due = entry.next(seen);
      change(entry, due);
      place(entry, due);
    }
  }

  function remove(name: string): void {
    const entry = entries.get(name);
    if (entry === undefined) return;
    entry.isGone = true;
    entries.delete(name);
    if (entries.size === 0) {
      heap.clear();
      timer.rest();
    }
  }

  return {
    add(item) {
      const before = entries.get(item.name);
      remove(item.name);
      const next = createNextDue(item.schedule, item.name);
      const due = before !== undefined && before.due <= now() ? before.due : next(now());
      if (due === null) return;
      const entry = before?.exchanged(item, next, due) ?? new WheelEntry(item, next, due);
      entries.set(item.name, entry);
      heap.push(entry);
      if (heap.first() === entry) armForFirst();
    },
    remove,
    has: (name) => entries.has(name),
    retime() {
      const before = seen;
      seen = now();
      if (seen < before - clockJitterMs) placeAll((entry) => entry.correct());
      timer.rest();
      armForFirst();
    },
    [Symbol.dispose]() {
      for (const name of entries.keys()) remove(name);
      timer.rest();
    },
  };
}

/** The earliest of the timers that were asked for. */
function createTimer(clock: Clock, action: () => void) {
  let timer: { readonly at: number; readonly handle: Disposable } | null = null;
  function rest(): void {
    timer?.handle[Symbol.dispose]();
    timer = null;
  }
  function fire(): void {
    timer = null;
    action();
  }
  return {
    arm(ms: number): void {
      const at = clock.elapsed() + ms;
      if (timer !== null && timer.at <= at) return;
      rest();
      timer = { at, handle: clock.after(ms, fire) };
    },
    rest,
  };
}

/** A binary heap: the entry of the smallest key is the first. */
function createHeap<Entry>(keyOf: (entry: Entry) => number) {
  const entries: Entry[] = [];
  const swap = (one: number, other: number) => {
    const kept = entries[one];
    if (kept === undefined || entries[other] === undefined) return;
    entries[one] = entries[other];
    entries[other] = kept;
  };
  const keyAt = (index: number) => (entries[index] === undefined ? Number.POSITIVE_INFINITY : keyOf(entries[index]));
  return {
    first: (): Entry | undefined => entries[0],
    clear: () => void entries.splice(0),
    push(entry: Entry): void {
      let index = entries.push(entry) - 1;
      for (let parent = (index - 1) >> 1; index > 0 && keyAt(index) < keyAt(parent); parent = (index - 1) >> 1) {
        swap(index, parent);
        index = parent;
      }
    },
    pop(): void {
      swap(0, entries.length - 1);
      entries.pop();
      for (let index = 0; ;) {
        const left = 2 * index + 1;
        const smaller = keyAt(left + 1) < keyAt(left) ? left + 1 : left;
        if (keyAt(smaller) >= keyAt(index)) return;
        swap(index, smaller);
        index = smaller;
      }
    },
  };
}
