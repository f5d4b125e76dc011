import type { Policy } from '#checks/index.ts';
import type { Clock } from '#kernel/clock.ts';
import type { Log } from '#kernel/log.ts';
import { formatRunName } from '#protocol/run-name.ts';
import type { TargetWatch } from './target-watch.ts';
import type { Runs } from './runs.ts';
import type { VoteIntake } from './vote-intake.ts';

export interface NodeQueryOptions {
  readonly runs: Pick<Runs, 'runOn'>;
  readonly policy: Policy;
  /** The receipt of an answer is by the name of the round. */
  readonly takeVote: VoteIntake;
  /** Judges what the target has by now. */
  readonly judge: () => void;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Has those nodes of a target look at it that do not keep the time. A due time that comes while they still do is passed over once they
 * have answered: until then it says nothing of what they were asked before.
 */
export function askNodes(
  place: TargetWatch,
  dueAt: number,
  { runs, policy, takeVote, judge, clock, log }: NodeQueryOptions,
): void {
  const { rounds, target, asked } = place;
  if (place.isAsking) {
    place.missedAt = dueAt;
    return;
  }
  const command = { spec: target.spec, policy, name: formatRunName({ target: target.name, dueAt }) };
  const work = (place.work ??= new AbortController());
  place.isAsking = true;
  runs
    .runOn(asked, command, work.signal, {
      onOutcome({ node, outcome, startedAt = clock.now() }) {
        takeVote(place, { node, dueAt, outcome, startedAt }, true, null);
        judge();
      },
    })
    .catch((error: unknown) => {
      if (!work.signal.aborted) log.error({ err: error, target: target.name, dueAt }, 'cannot run round');
    })
    .finally(() => {
      place.isAsking = false;
      if (work.signal.aborted) return;
      // Those that keep the time by now may have kept this one.
      if (place.missedAt > dueAt) for (const { name } of place.asked) rounds.passOver(name, place.missedAt);
      judge();
    });
}
