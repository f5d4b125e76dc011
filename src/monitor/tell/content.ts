import { describeBudget } from '#history/budget.ts';
import type { BudgetLeft } from '#history/reader.ts';
import { singleLine } from '#kernel/text.ts';
import { describeDuration, formatSeconds } from '#kernel/units.ts';
import { formatSpan, formatTime } from '#kernel/zoned-time.ts';
import type { MessageKind } from '../judge/delivery.ts';
import { type Addressee, type Incident, latestCause, type VoteLine } from '../judge/incident.ts';
import type { Wording } from '../judge/rules/kind.ts';
import type { MessagePart } from './message-part.ts';
import { delay, heldBack, lateness, unreachedInWords } from './remarks.ts';

export interface ContentOptions {
  /** IANA name of the zone that times are told in. */
  readonly zone: string;
  /** The page about an incident, where there is one. */
  readonly linkTo: (incident: Incident) => string | null;
  /** Where somebody can acknowledge an incident, where there is such a page. */
  readonly acknowledgeAt?: ((incident: Incident, to: Addressee) => string | null) | undefined;
  /** The votes of the last round of an open incident's target, where they are known. */
  readonly seenNow?: ((incident: Incident) => readonly VoteLine[] | null) | undefined;
  /** What is left of the budget of an incident's target at this moment; null where it has no objective. */
  readonly budgetOf?: ((incident: Incident) => BudgetLeft | null) | undefined;
}

export type Tone = 'bad' | 'good' | 'unsure' | 'plain';

export interface ContentCell {
  readonly text: string;
  readonly tone: Tone;
}

/** A table; `more` says in words what did not fit. */
export interface ContentTable {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly ContentCell[])[];
  readonly more: string | null;
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
  readonly facts: readonly (readonly [label: string, value: string])[];
  readonly tables: readonly ContentTable[];
  readonly link: string | null;
  /** Where its reader can say that they know, where that can be said. */
  readonly acknowledge?: string;
  readonly footer: string;
}

const longestSubject = 140;
const longestTable = 40;
const mostLater = 5;

/** What a message says about one incident. */
export function contentOf(part: MessagePart, options: ContentOptions): MessageContent {
  const { incident, kind, sent, merged } = part;
  const { zone, linkTo } = options;
  const words = incident.wording;
  const target = singleLine(incident.target, 80);
  const saw = votesInWords(incident.votes);
  const cause = `${singleLine(incident.cause)}${saw}`;
  const isRemoved = incident.closing === 'unwatched' || [sent, ...merged].some((one) => one.kind === 'closed');
  const endedAt = incident.endedAt ?? sent.createdAt;
  const lasted = describeDuration(Math.max(endedAt - incident.startedAt, 0));
  const whole = `${formatTime(incident.startedAt, zone)} to ${formatTime(endedAt, zone)} (${lasted})`;
  const since = ['Since', formatTime(incident.startedAt, zone)] as const;
  const what = ['What', singleLine(incident.subject)] as const;
  const common = [
    ['Rule', `${singleLine(incident.rule)}: ${singleLine(incident.condition)}`],
    ['Severity', incident.severity],
    ...labelsOf(incident),
    ...budgetInWords(options.budgetOf?.(incident) ?? null),
  ] as const;
  const then = laterInWords(incident, zone);
  const past = [what, [words.noun, whole], ['Cause', cause], ...then, ...common] as const;
  const before = voteTables(`Who saw what when it ${words.began}`, incident.votes, words);
  const after = voteTables(`Who saw what when it ${words.ended}`, incident.closingVotes ?? [], words);
  const page = incident.acknowledged === null ? (options.acknowledgeAt?.(incident, sent) ?? null) : null;
  const acknowledge = page === null ? {} : { acknowledge: page };
  const shared = { kind, link: linkTo(incident), footer: footerOf(incident), remarks: unreachedInWords([part]) };

  switch (kind) {
    case 'opened':
      return {
        ...shared,
        ...acknowledge,
        tone: 'bad',
        subject: subjectOf(words.word, target, incident.cause, saw),
        headline: `${target} ${words.is}: ${cause}`,
        facts: [what, since, ['Confirmed', formatTime(incident.openedAt, zone)], ...then, ...common],
        remarks: [...lateness(part), ...shared.remarks],
        tables: voteTables('Who saw what', incident.votes, words),
      };
    case 'update':
      return { ...shared, ...acknowledge, ...updateOf(part), facts: [what, since, beforeUpdate(part), ...common] };
    case 'reminder':
      return {
        ...shared,
        ...acknowledge,
        tone: 'bad',
        subject: subjectOf(
          words.word,
          target,
          `${still(words.is).replace(/^is /, '')} after ${lasted}: ${latestCause(incident)}`,
          saw,
        ),
        headline: `${target} ${still(words.is)} after ${lasted}: ${singleLine(latestCause(incident))}${saw}`,
        remarks: [`This is reminder ${sent.number}.`, ...shared.remarks],
        facts: [what, since, ...common],
        tables: [...voteTables('Who sees what now', options.seenNow?.(incident) ?? [], words), ...before],
      };
    case 'resolved':
      return {
        ...shared,
        tone: 'good',
        subject: subjectOf('RESOLVED', target, `${words.again} after ${lasted}`),
        headline: `${target} is ${words.again} after ${lasted}`,
        facts: past,
        tables: [...after, ...before, ...verdictTable(incident, zone)],
      };
    case 'closed':
      return {
        ...shared,
        tone: 'unsure',
        subject: subjectOf('CLOSED', target, `no longer monitored; it ${words.was} for ${lasted}`),
        headline: `${target} is no longer monitored; it ${words.was} until then, for ${lasted}`,
        facts: past,
        tables: [...before, ...verdictTable(incident, zone)],
      };
    case 'late': {
      const span = formatSpan(incident.startedAt, endedAt, zone);
      const trouble = sent.lastError;
      return {
        ...shared,
        tone: isRemoved ? 'unsure' : 'good',
        subject: subjectOf(
          isRemoved ? 'CLOSED' : 'RESOLVED',
          target,
          `${words.was} ${span}${trouble === null || part.mayBeKnown ? '' : '; this mail was delayed'}`,
        ),
        headline: `${target} ${words.was} ${span} and is ${isRemoved ? 'no longer monitored' : words.again}`,
        remarks: [...heldBack(incident), ...delay(part), ...shared.remarks],
        facts: past,
        tables: [...after, ...before, ...verdictTable(incident, zone)],
      };
    }
  }
}

