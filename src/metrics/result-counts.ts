import { createLabelSets, type TargetNodeSeries, type VoteOutcome } from './check-series.ts';
import type { Register } from './register.ts';

/** How often targets were seen so or so. */
export interface ResultCounts {
  count(pair: TargetNodeSeries, outcome: VoteOutcome): void;
  /** Stops to export what was counted of this one. */
  drop(pair: TargetNodeSeries): void;
  clear(): void;
}

export function createResultCounts(register: Register): ResultCounts {
  const family = register.counter(
    'watchpost_check_results_total',
    'Outcomes of checks by the reason of the failure, which is "none" for up.',
  );
  // Few, for reasons are codes.
  const outcomes = createLabelSets();

  return {
    count(pair, outcome) {
      const { status } = outcome;
      const reason = outcome.status === 'up' ? 'none' : outcome.failure.code;
      if (pair.last?.status !== status || pair.last.reason !== reason) {
        let counted = pair.results.find((one) => one.status === status && one.reason === reason);
        if (counted === undefined) {
          const more = outcomes(`${status} ${reason}`, () => ({ outcome: status, reason }));
          counted = { status, reason, sample: family.add(pair.labels, more) };
          // Neither in place nor by spreading: such a list takes room for sixteen more.
          pair.results = pair.results.concat(counted);
        }
        pair.last = counted;
      }
      pair.last.sample.add();
    },
    drop(pair) {
      for (const { sample } of pair.results) family.remove(sample);
    },
    clear: () => family.clear(),
  };
}
