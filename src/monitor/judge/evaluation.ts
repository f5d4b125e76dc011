import { checkOf, type CheckSpec, failed, failure, type Outcome } from '#checks/index.ts';
import type { BudgetNow } from './budgets.ts';
import { commonestCause, type VoteLine, voteTable } from './incident.ts';
import type { RuleState } from './rule-state.ts';
import type { Rule } from './rule.ts';
import { kindOf } from './rules/index.ts';
import type { Judgement, RecentTime } from './rules/kind.ts';
import { tallyStatuses, type Verdict } from './verdict.ts';
import type { Vote } from './vote.ts';

/** What a rule may need besides the round itself. */
export interface Evidence {
  /** Nodes whose votes do not count. */
  readonly suspected: ReadonlySet<string>;
  /** The successful results of a node that were due after `since`, oldest first. */
  recentTimesOf(node: string, since: number): readonly RecentTime[];
  /** How the budget of the target's objective stands when a round is due; null if it has none. */
  budgetAt(dueAt: number): BudgetNow | null;
}

export interface Evaluation {
  readonly verdict: Verdict;
  /** The votes as the rule took them; none if the rule is not about votes. */
  lines(): readonly VoteLine[];
  /** Why the rule holds, in words. */
  cause(): string;
  /** What the rule notes about the nodes: the same object if nothing is new. */
  readonly noted: RuleState['noted'];
}

const suspectedFailure = failure(
  'node',
  'suspected',
  'the node is suspected: it reports targets down that other nodes report up',
);

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
  const { answers: readAnswers, values: readValues } = checkOf(spec.type);
  const { suspected } = evidence;
  const votes = suspected.size === 0 ? round.votes : round.votes.map((vote) => asCounted(vote, suspected));
  const budget = kind.isAboutTarget === true ? evidence.budgetAt(round.dueAt) : null;
  const asked = kind.isAboutTarget === true ? votes.slice(0, 1) : votes;
  const { ofUp = null, ofNone = null } = kind;
  const ofAll = ofNone === null || asked.length > 0 ? null : ofNone;
  const judgements =
    ofAll !== null
      ? [ofAll]
      : asked.map(({ node, outcome }) => {
          if (ofUp !== null && outcome.status === 'up') return ofUp;
          return kind.judge(rule.options, {
            outcome,
            answers: readAnswers === null ? null : readAnswers(outcome),
            values: readValues === null ? null : readValues(outcome),
            recentTimes: windowMs === 0 ? [] : evidence.recentTimesOf(node.name, round.dueAt - windowMs),
            budget,
            now: round.dueAt,
            isOpen: state.incidentId !== null,
            noted: state.noted[node.name],
          });
        });
  const lines = () => (kind.isAboutTarget === true ? [] : voteTable(votes, judgements));
  const isAboutAll = asked.length === votes.length && suspected.size > 0;
  const uncounted = isAboutAll ? votes.filter(({ node }) => suspected.has(node.name)).length : 0;
  return {
    verdict: tallyStatuses(
      judgements.map(({ status }) => status),
      rule.threshold,
      rule.quorum,
      uncounted,
    ),
    lines,
    cause: () => (kind.isAboutTarget === true ? judgements[0]?.message : ofAll?.message) ?? commonestCause(lines()),
    noted: withNotes(judgements, votes, state.noted),
  };
}

function withNotes(
  judgements: readonly Judgement[],
  votes: readonly Vote[],
  noted: RuleState['noted'],
): RuleState['noted'] {
  let result: Record<string, string> | null = null;
  // Of tens of thousands of votes a second hardly any has a note.
  for (let index = 0; index < judgements.length; index += 1) {
    const note = judgements[index]?.note;
    if (note === undefined) continue;
    const name = votes[index]?.node.name ?? '';
    if (noted[name] === note) continue;
    result ??= { ...noted };
    result[name] = note;
  }
  return result ?? noted;
}

function asCounted(vote: Vote, suspected: ReadonlySet<string>): Vote {
  if (!suspected.has(vote.node.name)) return vote;
  const { seconds, address, phases }: Outcome = vote.outcome;
  return { node: vote.node, outcome: failed(suspectedFailure, { seconds, address, phases }) };
}
