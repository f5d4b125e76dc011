import type { Clock } from '#kernel/clock.ts';
import type { Observation } from '#protocol/watching.ts';

/** What a node told of what it watches. */
export interface InboxBatch {
  readonly node: string;
  readonly sightings: readonly Observation[];
  /** To be called for each of them once it is stored, or is not wanted; null where nobody waits for that. */
  readonly confirm: (() => void) | null;
}

export interface InboxOptions {
  readonly clock: Clock;
  /** Reads the sightings of this part. `isBehind` says that they have waited for too long: more comes in than is read. */
  readonly read: (told: InboxBatch, from: number, to: number, isBehind: boolean) => void;
  /** There is no room for the rest of it, from this sighting on. */
  readonly giveUp: (told: InboxBatch, from: number) => void;
}

/** What came and was not read yet, in the order in which it came. Reading never holds up the thread for long. */
export interface Inbox extends Disposable {
  add(node: string, sightings: readonly Observation[], confirm: InboxBatch['confirm']): void;
  /** Nothing is read before this was called. */
  open(): void;
  /** All that came up to this moment is read, in milliseconds since the epoch. */
  readonly readUntil: number;
}

interface WaitingBatch {
  readonly told: InboxBatch;
  /** When it came: monotonic, and by the wall clock. */
  readonly came: number;
  readonly cameAt: number;
  next: number;
}

// So long one turn reads at the most, more or less.
const turnMs = 5;
const atOnce = 16;
const behindMs = 2_000;
// Some twenty megabytes.
const mostWaiting = 20_000;

export function createInbox({ clock, read, giveUp }: InboxOptions): Inbox {
  let waiting: WaitingBatch[] = [];
  let count = 0;
  let isOpen = false;
  let timer: Disposable | null = null;
  let reading: WaitingBatch | null = null;
  /** When the turn began that still reads what comes at once. */
  let turnBegan = Number.NEGATIVE_INFINITY;

  function readSome(one: WaitingBatch): void {
    const { told, came } = one;
    const from = one.next;
    one.next = Math.min(from + atOnce, told.sightings.length);
    count -= one.next - from;
    reading = one;
    read(told, from, one.next, clock.elapsed() - came > behindMs);
    reading = null;
  }

  function work(): void {
    timer = null;
    const now = clock.elapsed();
    // Messages that come one after the other share a turn.
    if (now - turnBegan > 2 * turnMs) turnBegan = now;
    let done = 0;
    for (const one of waiting) {
      if (!readAll(one)) {
        waiting = waiting.slice(done);
        return rest();
      }
      done += 1;
    }
    waiting = [];
  }

  // False where the turn is over before.
  function readAll(one: WaitingBatch): boolean {
    while (one.next < one.told.sightings.length) {
      if (clock.elapsed() - turnBegan >= turnMs) return false;
      readSome(one);
    }
    return true;
  }

  function rest(): void {
    timer = clock.after(0, () => {
      turnBegan = clock.elapsed();
      work();
    });
  }

  function makeRoom(): void {
    while (count > mostWaiting && waiting.length > 1) {
      const oldest = waiting.shift();
      if (oldest === undefined) return;
      count -= oldest.told.sightings.length - oldest.next;
      giveUp(oldest.told, oldest.next);
    }
  }

  return {
    add(node, sightings, confirm) {
      const told = { node, sightings, confirm };
      waiting.push({ told, came: clock.elapsed(), cameAt: clock.now(), next: 0 });
      count += sightings.length;
      if (isOpen && timer === null) work();
      else if (isOpen) makeRoom();
    },
    open() {
      if (isOpen) return;
      isOpen = true;
      work();
    },
    get readUntil() {
      const now = clock.now();
      return Math.min(now, (reading ?? waiting[0])?.cameAt ?? now);
    },
    [Symbol.dispose]() {
      timer?.[Symbol.dispose]();
      isOpen = false;
    },
  };
}
