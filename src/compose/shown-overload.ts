import { isDeepStrictEqual } from 'node:util';
import type { CheckRunner } from '#compose/checking.ts';
import type { Clock } from '#kernel/clock.ts';
import { onTick } from '#kernel/ticks.ts';
import type { ShownOverload } from '#web/pages/overload.ts';

const lookEveryMs = 1_000;

/** What pages say of overload. Names are in order, so that nothing changes while the same nodes are overloaded. */
export function shownOverload(checking: Pick<CheckRunner, 'overload' | 'overloadedNodes'>): ShownOverload {
  const nodes = checking.overloadedNodes().map(({ node }) => node);
  return { isOfHub: checking.overload() !== null, nodes: nodes.toSorted() };
}

/** Looks every second, and calls back when pages have something else to say: rounds may be minutes apart. */
export function watchOverload(read: () => ShownOverload, clock: Clock, changed: () => void): Disposable {
  let last = read();
  let timer = onTick(clock, lookEveryMs, look);

  function look(): void {
    timer = onTick(clock, lookEveryMs, look);
    const now = read();
    if (isDeepStrictEqual(last, now)) return;
    last = now;
    changed();
  }

  return { [Symbol.dispose]: () => timer[Symbol.dispose]() };
}
