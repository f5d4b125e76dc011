import { onceFor } from '#kernel/once-for.ts';
import type { AssignedTarget, Observation } from '#protocol/watching.ts';
import { createDueCheck } from '#schedule/due-check.ts';
import type { TargetWatch } from './target-watch.ts';

// What a node held for so long may be of slots that are not known any more.
const longAgoMs = 300_000;

const dueCheckOf = onceFor(({ schedule, name }: AssignedTarget) => createDueCheck(schedule, name));

/**
 * Why a result of a node cannot be so, in words: a key lets its node vote on due times, not make up rounds. Null if it can, or if it
 * is of no target that is watched in this way now. `setBacks` is how often the clock of this process was set back.
 */
export function refusalOf(
  place: TargetWatch | undefined,
  observation: Observation,
  setBacks: number,
  now: number,
): string | null {
  const { target, revision, dueAt } = observation;
  if (place === undefined || place.assigned.revision !== revision) return null;
  const { assigned } = place;
  if (dueAt === place.knownDueAt && assigned === place.knownDueBy) return null;
  const isDue = dueCheckOf(assigned)(dueAt, { laterMs: setBacks, isLongAgo: dueAt < now - longAgoMs });
  if (!isDue) return `${dueAt} is no due time of ${target}`;
  place.knownDueAt = dueAt;
  place.knownDueBy = assigned;
  return null;
}
