import { singleLine } from '#kernel/text.ts';
import { formatSeconds } from '#kernel/units.ts';
import { formatTime } from '#kernel/zoned-time.ts';
import { type Incident, isOwnVote, type VoteLine } from '../judge/incident.ts';
import type { RuleWording } from '../judge/rules/kind.ts';

export type Tone = 'bad' | 'good' | 'unsure' | 'plain';

export interface ContentCell {
  readonly text: string;
  readonly tone: Tone;
  /** Short texts to stand below it. */
  readonly notes?: readonly string[];
  /** The page about what the cell names. */
  readonly link?: string;
  /** Where the reader can acknowledge the incident that the cell names. */
  readonly acknowledge?: string;
}

/** A table; `more` says in words what did not fit. */
export interface ContentTable {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly ContentCell[])[];
  readonly more: string | null;
}

const longestTable = 40;

/** `plain` cells of a row. */
export function cells(...texts: readonly string[]): readonly ContentCell[] {
  return texts.map((text) => ({ text, tone: 'plain' }));
}

const order: readonly VoteLine['status'][] = ['down', 'unknown', 'up'];
const tones = { down: 'bad', unknown: 'unsure', up: 'good' } as const;
const verdictTones = { ...tones, partial: 'unsure' } as const;

/** The vote of each node, down first. No table without votes: an incident of our own has none. */
export function voteTables(title: string, votes: readonly VoteLine[], words: RuleWording): readonly ContentTable[] {
  // Nodes do not see jobs that ping.
  if (votes.every(isOwnVote)) return [];
  const sorted = order.flatMap((status) => votes.filter((vote) => vote.status === status));
  const rest = sorted.slice(longestTable);
  const saw = statusTextsOf(words);
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

type StatusTexts = Readonly<Record<VoteLine['status'], string>>;

// A target that is slow, or answers differently, is not down.
function statusTextsOf({ word }: RuleWording): StatusTexts {
  return word === 'DOWN'
    ? { down: 'down', up: 'up', unknown: 'unknown' }
    : { down: word.toLowerCase(), up: 'ok', unknown: 'unknown' };
}

function voteRow(vote: VoteLine, saw: StatusTexts): readonly ContentCell[] {
  const took = vote.seconds === null ? '-' : formatSeconds(vote.seconds);
  const place = singleLine(vote.place, 60);
  return [
    ...cells(`${singleLine(vote.node)}${place === '' ? '' : `, ${place}`}`),
    { text: saw[vote.status], tone: tones[vote.status] },
    ...cells(singleLine(vote.message ?? ''), took),
  ];
}

// How the verdict changed while the incident was open: what does not change needs no table.
export function verdictTable({ timeline }: Incident, zone: string): readonly ContentTable[] {
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
  return [{ title: 'Timeline', columns, rows, more: rest === 0 ? null : `and ${rest} more` }];
}
