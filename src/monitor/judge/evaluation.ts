import { checkOf, type CheckSpec, failed, failure, type Outcome } from '#checks/index.ts';
import { type VoteLine, voteTable } from './incident.ts';
import type { RuleState } from './rule-state.ts';
import type { Rule } from './rule.ts';
import { kindOf } from './rules/index.ts';
import type { RecentTime } from './rules/kind.ts';
import { tallyStatuses, type Verdict } from './verdict.ts';
import type { Vote } from './vote.ts';

/** What a rule may need besides the round itself. */
export interface Evidence {
  /** Nodes whose votes do not count. */
  readonly suspected: ReadonlySet<string>;
  /** The successful results of a node that were due after `since`, oldest first. */
  recentTimesOf(node: string, since: number): readonly RecentTime[];
}

export interface Evaluation {
  readonly verdict: Verdict;
  /** Who saw what, as the rule took it. */
  lines(): readonly VoteLine[];
  /** What the rule notes about the nodes: the same object where nothing is new. */
  readonly noted: RuleState['noted'];
}

const suspectedFailure = failure('node', 'suspected', 'the node is suspected: it sees down what others see up');

/** What a rule makes of a round's votes. Pure. */
export function evaluateRule(
  rule: Rule,
  state: RuleState,
  spec: CheckSpec,
  round: { readonly dueAt: number; readonly votes: readonly Vote[] },
  evidence: Evidence,
): Evaluation {
  const kind = kindOf(rule.kind);
  const windowMs = kind.windowMs(rule.options);
  const readAnswers = checkOf(spec.type).answers;
  const votes = round.votes.map((vote) => asCounted(vote, evidence.suspected));
  const judgements = votes.map(({ node, outcome }) =>
    kind.judge(rule.options, {
      outcome,
      answers: readAnswers === null ? null : readAnswers(outcome),
      recentTimes: windowMs === 0 ? [] : evidence.recentTimesOf(node.name, round.dueAt - windowMs),
      now: round.dueAt,
      isOpen: state.incidentId !== null,
      noted: state.noted[node.name],
    }),
  );
  const notes = judgements.flatMap(({ note }, index) => {
    const name = votes[index]?.node.name ?? '';
    return note === undefined || state.noted[name] === note ? [] : [[name, note] as const];
  });
  return {
    verdict: tallyStatuses(
      judgements.map(({ status }) => status),
      rule.threshold,
      rule.quorum,
      votes.filter(({ node }) => evidence.suspected.has(node.name)).length,
    ),
    lines: () => voteTable(votes, judgements),
    noted: notes.length === 0 ? state.noted : { ...state.noted, ...Object.fromEntries(notes) },
  };
}

function asCounted(vote: Vote, suspected: ReadonlySet<string>): Vote {
  if (!suspected.has(vote.node.name)) return vote;
  const { seconds, address, phases }: Outcome = vote.outcome;
  return { node: vote.node, outcome: failed(suspectedFailure, { seconds, address, phases }) };
}
