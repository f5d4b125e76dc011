import { singleLine } from '#kernel/text.ts';
import { describeDuration } from '#kernel/units.ts';
import { formatSpan, formatTime } from '#kernel/zoned-time.ts';
import type { MessageKind } from '../judge/delivery.ts';
import { type Incident, isAboutUs, isOwnVote, latestCause, nameInSentences, shownTarget } from '../judge/incident.ts';
import { cells, type ContentCell, type ContentTable } from './content-tables.ts';
import {
  closedInWords,
  type ContentOptions,
  isClosed,
  type MessageContent,
  still,
  subjectOf,
  inTimeZone,
  toneOf,
} from './content.ts';
import { commonCauseOf } from './in-common.ts';
import { type MessagePart, phaseOf } from './message-part.ts';
import type { MessageParts } from './next-message.ts';
import { evidenceOfMany } from './evidence-lines.ts';
import { doubtsOf, lateRemarks, unreachedRemarks, wasInDoubt, withDoubt } from './remarks.ts';

const longestTable = 100;
const namedRest = 400;

/** What a message says about several incidents; `message` is its id. */
export function contentOfMany(
  kind: MessageKind,
  parts: MessageParts,
  options: ContentOptions,
  message: string,
): MessageContent {
  const { zone } = options;
  const sorted = parts
    .map((part) => inTimeZone(zone, part))
    .toSorted((a, b) => a.incident.startedAt - b.incident.startedAt);
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
  const evidence = evidenceOfMany(parts, options);
  const common = commonCauseOf(parts.map(({ incident }) => incident));
  const headline = `${[...said, ...flapping].join(', ')}${common.text}`;
  const acknowledgeable = going.filter(({ incident }) => incident.acknowledged === null);
  const all = acknowledgeable.length === 0 ? null : (options.acknowledgeAllAt?.(message, parts[0].sent) ?? null);
  const rules = unique(parts.map(({ incident }) => `${incident.rule}: ${incident.condition}`));
  return {
    kind,
    tone: going.length === 0 ? 'good' : going.some(({ incident }) => toneOf(incident) === 'bad') ? 'bad' : 'unsure',
    subject: subjectOf(
      wordOf(kind, parts),
      '',
      `${kind === 'digest' ? countInWords(parts, going) : [...said, ...flapping].join(', ')}: ${namesOf(parts)}`,
    ),
    headline,
    ...(evidence.length === 0 ? {} : { evidence }),
    remarks: [
      ...evidence,
      ...doubtsOf(opened, zone),
      ...remarksOf(kind, over),
      ...lateRemarks(going),
      ...unreachedRemarks(parts),
    ],
    facts: [
      ['When', formatSpan(startedAt, lastAt, zone)],
      [rules.length === 1 ? 'Rule' : 'Rules', singleLine(rules.join('; '), 300)],
      ['Severity', unique(parts.map(({ incident }) => incident.severity)).join(', ')],
    ],
    tables: [
      ...(going.length === 0 ? [] : [goingTable(going, common.labels, options)]),
      ...(over.length === 0 ? [] : [overTable(over, common.labels, options)]),
    ],
    link: null,
    ...(all === null ? {} : { acknowledge: all }),
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
    count < fewestFlaps ? [] : [`${singleLine(shownTarget(target), 40)} is flapping (${count} times)`],
  );
}

function countInWords(parts: readonly MessagePart[], going: readonly MessagePart[]): string {
  return `${parts.length} incidents, ${going.length} of them going on`;
}

function remarksOf(kind: MessageKind, over: readonly MessagePart[]): readonly string[] {
  const late = over.filter((part) => part.kind === 'late');
  const trouble = late.map(({ sent }) => sent.lastError).find((error) => error !== null) ?? null;
  return [
    ...(kind === 'digest' ? ['There were too many mails; this one has everything since the last.'] : []),
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
    const { again, was } = incident.wording;
    if (kind === 'closed' || isClosed(incident)) {
      const words = closedInWords(incident);
      return [`is ${words}`, `are ${words}`];
    }
    const past = wasInDoubt(was, incident);
    if (kind === 'late') return [`${past} and is ${again}`, `${many(past)} and are ${again}`];
    return [`is ${again}`, `are ${again}`];
  });
}

function countsOf(
  parts: readonly MessagePart[],
  phrase: (part: MessagePart) => readonly [one: string, many: string],
): string {
  const counts = new Map<string, { one: string; many: string; targets: Map<string, string> }>();
  for (const part of parts) {
    const [one, many] = phrase(part);
    const known = counts.get(many) ?? { one, many, targets: new Map() };
    known.targets.set(part.incident.target, nameInSentences(part.incident));
    counts.set(many, known);
  }
  return [...counts.values()]
    .map(({ one, many, targets }) => {
      const [only] = targets;
      if (targets.size > 1 || only === undefined) return `${targets.size} targets ${many}`;
      const [target, name] = only;
      return isAboutUs(target) ? `${name} ${one}` : `1 target ${one}`;
    })
    .join(', ');
}

