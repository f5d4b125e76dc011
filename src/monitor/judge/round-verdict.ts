import type { NodeSelection } from '#checks/index.ts';
import type { Target } from './target.ts';
import { isOutage } from './rules/index.ts';
import { tallyStatuses, type Threshold, type VerdictStatus } from './verdict.ts';
import type { Vote } from './vote.ts';

type VoteStatus = 'up' | 'down' | 'unknown';

/** Whether these votes are enough for each rule of the target about outages. Votes of `suspected` nodes do not count. Pure. */
export function hasVerdict({ rules }: Target, votes: readonly Vote[], suspected: ReadonlySet<string>): boolean {
  const isSuspected = ({ node }: Vote) => suspected.has(node.name);
  const statuses = votes.map((vote): VoteStatus => (isSuspected(vote) ? 'unknown' : vote.outcome.status));
  const uncounted = suspected.size === 0 ? 0 : votes.filter(isSuspected).length;
  const decides = (threshold: Threshold, quorum?: number) =>
    tallyStatuses(statuses, threshold, quorum, uncounted).failing !== null;
  const outages = rules.filter(({ rule }) => isOutage(rule));
  return outages.length === 0
    ? decides({ kind: 'majority' })
    : outages.every(({ rule }) => decides(rule.threshold, rule.quorum));
}

/**
 * What a target is shown as by the votes of a round that no rule judges: the verdict of its first rule about outages. Null as long as
 * the votes are not enough for it; each of the nodes that has no vote yet counts as unknown. Pure.
 */
export function statusByVotes(
  { rules, nodes }: Target,
  statuses: readonly VoteStatus[],
  nodeCount: number,
): VerdictStatus | null {
  const rule = rules.find((named) => isOutage(named.rule))?.rule;
  const missing = Math.max(0, selectedOf(nodes, nodeCount) - statuses.length);
  const all = [...statuses, ...Array.from({ length: missing }, (): VoteStatus => 'unknown')];
  const verdict = tallyStatuses(all, rule?.threshold ?? { kind: 'majority' }, rule?.quorum);
  return verdict.failing === null ? null : verdict.status;
}

function selectedOf(nodes: NodeSelection, nodeCount: number): number {
  if (nodes.kind === 'all') return nodeCount;
  return nodes.kind === 'named' ? nodes.names.length : Math.min(nodes.count, nodeCount);
}
