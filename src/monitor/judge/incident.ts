import { type FailureCode, type FailureSource, ownNodeName, shownNode } from '#checks/index.ts';
import { singleLine } from '#kernel/text.ts';
import type { Severity } from './rule.ts';
import type { Judgement, RuleWording } from './rules/kind.ts';
import type { VerdictStatus } from './verdict.ts';
import type { Vote } from './vote.ts';

/** Incidents about ourselves: nodes that cannot be trusted or are away, and our own connectivity. No target can have these names. */
export const ownConnectivity = 'own connectivity';
export const ownNode = 'node ';
export const ownAbsentNode = 'absent node ';
export const ownService = 'own check service';
export const ownDatabase = 'own database';
export const ownNats = 'own NATS';
export const ownBacklog = 'own backlog';
export const ownOverload = 'own overload';
export const ownBudget = 'own node budget';
export const ownNodeOverload = 'own node overload';
export const ownClock = 'own clock';
export const ownLeader = 'own hubs';
export const ownHub = 'hub ';

const namesOfOurs: ReadonlyMap<string, string> = new Map([
  [ownConnectivity, 'network connectivity'],
  [ownService, 'check service'],
  [ownDatabase, 'Watchpost database'],
  [ownNats, 'Watchpost NATS'],
  [ownBacklog, 'Watchpost'],
  [ownOverload, 'Watchpost'],
  [ownBudget, 'nodes'],
  [ownNodeOverload, 'nodes'],
  [ownClock, 'system clock'],
  [ownLeader, 'hubs'],
]);

/** Whether a target of this name is one of ours. */
export function isAboutUs(target: string): boolean {
  return namesOfOurs.has(target) || [ownHub, ownNode, ownAbsentNode].some((start) => target.startsWith(start));
}

/** The name of a target as people read it, for example `Watchpost` for `own overload`: ours have names that say which incident it is. */
export function shownTarget(target: string): string {
  return (
    namesOfOurs.get(target) ??
    (target.startsWith(ownAbsentNode) ? ownNode + target.slice(ownAbsentNode.length) : target)
  );
}

/** What sentences about an incident begin with: its target, or what it is about if that is ours. */
export function nameInSentences({ target, subject }: Pick<Incident, 'target' | 'subject'>): string {
  return isAboutUs(target) ? singleLine(subject) : singleLine(target, 80);
}

/** The same at the beginning of a sentence: names of targets stay as they are. */
export function sentenceStart(incident: Pick<Incident, 'target' | 'subject'>): string {
  const name = nameInSentences(incident);
  return isAboutUs(incident.target) ? `${name.charAt(0).toUpperCase()}${name.slice(1)}` : name;
}

/** How Watchpost itself is called as a voter: it votes on what calls it. */
const ownVoter = shownNode(ownNodeName);

/** Whether Watchpost itself voted, also in an incident of an earlier version. */
export function isOwnVote({ node }: Pick<VoteLine, 'node'>): boolean {
  return node === ownVoter || node === ownNodeName;
}

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

/** A round whose verdict was another one than that of the round before. */
export interface VerdictChange {
  readonly at: number;
  readonly status: VerdictStatus;
  readonly up: number;
  readonly down: number;
  readonly unknown: number;
}

/** Another reason than before, while the incident is open. */
export interface LaterCause {
  /** Counts them, from 1. */
  readonly number: number;
  readonly at: number;
  readonly code: FailureCode;
  readonly cause: string;
}

/** An address behind a channel. */
export interface RecipientAddress {
  readonly channel: string;
  readonly recipient: string;
}

/**
 * Why the notification that an incident began is suppressed. Nothing else is ever suppressed: checks, history and the end of a
 * notified incident are not.
 */
export interface Suppression {
  readonly by: 'maintenance' | 'silence' | 'dependency' | 'connectivity' | 'outage' | 'service';
  /** In words: `maintenance until 2026-01-01 04:00:00 UTC`. */
  readonly why: string;
  /** True if it is suppressed only until another target was checked: its observations count as soon as that is done. */
  readonly untilLook?: true | undefined;
  /** The failing rounds since the reason has gone, if it has: as many as the rule asks for are needed before the notification. */
  readonly cleared?: { readonly since: number; readonly rounds: number } | undefined;
  /** Since when only a doubt about ourselves holds it back, which has a limit; absent while something else explains it. */
  readonly since?: number | undefined;
}