const many = (phrase: string) => phrase.replace(/\bis\b/, 'are').replace(/\bwas\b/, 'were');

function namesOf(parts: readonly MessagePart[]): string {
  const names = unique(parts.map(({ incident }) => singleLine(shownTarget(incident.target), 40)));
  const shown = names.slice(0, 5);
  return names.length === shown.length
    ? shown.join(', ')
    : `${shown.join(', ')} and ${names.length - shown.length} more`;
}

function goingTable(parts: readonly MessagePart[], common: IncidentLabels, options: ContentOptions): ContentTable {
  const { zone } = options;
  const columns = ['target', 'state', 'since', 'why'];
  return tableOf('Going on', columns, parts, (part) => [
    targetCell(part.incident, common, options),
    { text: part.incident.wording.word, tone: toneOf(part.incident) },
    ...cells(formatTime(part.incident.startedAt, zone)),
    causeCell(part, latestCause(part.incident), options),
  ]);
}

function overTable(parts: readonly MessagePart[], common: IncidentLabels, options: ContentOptions): ContentTable {
  const columns = ['target', 'state', 'from', 'lasted', 'why'];
  return tableOf('Over', columns, parts, (part) => {
    const { incident, kind, sent, merged } = part;
    const isRemoved = kind === 'closed' || isClosed(incident) || merged.some((one) => one.kind === 'closed');
    const endedAt = incident.endedAt ?? sent.createdAt;
    const lasted = endedAt > incident.startedAt ? describeDuration(endedAt - incident.startedAt) : '-';
    return [
      targetCell(part.incident, common, options),
      { text: isRemoved ? 'CLOSED' : 'RESOLVED', tone: isRemoved ? 'unsure' : 'good' },
      ...cells(formatTime(incident.startedAt, options.zone), lasted),
      causeCell(part, incident.cause, options),
    ];
  });
}

// The target, with its labels and its page.
function targetCell(incident: Incident, common: IncidentLabels, { linkTo }: ContentOptions): ContentCell {
  const labels = otherLabels(incident, common);
  const link = linkTo(incident);
  return {
    text: singleLine(shownTarget(incident.target), 60),
    tone: 'plain',
    ...(labels === '' ? {} : { notes: [labels] }),
    ...(link === null ? {} : { link }),
  };
}

// Why, with the nodes that saw it, and where to acknowledge what goes on.
function causeCell({ incident, sent }: MessagePart, why: string, { acknowledgeAt }: ContentOptions): ContentCell {
  const nodes = nodesInWords(incident);
  const isOpen = incident.endedAt === null && incident.acknowledged === null;
  const acknowledge = isOpen ? (acknowledgeAt?.(incident, sent) ?? null) : null;
  return {
    text: singleLine(why, 120),
    tone: 'plain',
    ...(nodes === '' ? {} : { notes: [nodes] }),
    ...(acknowledge === null ? {} : { acknowledge }),
  };
}

const mostNodes = 4;

/** Which nodes saw it: `3 of 4 nodes: de1, fr1, jp1`. */
function nodesInWords({ votes }: Incident): string {
  const own = votes.filter((vote) => !isOwnVote(vote));
  if (own.length === 0) return '';
  const nodes = own.filter(({ status }) => status === 'down').map(({ node }) => singleLine(node));
  const more = nodes.length - mostNodes;
  const names = [...nodes.slice(0, mostNodes), ...(more > 0 ? [`${more} more`] : [])].join(', ');
  return `${nodes.length} of ${own.length} ${own.length === 1 ? 'node' : 'nodes'}${names === '' ? '' : `: ${names}`}`;
}

type IncidentLabels = Incident['labels'];

// Labels that all have stand in the headline.
function otherLabels({ labels }: Incident, common: IncidentLabels): string {
  const own = Object.entries(labels).filter(([name, value]) => common[name] !== value);
  return singleLine(own.map(([name, value]) => `${name}=${value}`).join(', '), 120);
}

function tableOf(
  title: string,
  columns: readonly string[],
  parts: readonly MessagePart[],
  rowOf: (part: MessagePart) => readonly ContentCell[],
): ContentTable {
  const rest = parts.slice(longestTable);
  const names = rest.map(({ incident }) => singleLine(shownTarget(incident.target), 40)).join(', ');
  return {
    title,
    columns,
    rows: parts.slice(0, longestTable).map(rowOf),
    more: rest.length === 0 ? null : `and ${rest.length} more: ${singleLine(names, namedRest)}`,
  };
}

const unique = (texts: readonly string[]) => [...new Set(texts)];
