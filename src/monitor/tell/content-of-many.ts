import { singleLine } from '#kernel/text.ts';
import { describeDuration } from '#kernel/units.ts';
import { formatSpan, formatTime } from '#kernel/zoned-time.ts';
import type { MessageKind } from '../judge/delivery.ts';
import { isAboutUs, latestCause } from '../judge/incident.ts';
import {
  cells,
  type ContentCell,
  type ContentOptions,
  type ContentTable,
  type MessageContent,
  still,
  subjectOf,
} from './content.ts';
import { type MessagePart, phaseOf } from './message-part.ts';
import type { MessageParts } from './next-message.ts';
import { doubtsOf, unreachedInWords, wasInDoubt, withDoubt } from './remarks.ts';

const longestTable = 100;
const namedRest = 400;

/** What a message says about several incidents. */
export function contentOfMany(kind: MessageKind, parts: MessageParts, { zone }: ContentOptions): MessageContent {
  const sorted = parts.toSorted((a, b) => a.incident.startedAt - b.incident.startedAt);
  const going = sorted.filter((part) => phaseOf(part.kind) !== 'over');
  const over = sorted.filter((part) => phaseOf(part.kind) === 'over');
  const said = [
    ...(going.length === 0 ? [] : [goingInWords(going)]),
    ...(over.length === 0 ? [] : [overInWords(over)]),
  ];
  const flapping = flappingInWords(sorted);
  const opened = going.filter((part) => part.kind === 'opened').map(({ incident }) => incident);
  const startedAt = Math.min(...parts.map(({ incident }) => incident.startedAt));
  const lastAt = Math.max(...parts.map(({ incident }) => incident.endedAt ?? incident.openedAt));
  const rules = unique(parts.map(({ incident }) => `${incident.rule}: ${incident.condition}`));
  return {
    kind,
    tone: going.length > 0 ? 'bad' : 'good',
    subject: subjectOf(
      wordOf(kind, parts),
      '',
      `${kind === 'digest' ? countInWords(parts, going) : [...said, ...flapping].join(', ')}: ${namesOf(parts)}`,
    ),
    headline: [...said, ...flapping].join(', '),
    remarks: [...doubtsOf(opened, zone), ...remarksOf(kind, over), ...unreachedInWords(parts)],
    facts: [
      ['Between', formatSpan(startedAt, lastAt, zone)],
      [rules.length === 1 ? 'Rule' : 'Rules', singleLine(rules.join('; '), 300)],
      ['Severity', unique(parts.map(({ incident }) => incident.severity)).join(', ')],
    ],
    tables: [
      ...(going.length === 0 ? [] : [goingTable(going, zone)]),
      ...(over.length === 0 ? [] : [overTable(over, zone)]),
    ],
    link: null,
    footer: `${parts.length} incidents in one mail`,
  };
}

function wordOf(kind: MessageKind, parts: MessageParts): string {
  if (kind === 'digest') return 'DIGEST';
  if (kind === 'closed') return 'CLOSED';
  if (kind === 'resolved' || kind === 'late') return 'RESOLVED';
  const words = unique(parts.map(({ incident }) => incident.wording.word));
  return words.length === 1 ? (words[0] ?? 'ALERT') : 'ALERT';
}

const fewestFlaps = 3;

// One target that went down and came back again and again is one target, not as many outages as it had.
function flappingInWords(parts: readonly MessagePart[]): readonly string[] {
  const times = new Map<string, number>();
  for (const { incident } of parts) times.set(incident.target, (times.get(incident.target) ?? 0) + 1);
  return [...times].flatMap(([target, count]) =>
    count < fewestFlaps ? [] : [`${singleLine(target, 40)} is flapping (${count} times)`],
  );
}

function countInWords(parts: readonly MessagePart[], going: readonly MessagePart[]): string {
  return `${parts.length} incidents, ${going.length} of them going on`;
}

function remarksOf(kind: MessageKind, over: readonly MessagePart[]): readonly string[] {
  const late = over.filter((part) => part.kind === 'late');
  const trouble = late.map(({ sent }) => sent.lastError).find((error) => error !== null) ?? null;
  return [
    ...(kind === 'digest' ? ['There were too many mails: this one tells everything since the last at once.'] : []),
    ...(kind === 'reminder' ? ['This is a reminder.'] : []),
    ...(trouble === null ? [] : [`Some of this could not be delivered in time: ${singleLine(trouble)}`]),
  ];
}

