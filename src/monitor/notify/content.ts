import { describeBudget } from '#history/budget.ts';
import type { BudgetLeft } from '#history/reader.ts';
import { shellWord, singleLine } from '#kernel/text.ts';
import { describeDuration } from '#kernel/units.ts';
import { formatSpan, formatTime, timesInZone } from '#kernel/zoned-time.ts';
import type { MessageKind } from '../judge/delivery.ts';
import {
  type RecipientAddress,
  type Incident,
  latestCause,
  sentenceStart,
  shownTarget,
  type VoteLine,
} from '../judge/incident.ts';
import { type EvidenceReader, evidenceOf } from './evidence-lines.ts';
import { type ContentTable, type Tone, verdictTable, voteTables } from './content-tables.ts';
import type { MessagePart } from './message-part.ts';
import { delay, doubtsOf, suppressionRemarks, lateness, unreachedRemarks, wasInDoubt, withDoubt } from './remarks.ts';

export type { ContentTable, Tone } from './content-tables.ts';

export interface ContentOptions {
  /** IANA name of the time zone of the message. */
  readonly zone: string;
  /** The page about an incident, if there is one. */
  readonly linkTo: (incident: Incident) => string | null;
  /** The acknowledgement page of an incident, if there is one. */
  readonly acknowledgeAt?: ((incident: Incident, to: RecipientAddress) => string | null) | undefined;
  /** The acknowledgement page of all incidents of a message, if there is one. */
  readonly acknowledgeAllAt?: ((message: string, to: RecipientAddress) => string | null) | undefined;
  /** The votes of the last round of an open incident's target, if they are known. */
  readonly seenNow?: ((incident: Incident) => readonly VoteLine[] | null) | undefined;
  /** What evidence says of the cause of an incident, in sentences, as far as it is known by now. */
  readonly evidenceOf?: EvidenceReader | undefined;
  /** What is left of the budget of an incident's target at this moment; null if it has no objective. */
  readonly budgetOf?: ((incident: Incident) => BudgetLeft | null) | undefined;
  /** What this hub says of itself in every message at this moment, a sentence; null if nothing. */
  readonly hubRemark?: (() => string | null) | undefined;
}

/** Everything that a message says, as plain single lines: text and HTML are two ways to write it down. */
export interface MessageContent {
  readonly kind: MessageKind;
  readonly tone: Tone;
  readonly subject: string;
  /** The first sentence of the body. */
  readonly headline: string;
  /** Sentences below it. */
  readonly remarks: readonly string[];
  /** What evidence says of the cause; the remarks begin with it. Absent if there is none. */
  readonly evidence?: readonly string[];
  readonly facts: readonly (readonly [label: string, value: string])[];
  readonly tables: readonly ContentTable[];
  readonly link: string | null;
  /** Where its reader can say that they know, where that can be said. */
  readonly acknowledge?: string;
  readonly footer: string;
}

const longestSubject = 140;
const mostLater = 5;

/** What a message says about one incident. */
export function contentOf(whole: MessagePart, options: ContentOptions): MessageContent {
  const content = plainContentOf(whole, options);
  const evidence = evidenceOf(whole.incident, options);
  return evidence.length === 0 ? content : { ...content, evidence, remarks: [...evidence, ...content.remarks] };
}

