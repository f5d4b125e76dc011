import { notAhead } from '#kernel/clock.ts';
import { reportEveryMs } from '#protocol/nodes.ts';
import type { HubAbsence, CatchUp } from './catch-up.ts';
import type { ClockState } from './clock-look.ts';
import type { TargetWatch } from './target-watch.ts';

// Nodes hear of a new time by their next reports: what is due until then is no fault of theirs.
const newTimeKnownMs = 3 * reportEveryMs;

/**
 * This process saw nothing until now. Nodes that run elsewhere have gone on meanwhile: what they hold is awaited. If the process had only too
 * much to do, that is on its way here; to ask for it again would be more than it can do. If the clock was only set forward, nothing was
 * missed at all: what is under way has its time, and what would have been due meanwhile is passed over once nodes go by the new time.
 */
export function resumeAfterGap(
  places: Iterable<TargetWatch>,
  absence: HubAbsence | null,
  catchUp: Pick<CatchUp, 'begin'>,
  { now, wasAway, wasBusy }: Pick<ClockState, 'now' | 'wasAway' | 'wasBusy'>,
): void {
  const all = [...places].map(({ rounds }) => rounds);
  if (!wasAway) {
    for (const rounds of all) rounds.extendDeadline(now + newTimeKnownMs, true);
    return;
  }
  for (const rounds of all) rounds.extendDeadline(now, absence !== null);
  if (absence === null || wasBusy) return;
  catchUp.begin('frozen', all);
  absence.refresh?.();
}

/** The clock was set back: rounds begin anew, and no moment that was noted while it was ahead holds them up. */
export function resumeAfterSetBack(
  places: Iterable<TargetWatch>,
  parts: readonly { reset(now: number): void }[],
  { now }: Pick<ClockState, 'now'>,
): void {
  for (const part of parts) part.reset(now);
  for (const place of places) {
    place.rounds.reset(now);
    // Nodes hear of the new time a moment later, and may pass over a check until then.
    place.rounds.extendDeadline(now + newTimeKnownMs, true);
    place.stoppedAt = notAhead(place.stoppedAt, now);
    place.missedAt = notAhead(place.missedAt, now);
    place.badAt = notAhead(place.badAt, now);
  }
}

/** A node is heard again: what it holds may complete rounds that ended without a verdict. */
export function resumeNode(node: string, places: Iterable<TargetWatch>, catchUp: Pick<CatchUp, 'begin'>): void {
  const all = [...places].map(({ rounds }) => rounds);
  catchUp.begin(
    'unreachable',
    all.filter((rounds) => rounds.isUndecided && rounds.isVoter(node)),
  );
}
