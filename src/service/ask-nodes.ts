import type { Policy } from '#checks/index.ts';
import type { Clock } from '#kernel/clock.ts';
import type { Log } from '#kernel/log.ts';
import { formatRunName } from '#protocol/run-name.ts';
import type { TargetWatch } from './target-watch.ts';
import type { Runs } from './runs.ts';

export interface NodeQueryOptions {
  readonly runs: Pick<Runs, 'runOn'>;
  readonly policy: Policy;
  /** Called after each vote that came of it. */
  readonly onVote: () => void;
  readonly clock: Clock;
  readonly log: Log;
}

/** Has those nodes of a target look at it that do not keep the time; a due time that comes while they still do is passed over. */
export function askNodes(
  place: TargetWatch,
  dueAt: number,
  { runs, policy, onVote, clock, log }: NodeQueryOptions,
): void {
  const { rounds, target, asked } = place;
  if (place.isAsking) {
    for (const { name } of asked) rounds.passOver(name, dueAt);
    return;
  }
  const command = { spec: target.spec, policy, name: formatRunName({ target: target.name, dueAt }) };
  const work = (place.work ??= new AbortController());
  place.isAsking = true;
  runs
    .runOn(asked, command, work.signal, {
      onOutcome({ node, outcome, startedAt = clock.now() }) {
        rounds.take(node, dueAt, outcome, startedAt);
        onVote();
      },
    })
    .catch((error: unknown) => {
      if (!work.signal.aborted) log.error({ err: error, target: target.name, dueAt }, 'cannot run round');
    })
    .finally(() => {
      place.isAsking = false;
    });
}
