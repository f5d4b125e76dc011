import type { Clock } from '#kernel/clock.ts';

/** Items by the moment at which they are due. An item that is not due costs nothing. */
export interface TimedItems<Item extends TimedItem> {
  /** Makes it due at `at`, in milliseconds since the epoch, unless it is due earlier. */
  add(item: Item, at: number): void;
  /** Takes out those whose moment has come, to the second. */
  due(now: number): readonly Item[];
  /** Does something with those whose moment has come, for as long as a turn takes; false if some are left for the next one. */
  look(clock: Clock, action: (item: Item) => void): boolean;
  /** The wall clock was set: all that is here is due at once. */
  reset(): void;
}

export interface TimedItem {
  /** When it is due; infinity if it is not in here. */
  lookAt: number;
}

const stepMs = 1_000;
const turnMs = 8;

export function createTimedItems<Item extends TimedItem>(): TimedItems<Item> {
  // An item that was added again for an earlier moment is still here for the later one: then it is due once too often.
  const steps = new Map<number, Item[]>();
  const takeOut = (step: number, items: readonly Item[], due: Item[]) => {
    steps.delete(step);
    for (const item of items) {
      item.lookAt = Number.POSITIVE_INFINITY;
      due.push(item);
    }
  };

  function add(item: Item, at: number): void {
    if (at >= item.lookAt || at === Number.POSITIVE_INFINITY) return;
    item.lookAt = at;
    const step = Math.floor(at / stepMs);
    const items = steps.get(step);
    if (items === undefined) steps.set(step, [item]);
    else items.push(item);
  }

  function due(now: number): readonly Item[] {
    const found: Item[] = [];
    const last = Math.floor(now / stepMs);
    for (const [step, items] of steps) if (step <= last) takeOut(step, items, found);
    return found;
  }

  return {
    add,
    due,
    look(clock, action) {
      const now = clock.now();
      const began = clock.elapsed();
      const left = due(now);
      let done = 0;
      for (; done < left.length && clock.elapsed() - began < turnMs; done += 1) {
        const item = left[done];
        if (item !== undefined) action(item);
      }
      for (const item of left.slice(done)) add(item, now);
      return done === left.length;
    },
    reset() {
      const all = [...steps.values()].flat();
      steps.clear();
      for (const item of all) item.lookAt = Number.POSITIVE_INFINITY;
      steps.set(Number.NEGATIVE_INFINITY, all);
    },
  };
}
