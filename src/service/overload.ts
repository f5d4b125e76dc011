import type { Clock } from '#kernel/clock.ts';
import type { Log } from '#kernel/log.ts';
import type { Observation } from '#protocol/watching.ts';
import type { TargetWatch } from './place.ts';

/**
 * Leaves out rounds where more comes in than can be judged: only those of targets that were well for a while and still are, for what
 * is stored of such a round is all that would come of it.
 */
export interface Overload {
  /** Leaves out the round that this was seen for, unless somebody may have to be told of it, or it has a vote already. */
  leaveOut(place: TargetWatch, sighting: Observation): void;
  /** There is no room for these: the same for them, as far as they are known. */
  giveUp(sightings: readonly Observation[], places: ReadonlyMap<string, TargetWatch>): void;
  /** What it was like within the last minute, in words; null where no round was left out. */
  reason(): string | null;
}

// What was seen bad within this time may be told, or end.
const quietMs = 600_000;
// Nobody is left out for ever: the same targets may come last again and again.
const mostInARow = 9;
const slotMs = 10_000;
const slotsKept = 6;
const tellEveryMs = 60_000;

export function createOverload(clock: Clock, log: Log): Overload {
  const slots = new Map<number, number>();
  let toldAt = Number.NEGATIVE_INFINITY;
  const slotNow = () => Math.floor(clock.elapsed() / slotMs);

  function countOfLastMinute(): number {
    let sum = 0;
    for (const [slot, count] of slots) {
      if (slot <= slotNow() - slotsKept) slots.delete(slot);
      else sum += count;
    }
    return sum;
  }

  function leaveOut(place: TargetWatch, { revision, dueAt, outcome }: Observation): void {
    const isQuiet = outcome.status === 'up' && dueAt - place.badAt > quietMs;
    if (!isQuiet || place.assigned.revision !== revision) return;
    const isTurn = place.leftOut < mostInARow && place.rounds.leaveOut(dueAt);
    place.leftOut = isTurn ? place.leftOut + 1 : 0;
    if (!isTurn) return;
    slots.set(slotNow(), (slots.get(slotNow()) ?? 0) + 1);
    if (clock.elapsed() - toldAt < tellEveryMs) return;
    toldAt = clock.elapsed();
    log.warn('more comes in than can be judged: rounds are left out');
  }

  return {
    leaveOut,
    giveUp(sightings, places) {
      for (const sighting of sightings) {
        const place = places.get(sighting.target);
        if (place !== undefined) leaveOut(place, sighting);
      }
    },
    reason() {
      const count = countOfLastMinute();
      if (count === 0) return null;
      return `more comes in than can be judged: ${count} rounds of the last minute were left out`;
    },
  };
}
