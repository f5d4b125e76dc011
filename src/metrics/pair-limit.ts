/** Whether pairs of target and node are few enough for series of each. */
export interface PairLimit {
  readonly isExceeded: boolean;
  /** How many pairs there are. */
  readonly pairs: number;
  /** So many nodes have checked this target. */
  note(target: string, nodes: number): void;
  /** Forgets other targets than these. */
  keepTargets(names: ReadonlySet<string>): void;
  /** There are no more nodes than this. */
  keepNodes(count: number): void;
  setLimit(limit: number): void;
}

/** A limit of pairs as it is until the configuration says otherwise. */
export const usualPairLimit = 20_000;

// A fleet about as large as the limit must not begin its series anew again and again.
const shareToReturn = 0.9;

/** `onChange` is called when the pairs have become too many, or few enough again. */
export function createPairLimit(firstLimit: number, onChange: (limit: number) => void): PairLimit {
  const byTarget = new Map<string, number>();
  let limit = firstLimit;
  let pairs = 0;
  let isExceeded = limit === 0;

  function set(target: string, count: number): void {
    pairs += count - (byTarget.get(target) ?? 0);
    if (count > 0) byTarget.set(target, count);
    else byTarget.delete(target);
  }

  function look(most = isExceeded ? limit * shareToReturn : limit): void {
    const isTooMany = limit === 0 || pairs > most;
    if (isTooMany === isExceeded) return;
    isExceeded = isTooMany;
    onChange(limit);
  }

  return {
    get isExceeded() {
      return isExceeded;
    },
    get pairs() {
      return pairs;
    },
    note(target, nodes) {
      // An extra round may ask fewer of them.
      if (nodes <= (byTarget.get(target) ?? 0)) return;
      set(target, nodes);
      look();
    },
    keepTargets(names) {
      for (const target of byTarget.keys()) if (!names.has(target)) set(target, 0);
      look();
    },
    keepNodes(count) {
      for (const [target, nodes] of byTarget) if (nodes > count) set(target, count);
      look();
    },
    setLimit(next) {
      if (next === limit) return;
      limit = next;
      look(limit);
    },
  };
}
