import type { NodeInfo } from '#checks/index.ts';
import type { NodeOutcome } from './runs.ts';
import type { CollectedRound } from './target-rounds.ts';

interface RoundEnd {
  readonly dueAt: number;
  readonly voters: readonly NodeInfo[];
  readonly votes: ReadonlyMap<string, NodeOutcome>;
  /** The vote of a node that gave none. */
  readonly missing: (node: NodeInfo) => NodeOutcome;
}

/** The round that ends with these votes, and with what those who gave none are said to have found. */
export function roundOf({ dueAt, voters, votes, missing }: RoundEnd): CollectedRound {
  let heard = 0;
  // Kept until the next round: a list that grew would have room for sixteen more.
  const all = voters.map((node) => {
    const vote = votes.get(node.name);
    if (vote !== undefined) heard += 1;
    return vote ?? missing(node);
  });
  if (heard < votes.size) {
    const names = new Set(voters.map(({ name }) => name));
    for (const vote of votes.values()) if (!names.has(vote.node.name)) all.push(vote);
  }
  let startedAt = Number.POSITIVE_INFINITY;
  for (const vote of votes.values())
    if (vote.startedAt !== undefined && vote.startedAt < startedAt) startedAt = vote.startedAt;
  return { dueAt, startedAt: startedAt === Number.POSITIVE_INFINITY ? dueAt : startedAt, votes: all };
}