// Those that are alike are counted together: `197 are down, 3 are slow`.
function goingInWords(parts: readonly MessagePart[]): string {
  return countsOf(parts, (part) => {
    const { is } = part.incident.wording;
    const plain = part.kind === 'reminder' ? still(is) : part.kind === 'update' ? `${is} for another reason` : is;
    const phrase = part.kind === 'opened' ? withDoubt(plain, part.incident) : plain;
    return [phrase, many(phrase)];
  });
}

function overInWords(parts: readonly MessagePart[]): string {
  return countsOf(parts, ({ kind, incident }) => {
    const { closing, wording } = incident;
    const { again, was } = wording;
    if (kind === 'closed' || closing === 'unwatched') return ['is no longer monitored', 'are no longer monitored'];
    const past = wasInDoubt(was, incident);
    if (kind === 'late') return [`${past} and is ${again}`, `${many(past)} and are ${again}`];
    return [`is ${again}`, `are ${again}`];
  });
}

function countsOf(
  parts: readonly MessagePart[],
  phrase: (part: MessagePart) => readonly [one: string, many: string],
): string {
  const counts = new Map<string, { one: string; many: string; targets: Set<string> }>();
  for (const part of parts) {
    const [one, many] = phrase(part);
    const known = counts.get(many) ?? { one, many, targets: new Set() };
    known.targets.add(part.incident.target);
    counts.set(many, known);
  }
  return [...counts.values()]
    .map(({ one, many, targets }) => {
      const [only] = targets;
      if (targets.size > 1 || only === undefined) return `${targets.size} targets ${many}`;
      return isAboutUs(only) ? `${only} ${one}` : `1 target ${one}`;
    })
    .join(', ');
}

const many = (phrase: string) => phrase.replace(/\bis\b/, 'are').replace(/\bwas\b/, 'were');

function namesOf(parts: readonly MessagePart[]): string {
  const names = unique(parts.map(({ incident }) => singleLine(incident.target, 40)));
  const shown = names.slice(0, 5);
  return names.length === shown.length
    ? shown.join(', ')
    : `${shown.join(', ')} and ${names.length - shown.length} more`;
}

function goingTable(parts: readonly MessagePart[], zone: string): ContentTable {
  return tableOf('Going on', ['target', 'state', 'since', 'why'], parts, ({ incident }) => [
    ...cells(singleLine(incident.target, 60)),
    { text: incident.wording.word, tone: 'bad' },
    ...cells(formatTime(incident.startedAt, zone), singleLine(latestCause(incident), 120)),
  ]);
}

function overTable(parts: readonly MessagePart[], zone: string): ContentTable {
  return tableOf('Over', ['target', 'state', 'from', 'lasted', 'why'], parts, ({ incident, kind, sent, merged }) => {
    const isRemoved =
      kind === 'closed' || incident.closing === 'unwatched' || merged.some((one) => one.kind === 'closed');
    const endedAt = incident.endedAt ?? sent.createdAt;
    const lasted = describeDuration(Math.max(endedAt - incident.startedAt, 0));
    return [
      ...cells(singleLine(incident.target, 60)),
      { text: isRemoved ? 'CLOSED' : 'RESOLVED', tone: isRemoved ? 'unsure' : 'good' },
      ...cells(formatTime(incident.startedAt, zone), lasted, singleLine(incident.cause, 120)),
    ];
  });
}

function tableOf(
  title: string,
  columns: readonly string[],
  parts: readonly MessagePart[],
  rowOf: (part: MessagePart) => readonly ContentCell[],
): ContentTable {
  const rest = parts.slice(longestTable);
  const names = rest.map(({ incident }) => singleLine(incident.target, 40)).join(', ');
  return {
    title,
    columns,
    rows: parts.slice(0, longestTable).map(rowOf),
    more: rest.length === 0 ? null : `and ${rest.length} more: ${singleLine(names, namedRest)}`,
  };
}

const unique = (texts: readonly string[]) => [...new Set(texts)];
