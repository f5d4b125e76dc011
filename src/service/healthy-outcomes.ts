import {
  type CheckTypeName,
  isSameButForTimes,
  type Outcome,
  type UpOutcome,
  withoutTimes,
  withPartsOf,
} from '#checks/index.ts';
import type { TargetWatch } from './target-watch.ts';

/**
 * Gives the same outcome, a healthy one with those parts of the one before of its target, or of another target, that are the same: the
 * thread of a node gives each result parts of its own, and the last results of all targets are kept.
 */
export type HealthyOutcomes = (place: Pick<TargetWatch, 'target' | 'healthy'>, outcome: Outcome) => Outcome;

export function createHealthyOutcomes(): HealthyOutcomes {
  const newest = new Map<CheckTypeName, UpOutcome<unknown>>();
  return (place, outcome) => {
    if (outcome.status !== 'up') return outcome;
    if (isAsBefore(place, outcome)) return outcome;
    const { type } = place.target.spec;
    const known = place.healthy ?? newest.get(type) ?? outcome;
    const shared = withPartsOf(known, outcome);
    if (isAsBefore(place, shared)) return shared;
    place.healthy = withoutTimes(known, shared);
    newest.set(type, place.healthy);
    return shared;
  };
}

const isAsBefore = ({ healthy }: Pick<TargetWatch, 'healthy'>, outcome: Outcome) =>
  healthy !== null && isSameButForTimes(healthy, outcome);
