import { kindOf } from './rules/index.ts';
import type { RecentTime } from './rules/kind.ts';
import type { Target } from './target.ts';

/** The recent successful results of each node on each target, as far as rules need them; bounded. */
export interface RecentTimes {
  /** From now on results of the target are kept for so long; 0 keeps none. */
  keep(target: string, windowMs: number): void;
  /** The same, with nothing kept so far. */
  begin(target: string, windowMs: number): void;
  add(target: string, node: string, time: RecentTime): void;
  /** Those that were due after `since`, oldest first. */
  of(target: string, node: string, since: number): readonly RecentTime[];
  forget(target: string): void;
  /** The clock was set back to `now`: nothing was measured after that. */
  setBack(now: number): void;
}

/** How many results of one node on one target are kept at the most. */
export const mostRecentTimes = 1_000;

export function createRecentTimes(): RecentTimes {
  const windows = new Map<string, number>();
  const kept = new Map<string, Map<string, RecentTime[]>>();

  return {
    keep(target, windowMs) {
      windows.set(target, windowMs);
      if (windowMs === 0) kept.delete(target);
    },
    begin(target, windowMs) {
      windows.set(target, windowMs);
      kept.delete(target);
    },
    add(target, node, time) {
      const windowMs = windows.get(target) ?? 0;
      if (windowMs === 0) return;
      const nodes = kept.get(target) ?? new Map<string, RecentTime[]>();
      kept.set(target, nodes);
      const times = nodes.get(node) ?? [];
      nodes.set(node, times);
      times.push(time);
      const fresh = times.findIndex(({ at }) => at > time.at - windowMs);
      times.splice(0, Math.max(fresh, times.length - mostRecentTimes));
    },
    of(target, node, since) {
      return (kept.get(target)?.get(node) ?? []).filter(({ at }) => at > since);
    },
    forget(target) {
      kept.delete(target);
      windows.delete(target);
    },
    setBack(now) {
      for (const nodes of kept.values())
        for (const [node, times] of nodes)
          nodes.set(
            node,
            times.map((time) => (time.at > now ? { ...time, at: now } : time)),
          );
    },
  };
}

/** How far back the rules of a target look; 0 if none does. */
export function windowMsOf({ rules }: Target): number {
  return Math.max(0, ...rules.map(({ rule }) => kindOf(rule.kind).windowMs(rule.options)));
}