function plainContentOf(whole: MessagePart, options: ContentOptions): MessageContent {
  const { zone, linkTo } = options;
  const part = inTimeZone(zone, whole);
  const { incident, kind, sent, merged } = part;
  const tone = toneOf(incident);
  const words = incident.wording;
  const target = singleLine(shownTarget(incident.target), 80);
  const name = sentenceStart(incident);
  const saw = votesInWords(incident.votes);
  const cause = `${singleLine(incident.cause)}${saw}`;
  const isRemoved = isClosed(incident) || [sent, ...merged].some((one) => one.kind === 'closed');
  const endedAt = incident.endedAt ?? sent.createdAt;
  // Without a length if the clock was set back meanwhile.
  const isMeasured = endedAt > incident.startedAt;
  const lasted = describeDuration(Math.max(endedAt - incident.startedAt, 0));
  const [afterTime, long] = isMeasured ? [` after ${lasted}`, ` (${lasted})`] : ['', ''];
  const span = `${formatTime(incident.startedAt, zone)} to ${formatTime(endedAt, zone)}${long}`;
  const since = ['Since', formatTime(incident.startedAt, zone)] as const;
  const what = ['What', singleLine(incident.subject)] as const;
  const common = [
    ['Rule', `${singleLine(incident.rule)}: ${singleLine(incident.condition)}`],
    ['Severity', incident.severity],
    ...labelsOf(incident),
    ...budgetInWords(options.budgetOf?.(incident) ?? null),
  ] as const;
  const then = laterInWords(incident, zone);
  const past = [what, [words.noun, span], ['Cause', cause], ...then, ...common] as const;
  const before = voteTables(`Who saw what when it ${words.began}`, incident.votes, words);
  const after = voteTables(`Who saw what when it ${words.ended}`, incident.closingVotes ?? [], words);
  const page = incident.acknowledged === null ? (options.acknowledgeAt?.(incident, sent) ?? null) : null;
  const acknowledge = page === null ? {} : { acknowledge: page };
  const shared = { kind, link: linkTo(incident), footer: footerOf(incident), remarks: unreachedRemarks([part]) };

  switch (kind) {
    case 'opened':
      return {
        ...shared,
        ...acknowledge,
        tone,
        subject: subjectOf(words.word, target, incident.cause, withDoubt(saw, incident)),
        headline: factOf(incident) ?? `${name} ${withDoubt(words.is, incident)}: ${cause}`,
        facts: [what, since, ['Confirmed', formatTime(incident.openedAt, zone)], ...then, ...common],
        remarks: [...doubtsOf([incident], zone), ...lateness(part), ...shared.remarks],
        tables: voteTables('Who saw what', incident.votes, words),
      };
    case 'update':
      return { ...shared, ...acknowledge, ...updateOf(part), facts: [what, since, beforeUpdate(part), ...common] };
    case 'reminder':
      return {
        ...shared,
        ...acknowledge,
        tone,
        subject: subjectOf(
          words.word,
          target,
          `${still(words.is).replace(/^is /, '')}${afterTime}: ${latestCause(incident)}`,
          saw,
        ),
        headline: `${name} ${still(words.is)}${afterTime}: ${singleLine(latestCause(incident))}${saw}`,
        remarks: [`This is reminder ${sent.number}.`, ...shared.remarks],
        facts: [what, since, ...common],
        tables: [...voteTables('Who sees what now', options.seenNow?.(incident) ?? [], words), ...before],
      };
    case 'resolved':
      return {
        ...shared,
        tone: 'good',
        subject: subjectOf('RESOLVED', target, `${words.again}${afterTime}`),
        headline: `${name} is ${words.again}${afterTime}`,
        facts: past,
        tables: [...after, ...before, ...verdictTable(incident, zone)],
      };
    case 'closed':
      return {
        ...shared,
        tone: 'unsure',
        subject: subjectOf('CLOSED', target, `${closedInWords(incident)}; it ${words.was} for ${lasted}`),
        headline: `${name} is ${closedInWords(incident)}; it ${words.was} until then, for ${lasted}`,
        facts: past,
        tables: [...before, ...verdictTable(incident, zone)],
      };
    case 'late': {
      const between = formatSpan(incident.startedAt, endedAt, zone);
      const trouble = sent.lastError;
      const was = wasInDoubt(words.was, incident);
      return {
        ...shared,
        tone: isRemoved ? 'unsure' : 'good',
        subject: subjectOf(
          isRemoved ? 'CLOSED' : 'RESOLVED',
          target,
          `${was} ${between}${trouble === null || part.mayBeKnown ? '' : '; this mail was delayed'}`,
        ),
        headline: `${name} ${was} ${between} and is ${isRemoved ? closedInWords(incident) : words.again}`,
        remarks: [...suppressionRemarks(incident), ...delay(part), ...shared.remarks],
        facts: past,
        tables: [...after, ...before, ...verdictTable(incident, zone)],
      };
    }
  }
}

/** Whether nothing looked after the incident any more when it ended. */
export function isClosed({ closing }: Incident): boolean {
  return closing !== null && closing !== 'recovered';
}

/** What follows "is": that it is not monitored, or not by the rule of the incident. */
export function closedInWords({ closing, rule }: Incident): string {
  return closing === 'rule_removed'
    ? `no longer monitored by the rule "${singleLine(rule, 60)}"`
    : 'no longer monitored';
}

