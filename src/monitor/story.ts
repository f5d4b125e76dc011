import { singleLine } from '#kernel/text.ts';
import { describeDuration, formatSeconds } from '#kernel/units.ts';
import { formatSpan, formatTime } from '#kernel/zoned-time.ts';
import type { Incident, VoteLine } from './incident.ts';
import type { MessageKind } from './ports.ts';

export interface StoryOptions {
  /** IANA name of the zone that times are told in. */
  readonly zone: string;
  /** The page about an incident, where there is one. */
  readonly linkTo: (incident: Incident) => string | null;
}

/** A table of what each node saw; `more` says in words what did not fit. */
export interface StoryTable {
  readonly title: string;
  readonly rows: readonly StoryRow[];
  readonly more: string | null;
}

interface StoryRow {
  readonly node: string;
  readonly place: string;
  readonly saw: VoteLine['status'];
  readonly took: string;
  readonly why: string;
}

/** Everything that a message says, as plain single lines: text and HTML are two ways to write it down. */
export interface Story {
  readonly kind: MessageKind;
  readonly subject: string;
  /** The first sentence of the body. */
  readonly headline: string;
  /** Sentences below it. */
  readonly remarks: readonly string[];
  readonly facts: readonly (readonly [label: string, value: string])[];
  readonly tables: readonly StoryTable[];
  readonly link: string | null;
  readonly footer: string;
}

const longestSubject = 140;
const longestTable = 40;

// The word in the subject, by what the message tells; a beginning is called what the rule calls it.
const words = { resolved: 'RESOLVED', closed: 'CLOSED', late: 'RESOLVED' } as const;

/** What a message says about an incident. `trouble` is why it is late, where that is known. */
export function tell(kind: MessageKind, incident: Incident, trouble: string | null, options: StoryOptions): Story {
  const { zone, linkTo } = options;
  const target = singleLine(incident.target, 80);
  const saw = votesInWords(incident.votes);
  const cause = `${singleLine(incident.cause)}${saw}`;
  const endedAt = incident.endedAt ?? incident.openedAt;
  const lasted = describeDuration(Math.max(endedAt - incident.startedAt, 0));
  const span = formatSpan(incident.startedAt, endedAt, zone);
  const whole = `${formatTime(incident.startedAt, zone)} to ${formatTime(endedAt, zone)} (${lasted})`;
  const what = ['What', singleLine(incident.subject)] as const;
  const common = [
    ['Rule', `${singleLine(incident.rule)}: ${singleLine(incident.condition)}`],
    ['Severity', incident.severity],
  ] as const;
  const before = table(`Who saw what when it ${incident.wording.began}`, incident.votes);
  const after =
    incident.closingVotes === null
      ? []
      : [table(`Who saw what when it ${incident.wording.ended}`, incident.closingVotes)];
  const shared = { kind, link: linkTo(incident), footer: `Incident ${singleLine(incident.id)}`, remarks: [] };

  switch (kind) {
    case 'opened':
      return {
        ...shared,
        subject: subjectOf(incident.wording.word, target, incident.cause, saw),
        headline: `${target} ${incident.wording.is}: ${cause}`,
        facts: [
          what,
          ['Since', formatTime(incident.startedAt, zone)],
          ['Confirmed', formatTime(incident.openedAt, zone)],
          ...common,
        ],
        tables: [table('Who saw what', incident.votes)],
      };
    case 'resolved':
      return {
        ...shared,
        subject: subjectOf(words[kind], target, `${incident.wording.again} after ${lasted}`),
        headline: `${target} is ${incident.wording.again} after ${lasted}`,
        facts: [what, [incident.wording.noun, whole], ['Cause', cause], ...common],
        tables: [...after, before],
      };
    case 'closed':
      return {
        ...shared,
        subject: subjectOf(words[kind], target, `no longer monitored; it ${incident.wording.was} for ${lasted}`),
        headline: `${target} is no longer monitored; it ${incident.wording.was} until then, for ${lasted}`,
        facts: [what, [incident.wording.noun, whole], ['Cause', cause], ...common],
        tables: [before],
      };
    case 'late':
      return {
        ...shared,
        subject: subjectOf(words[kind], target, `${incident.wording.was} ${span}; this mail was delayed`),
        headline: `${target} ${incident.wording.was} ${span} and is ${incident.wording.again}`,
        remarks: [
          'This mail was delayed: nothing could be delivered before it was over.',
          ...(trouble === null ? [] : [`The last attempt failed: ${singleLine(trouble)}`]),
        ],
        facts: [what, [incident.wording.noun, whole], ['Cause', cause], ...common],
        tables: [...after, before],
      };
  }
}

// The end of a subject is worth more than the middle of a long cause.
function subjectOf(word: string, target: string, said: string, end = ''): string {
  const start = `[${word}] ${target}: `;
  return `${start}${singleLine(said, longestSubject - start.length - end.length)}${end}`;
}

function votesInWords(votes: readonly VoteLine[]): string {
  if (votes.length < 2) return '';
  return ` (${votes.filter((vote) => vote.status === 'down').length} of ${votes.length} nodes)`;
}

const order: readonly VoteLine['status'][] = ['down', 'unknown', 'up'];

function table(title: string, votes: readonly VoteLine[]): StoryTable {
  const sorted = order.flatMap((status) => votes.filter((vote) => vote.status === status));
  const rest = sorted.slice(longestTable);
  const counts = order.map((status) => [status, rest.filter((vote) => vote.status === status).length] as const);
  const inWords = counts.flatMap(([status, count]) => (count === 0 ? [] : [`${count} ${status}`])).join(', ');
  return {
    title,
    rows: sorted.slice(0, longestTable).map(rowOf),
    more: rest.length === 0 ? null : `and ${rest.length} more: ${inWords}`,
  };
}

function rowOf(vote: VoteLine): StoryRow {
  return {
    node: singleLine(vote.node),
    place: singleLine(vote.place, 60) || 'unknown place',
    saw: vote.status,
    took: vote.seconds === null ? '-' : formatSeconds(vote.seconds),
    why: singleLine(vote.message ?? ''),
  };
}