/** What else may be wrong than the target, in an incident that was notified before that was known. */
export interface StatedDoubt {
  /** The alternative, in words that follow "or": `this Watchpost is cut off`. */
  readonly or: string;
  /** Why that is possible: `no other target has been seen up`. */
  readonly why: string;
  /** Since when, in milliseconds since the epoch; null if it has no time. */
  readonly since: number | null;
}

/** Why an incident is not evaluated any more: its target is gone, or only its rule is. */
export type ClosureReason = 'unwatched' | 'rule_removed';

/** A rule that holds for a target, from its first failing round to its recovery, with all notifications about it. */
export interface Incident {
  readonly id: string;
  readonly target: string;
  readonly rule: string;
  readonly severity: Severity;
  /** How it is called: `DOWN`, "is down", "is up again". */
  readonly wording: RuleWording;
  /** What is checked, in words: `http https://shop.example.com/health`. */
  readonly subject: string;
  /** The labels of its target when it opened. */
  readonly labels: Readonly<Record<string, string>>;
  /** What the rule was, in words. */
  readonly condition: string;
  /** The first failing round. */
  readonly startedAt: number;
  /** The round that opened it. */
  readonly openedAt: number;
  /** The first good round, or when it stopped to be watched, or null while it is open. */
  readonly endedAt: number | null;
  /** How it ended, or null while it is open. */
  readonly closing: 'recovered' | ClosureReason | null;
  /** The commonest failure of the round that opened it. */
  readonly cause: string;
  /** What was wrong with a target that calls after that, if it was something else; the newest if there are many. */
  readonly laterCauses: readonly LaterCause[];
  readonly votes: readonly VoteLine[];
  /** The votes of the round that closed it. */
  readonly closingVotes: readonly VoteLine[] | null;
  /** How the verdict went from the round that opened it on; the first changes if there are many. */
  readonly timeline: readonly VerdictChange[];
  /** Why its beginning is not notified yet; null if it was, or would have been with any recipient. */
  readonly held: Suppression | null;
  /** The recipients that were notified that it began, and will be notified of its end; null if that was not noted. */
  readonly notified: readonly RecipientAddress[] | null;
  /** Why it was notified later than it opened, in words that follow "for"; null if it was notified at once, or not at all. */
  readonly lateReason: string | null;
  /** What was in doubt when it was notified; absent if nothing was. */
  readonly doubt?: StatedDoubt | undefined;
  /** Acknowledge: no more is said until it is over. */
  readonly acknowledged: { readonly at: number; readonly why: string } | null;
}

/** What is wrong now, or was last. */
export function latestCause({ cause, laterCauses }: Pick<Incident, 'cause' | 'laterCauses'>): string {
  return laterCauses.at(-1)?.cause ?? cause;
}

/** The votes of a round as a table; if a rule made something else of them, with what it made of each. */
export function voteTable(votes: readonly Vote[], judgements: readonly Judgement[] = []): readonly VoteLine[] {
  return votes.map(({ node, outcome }, index) => {
    const reason = outcome.status === 'up' ? null : outcome.failure;
    const judged = judgements[index];
    return {
      node: shownNode(node.name),
      place: [node.city, node.country].filter((part) => part !== '').join(', '),
      status: judged?.status ?? outcome.status,
      seconds: outcome.seconds,
      address: outcome.address,
      source: reason?.source ?? null,
      code: reason?.code ?? null,
      message: judged === undefined ? (reason?.message ?? null) : judged.message,
    };
  });
}

/** The message that most of the failing nodes gave; the first of them if several are as common. */
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

const mostVerdictChanges = 50;
const mostCauses = 20;

/** The incident with what is wrong since a round, if that is of another sort than before; otherwise null. */
export function withLaterCause(incident: Incident, lines: readonly VoteLine[], at: number): Incident | null {
  const { votes, laterCauses } = incident;
  const codeOf = (table: readonly VoteLine[]) => table.find(({ status }) => status === 'down')?.code ?? null;
  const code = codeOf(lines);
  const last = laterCauses.at(-1);
  if (code === null || code === (last?.code ?? codeOf(votes))) return null;
  const next = { number: (last?.number ?? 0) + 1, at, code, cause: commonestCause(lines) };
  return { ...incident, laterCauses: [...laterCauses, next].slice(-mostCauses) };
}

/** The timeline with a verdict added if it is another one than the last; the same list if it is not, or where it is full. */
export function withVerdictChange(timeline: readonly VerdictChange[], change: VerdictChange): readonly VerdictChange[] {
  if (timeline.at(-1)?.status === change.status || timeline.length >= mostVerdictChanges) return timeline;
  return [...timeline, change];
}
