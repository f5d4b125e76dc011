import { isDeepStrictEqual } from 'node:util';
import type { Assessor } from './assessment.ts';
import { countBudgets } from './judge/budgets.ts';
import { type RecentTimes, windowMsOf } from './judge/recent-times.ts';
import type { Target } from './judge/target.ts';
import type { MonitorStore } from './store.ts';
import type { ChangedTarget } from './watch/watch-set.ts';

/**
 * Loads from the store what changed targets need of the past: times for rules that look back, and the spent part of error
 * budgets. `anew` are those among them that have another spec: they need no times.
 */
export function lookBack(
  { recentTimes, budgets }: Assessor,
  store: MonitorStore,
  changed: readonly ChangedTarget[],
  anew: readonly ChangedTarget[],
  now: number,
): void {
  const withLongerWindow = changed.filter(
    (one) => !anew.includes(one) && windowMsOf(one.target) > (one.before === null ? 0 : windowMsOf(one.before)),
  );
  const withOtherObjective = changed.filter((one) => !isDeepStrictEqual(one.before?.objective, one.target.objective));
  const targetsOf = (some: readonly ChangedTarget[]) => some.map(({ target }) => target);
  refill(recentTimes, store, targetsOf(withLongerWindow), now);
  countBudgets(budgets, store, targetsOf(withOtherObjective), now);
}

// One query for all targets that need it.
function refill(
  recentTimes: RecentTimes,
  store: Pick<MonitorStore, 'recentSuccesses'>,
  targets: readonly Target[],
  now: number,
): void {
  if (targets.length === 0) return;
  for (const target of targets) recentTimes.begin(target.name, windowMsOf(target));
  const names = new Set(targets.map(({ name }) => name));
  for (const { target, node, dueAt, seconds } of store.recentSuccesses(
    now - Math.max(...targets.map(windowMsOf)),
    names,
  )) {
    recentTimes.add(target, node, { at: dueAt, seconds });
  }
}
