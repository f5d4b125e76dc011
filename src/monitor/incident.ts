import type { FailureCode, FailureSource } from '#checks/index.ts';
import type { Vote } from './ports.ts';
import type { Severity } from './rule.ts';

/** A line of the vote table that an incident and its mails carry. */
export interface VoteLine {
  readonly node: string;
  readonly place: string;
  readonly status: 'up' | 'down' | 'unknown';
  readonly seconds: number | null;
  readonly address: string | null;
  readonly source: FailureSource | null;
  readonly code: FailureCode | null;
  readonly message: string | null;
}

/** A rule that holds for a target, from its first failing round to its recovery. It tells its whole story by itself. */
export interface Incident {
  readonly id: string;
  readonly target: string;
  readonly rule: string;
  readonly severity: Severity;
  /** What is checked, in words: `http https://shop.example.com/health`. */
  readonly subject: string;
  /** What the rule was, in words. */
  readonly condition: string;
  /** The first failing round. */
  readonly startedAt: number;
  /** The round that opened it. */
  readonly openedAt: number;
  /** The first good round, or null while it is open. */
  readonly endedAt: number | null;
  /** The commonest failure of the round that opened it. */
  readonly cause: string;
  readonly votes: readonly VoteLine[];
  /** The votes of the round that closed it. */
  readonly closingVotes: readonly VoteLine[] | null;
}

export function voteTable(votes: readonly Vote[]): readonly VoteLine[] {
  return votes.map(({ node, outcome }) => {
    const reason = outcome.status === 'up' ? null : outcome.failure;
    return {
      node: node.name,
      place: [node.city, node.country].filter((part) => part !== '').join(', '),
      status: outcome.status,
      seconds: outcome.seconds,
      address: outcome.address,
      source: reason?.source ?? null,
      code: reason?.code ?? null,
      message: reason?.message ?? null,
    };
  });
}

/** The message that most of the failing nodes gave; the first of them where several are as common. */
export function commonestCause(lines: readonly VoteLine[]): string {
  const counts = new Map<string, number>();
  for (const line of lines) {
    if (line.status === 'down' && line.message !== null) counts.set(line.message, (counts.get(line.message) ?? 0) + 1);
  }
  let cause = 'no node could say why';
  let most = 0;
  for (const [message, count] of counts) if (count > most) [cause, most] = [message, count];
  return cause;
}