function updateOf({ incident, sent }: MessagePart): Pick<MessageContent, 'tone' | 'subject' | 'headline' | 'tables'> {
  const { wording, laterCauses } = incident;
  const target = singleLine(incident.target, 80);
  const now = laterCauses.find(({ number }) => number === sent.number)?.cause ?? latestCause(incident);
  return {
    tone: 'bad',
    subject: subjectOf(wording.word, target, `now ${now}`),
    headline: `${target} ${still(wording.is)}, for another reason: ${singleLine(now)}`,
    tables: [],
  };
}

function beforeUpdate({ incident: { cause, laterCauses }, sent }: MessagePart): readonly [string, string] {
  return ['Before', singleLine(laterCauses.findLast(({ number }) => number < sent.number)?.cause ?? cause)];
}

/** One line of at most 140 characters; its end is worth more than the middle of what it says. */
export function subjectOf(word: string, about: string, said: string, end = ''): string {
  const start = `[${word}] ${about}${about === '' ? '' : ': '}`;
  return `${start}${singleLine(said, longestSubject - start.length - end.length)}${end}`;
}

/** `plain` cells of a row. */
export function cells(...texts: readonly string[]): readonly ContentCell[] {
  return texts.map((text) => ({ text, tone: 'plain' }));
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

const order: readonly VoteLine['status'][] = ['down', 'unknown', 'up'];
const tones = { down: 'bad', unknown: 'unsure', up: 'good' } as const;
const verdictTones = { ...tones, partial: 'unsure' } as const;

// No table where nobody voted: an incident of our own has no votes.
function voteTables(title: string, votes: readonly VoteLine[], words: Wording): readonly ContentTable[] {
  if (votes.length === 0) return [];
  const sorted = order.flatMap((status) => votes.filter((vote) => vote.status === status));
  const rest = sorted.slice(longestTable);
  const saw = sightsOf(words);
  const counts = order.map((status) => [status, rest.filter((vote) => vote.status === status).length] as const);
  const inWords = counts.flatMap(([status, count]) => (count === 0 ? [] : [`${count} ${saw[status]}`])).join(', ');
  return [
    {
      title,
      columns: ['node', 'saw', 'why', 'took'],
      rows: sorted.slice(0, longestTable).map((vote) => voteRow(vote, saw)),
      more: rest.length === 0 ? null : `and ${rest.length} more: ${inWords}`,
    },
  ];
}

type Sights = Readonly<Record<VoteLine['status'], string>>;

// A target that is slow, or answers differently, is not down.
function sightsOf({ word }: Wording): Sights {
  return word === 'DOWN'
    ? { down: 'down', up: 'up', unknown: 'unknown' }
    : { down: word.toLowerCase(), up: 'ok', unknown: 'unknown' };
}

function voteRow(vote: VoteLine, saw: Sights): readonly ContentCell[] {
  const took = vote.seconds === null ? '-' : formatSeconds(vote.seconds);
  const place = singleLine(vote.place, 60);
  return [
    ...cells(`${singleLine(vote.node)}${place === '' ? '' : `, ${place}`}`),
    { text: saw[vote.status], tone: tones[vote.status] },
    ...cells(singleLine(vote.message ?? ''), took),
  ];
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
  return endedAt === null ? `Incident ${name}. To say that you know: watchpost ack ${name}` : `Incident ${name}`;
}

// How the verdict changed while the incident was open: what does not change needs no table.
function verdictTable({ timeline }: Incident, zone: string): readonly ContentTable[] {
  if (timeline.length < 2) return [];
  const rows = timeline
    .slice(0, longestTable)
    .map(({ at, status, up, down, unknown }) => [
      ...cells(formatTime(at, zone)),
      { text: status, tone: verdictTones[status] },
      ...cells(String(down), String(up), String(unknown)),
    ]);
  const rest = timeline.length - rows.length;
  const columns = ['from', 'verdict', 'down', 'up', 'unknown'];
  return [{ title: 'How it went', columns, rows, more: rest === 0 ? null : `and ${rest} more` }];
}

/** `is still down`, `still loses packets`, out of `is down` and `loses packets`. */
export function still(is: string): string {
  return is.startsWith('is ') ? `is still ${is.slice(3)}` : `still ${is}`;
}
