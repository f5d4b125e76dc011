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

/** What a target is shown as by these votes, for a round that no rule judges: that of its first rule about outages. Pure. */
export function statusByVotes({ rules }: Target, statuses: readonly VoteStatus[]): VerdictStatus {
  const rule = rules.find((named) => isOutage(named.rule))?.rule;
  return tallyStatuses(statuses, rule?.threshold ?? { kind: 'majority' }, rule?.quorum).status;
}
