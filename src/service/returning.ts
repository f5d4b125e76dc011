import type { HubAbsence, CatchUp } from './catch-up.ts';
import type { ClockState } from './clock-look.ts';
import type { TargetWatch } from './target-watch.ts';

/**
 * This process saw nothing until now. Nodes that run elsewhere have gone on meanwhile: what they hold is awaited. If the process had only too
 * much to do, that is on its way here; to ask for it again would be more than it can do.
 */
export function resumeAfterFreeze(
  places: Iterable<TargetWatch>,
  absence: HubAbsence | null,
  catchUp: Pick<CatchUp, 'begin'>,
  { now, wasBusy }: Pick<ClockState, 'now' | 'wasBusy'>,
): void {
  const all = [...places].map(({ rounds }) => rounds);
  for (const rounds of all) rounds.extendDeadline(now, absence !== null);
  if (absence === null || wasBusy) return;
  catchUp.begin('frozen', all);
  absence.refresh?.();
}

/** A node is heard again: what it holds may complete rounds that ended without a verdict. */
export function resumeNode(node: string, places: Iterable<TargetWatch>, catchUp: Pick<CatchUp, 'begin'>): void {
  const all = [...places].map(({ rounds }) => rounds);
  catchUp.begin(
    'unreachable',
    all.filter((rounds) => rounds.isUndecided && rounds.isVoter(node)),
  );
}
