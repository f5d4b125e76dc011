import type { NodeInfo, Outcome } from '#checks/index.ts';
import type { CatchUp } from './catch-up.ts';
import { createHealthyOutcomes } from './healthy-outcomes.ts';
import type { createLateKeeper } from './late.ts';
import type { StoredRounds } from './stored-rounds.ts';
import type { TargetWatch } from './target-watch.ts';

/** What a node saw of a target, by its own schedule or because it was asked. */
export interface ReceivedVote {
  readonly node: NodeInfo;
  readonly dueAt: number;
  readonly outcome: Outcome;
  readonly startedAt: number;
}

/**
 * Gives a vote to the round that it is of, or keeps it as late. `isCalled` says whether the node was assigned this target; `confirm` is
 * called once what the vote is part of is stored.
 */
export type VoteIntake = (
  place: TargetWatch,
  vote: ReceivedVote,
  isCalled: boolean,
  confirm: (() => void) | null,
) => void;

export function createVoteIntake(
  catchUp: Pick<CatchUp, 'late' | 'heard'>,
  storedRounds: Pick<StoredRounds, 'after'>,
  keepLate: ReturnType<typeof createLateKeeper>,
): VoteIntake {
  const sharing = createHealthyOutcomes();
  return (place, vote, isCalled, confirm) => {
    const { name: target, rounds } = place;
    const { node, dueAt, startedAt } = vote;
    const outcome = isCalled ? sharing(place, vote.outcome) : vote.outcome;
    const taken = rounds.take(node, dueAt, outcome, startedAt, isCalled);
    if (taken === 'late') {
      catchUp.late({ target, dueAt });
      void keepLate({ target, dueAt, node, outcome }, confirm);
      return;
    }
    // Of a round that ended without a verdict, it is judged again.
    catchUp.heard(rounds, dueAt, taken === 'reopened');
    if (taken === 'uncalled') confirm?.();
    else if (confirm !== null) storedRounds.after({ target, dueAt }, confirm, rounds.voters.length);
  };
}