function updateOf({ incident, sent }: MessagePart): Pick<MessageContent, 'tone' | 'subject' | 'headline' | 'tables'> {
  const { wording, laterCauses } = incident;
  const target = singleLine(shownTarget(incident.target), 80);
  const name = sentenceStart(incident);
  const now = laterCauses.find(({ number }) => number === sent.number)?.cause ?? latestCause(incident);
  return {
    tone: toneOf(incident),
    subject: subjectOf(wording.word, target, `now ${now}`),
    headline: `${name} ${still(wording.is)}, for another reason: ${singleLine(now)}`,
    tables: [],
  };
}

function beforeUpdate({ incident: { cause, laterCauses }, sent }: MessagePart): readonly [string, string] {
  return ['Before', singleLine(laterCauses.findLast(({ number }) => number < sent.number)?.cause ?? cause)];
}

/** A part with the times in its causes in a time zone. */
export function inTimeZone(zone: string, part: MessagePart): MessagePart {
  const { incident, sent } = part;
  const inZone = (text: string) => timesInZone(text, zone, sent.createdAt);
  const votesIn = (votes: readonly VoteLine[]) =>
    votes.map((vote) => (vote.message === null ? vote : { ...vote, message: inZone(vote.message) }));
  return {
    ...part,
    incident: {
      ...incident,
      cause: inZone(incident.cause),
      laterCauses: incident.laterCauses.map((one) => ({ ...one, cause: inZone(one.cause) })),
      votes: votesIn(incident.votes),
      closingVotes: incident.closingVotes === null ? null : votesIn(incident.closingVotes),
    },
  };
}

/** Red is for what is down, or as bad as that; what is slow or unknown is neither. */
export function toneOf({ wording, severity }: Pick<Incident, 'wording' | 'severity'>): Tone {
  if (wording.word === 'DOWN') return 'bad';
  return severity === 'critical' && !mild.has(wording.word) ? 'bad' : 'unsure';
}

const mild: ReadonlySet<string> = new Set(['SLOW', 'UNKNOWN']);

const jobCodes: ReadonlySet<string | null> = new Set(['late', 'unfinished', 'exit']);

// What is wrong with a job is a sentence by itself: "backup is late: no ping since 18:29".
function factOf({ target, votes, cause }: Incident): string | null {
  if (!votes.some(({ code }) => jobCodes.has(code))) return null;
  return `${singleLine(target, 80)} ${cause.startsWith('late: ') ? 'is ' : ''}${singleLine(cause)}`;
}

/** One line of at most 140 characters; its end is worth more than the middle of what it says. */
export function subjectOf(word: string, about: string, said: string, end = ''): string {
  const start = `[${word}] ${about}${about === '' ? '' : ': '}`;
  return `${start}${singleLine(said, longestSubject - start.length - end.length)}${end}`;
}

// The newest last, as they came.
function laterInWords({ laterCauses }: Incident, zone: string): readonly (readonly [string, string])[] {
  return laterCauses
    .slice(-mostLater)
    .map(({ at, cause }) => ['Then', `${singleLine(cause)}, at ${formatTime(at, zone)}`] as const);
}

function votesInWords(votes: readonly VoteLine[]): string {
  if (votes.length < 2) return '';
  return ` (${votes.filter((vote) => vote.status === 'down').length} of ${votes.length} nodes)`;
}

function labelsOf({ labels }: Incident): readonly (readonly [string, string])[] {
  const written = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  return written.length === 0 ? [] : [['Labels', singleLine(written.join(', '), 300)]];
}

function budgetInWords(budget: BudgetLeft | null): readonly (readonly [string, string])[] {
  return budget === null ? [] : [['Error budget', describeBudget(budget)]];
}

function footerOf({ id, endedAt }: Incident): string {
  const name = singleLine(id);
  return endedAt === null
    ? `Incident ${name}. To say that you know: watchpost ack ${shellWord(name)}`
    : `Incident ${name}`;
}

/** `is still down`, `still loses packets`, out of `is down` and `loses packets`. */
export function still(is: string): string {
  return is.startsWith('is ') ? `is still ${is.slice(3)}` : `still ${is}`;
}
