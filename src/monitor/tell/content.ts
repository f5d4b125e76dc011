import { singleLine } from '#kernel/text.ts';
import { describeDuration } from '#kernel/units.ts';
import { formatSpan, formatTime } from '#kernel/zoned-time.ts';
import type { MessageKind } from '../judge/delivery.ts';
import type { Incident, VoteLine } from '../judge/incident.ts';
import type { MessagePart } from './message-part.ts';

export interface ContentOptions {
  /** IANA name of the zone that times are told in. */
  readonly zone: string;
  /** The page about an incident, where there is one. */
  readonly linkTo: (incident: Incident) => string | null;
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
  readonly footer: string;
}

const longestSubject = 140;
const longestTable = 40;

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
  ] as const;
  const past = [what, [words.noun, whole], ['Cause', cause], ...common] as const;
  const before = voteTable(`Who saw what when it ${words.began}`, incident.votes);
  const after =
    incident.closingVotes === null ? [] : [voteTable(`Who saw what when it ${words.ended}`, incident.closingVotes)];
  const shared = { kind, link: linkTo(incident), footer: `Incident ${singleLine(incident.id)}`, remarks: [] };

  switch (kind) {
    case 'opened':
      return {
        ...shared,
        tone: 'bad',
        subject: subjectOf(words.word, target, incident.cause, saw),
        headline: `${target} ${words.is}: ${cause}`,
        facts: [what, since, ['Confirmed', formatTime(incident.openedAt, zone)], ...common],
        tables: [voteTable('Who saw what', incident.votes)],
      };
    case 'reminder':
      return {
        ...shared,
        tone: 'bad',
        subject: subjectOf(
          words.word,
          target,
          `${still(words.is).replace(/^is /, '')} after ${lasted}: ${incident.cause}`,
          saw,
        ),
        headline: `${target} ${still(words.is)} after ${lasted}: ${cause}`,
        remarks: [`This is reminder ${sent.number}.`],
        facts: [what, since, ...common],
        tables: [voteTable(`Who saw what when it ${words.began}`, incident.votes)],
      };
    case 'resolved':
      return {
        ...shared,
        tone: 'good',
        subject: subjectOf('RESOLVED', target, `${words.again} after ${lasted}`),
        headline: `${target} is ${words.again} after ${lasted}`,
        facts: past,
        tables: [...after, before, ...turns(incident, zone)],
      };
    case 'closed':
      return {
        ...shared,
        tone: 'unsure',
        subject: subjectOf('CLOSED', target, `no longer monitored; it ${words.was} for ${lasted}`),
        headline: `${target} is no longer monitored; it ${words.was} until then, for ${lasted}`,
        facts: past,
        tables: [before, ...turns(incident, zone)],
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
          `${words.was} ${span}${trouble === null ? '' : '; this mail was delayed'}`,
        ),
        headline: `${target} ${words.was} ${span} and is ${isRemoved ? 'no longer monitored' : words.again}`,
        remarks: delay(trouble),
        facts: past,
        tables: [...after, before, ...turns(incident, zone)],
      };
    }
  }
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

function delay(trouble: string | null): readonly string[] {
  if (trouble === null) return ['It was over before this mail was sent.'];
  return [
    'This mail was delayed: nothing could be delivered before it was over.',
    `The last attempt failed: ${singleLine(trouble)}`,
  ];
}

function votesInWords(votes: readonly VoteLine[]): string {
  if (votes.length < 2) return '';
  return ` (${votes.filter((vote) => vote.status === 'down').length} of ${votes.length} nodes)`;
}

const order: readonly VoteLine['status'][] = ['down', 'unknown', 'up'];
const tones = { down: 'bad', unknown: 'unsure', up: 'good' } as const;
const verdictTones = { ...tones, partial: 'unsure' } as const;

function voteTable(title: string, votes: readonly VoteLine[]): ContentTable {
  const sorted = order.flatMap((status) => votes.filter((vote) => vote.status === status));
  const rest = sorted.slice(longestTable);
  const counts = order.map((status) => [status, rest.filter((vote) => vote.status === status).length] as const);
  const inWords = counts.flatMap(([status, count]) => (count === 0 ? [] : [`${count} ${status}`])).join(', ');
  return {
    title,
    columns: ['node', 'place', 'saw', 'took', 'why'],
    rows: sorted.slice(0, longestTable).map(voteRow),
    more: rest.length === 0 ? null : `and ${rest.length} more: ${inWords}`,
  };
}

function voteRow(vote: VoteLine): readonly ContentCell[] {
  const took = vote.seconds === null ? '-' : formatSeconds(vote.seconds);
  return [
    ...cells(singleLine(vote.node), singleLine(vote.place, 60) || 'unknown place'),
    { text: vote.status, tone: tones[vote.status] },
    ...cells(took, singleLine(vote.message ?? '')),
  ];
}

// How the verdict changed while the incident was open: what does not change needs no table.
function turns({ timeline }: Incident, zone: string): readonly ContentTable[] {
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

/** A measured time for people: `83.4 ms`, `1.25 s`. */
export function formatSeconds(seconds: number): string {
  if (seconds >= 10) return `${seconds.toFixed(1)} s`;
  if (seconds >= 1) return `${seconds.toFixed(2)} s`;
  return `${Number((seconds * 1_000).toPrecision(3))} ms`;
}

/** `is still down`, `still loses packets`, out of `is down` and `loses packets`. */
export function still(is: string): string {
  return is.startsWith('is ') ? `is still ${is.slice(3)}` : `still ${is}`;
}
