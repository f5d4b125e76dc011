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
  // An item that was added again for an earlier moment is still here for the later one, and passed over then.
  const steps = new Map<number, Item[]>();
  // What is due and was not looked at yet, from `done` on.
  let left: Item[] = [];
  let done = 0;
  let last = Number.NEGATIVE_INFINITY;

  function collect(now: number): void {
    last = Math.floor(now / stepMs);
    for (const [step, items] of steps) {
      if (step > last) continue;
      steps.delete(step);
      if (left.length === done) [left, done] = [items, 0];
      else for (const item of items) left.push(item);
    }
  }

  // It can be added again from then on.
  function takeNext(): Item | undefined {
    for (let item = left[done]; item !== undefined; item = left[done]) {
      done += 1;
      if (Math.floor(item.lookAt / stepMs) > last) continue;
      item.lookAt = Number.POSITIVE_INFINITY;
      return item;
    }
    [left, done] = [[], 0];
    return undefined;
  }

  return {
    add(item, at) {
      if (at >= item.lookAt || at === Number.POSITIVE_INFINITY) return;
      item.lookAt = at;
      const step = Math.floor(at / stepMs);
      const items = steps.get(step);
      if (items === undefined) steps.set(step, [item]);
      else items.push(item);
    },
    due(now) {
      collect(now);
      const found: Item[] = [];
      for (let item = takeNext(); item !== undefined; item = takeNext()) found.push(item);
      return found;
    },
    look(clock, action) {
      collect(clock.now());
      const began = clock.elapsed();
      while (clock.elapsed() - began < turnMs) {
        const item = takeNext();
        if (item === undefined) return true;
        action(item);
      }
      return done === left.length;
    },
    reset() {
      const all = [...left.slice(done), ...[...steps.values()].flat()];
      steps.clear();
      [left, done] = [[], 0];
      for (const item of all) item.lookAt = Number.NEGATIVE_INFINITY;
      steps.set(Number.NEGATIVE_INFINITY, all);
    },
  };
}
