import { dayMs, hourMs } from '#kernel/units.ts';
import type { HistoryFigures } from './reader.ts';
import type { HistorySource, PastResult, SealedSums } from './source.ts';
import { cover, type RetentionLimits, type SpanPart, type TimeSpan } from './span.ts';
import { addTime, noTime, type TimeByStatus, timeIn, timesIn, uptimeOf, verdictsSince } from './verdict-periods.ts';
import { Tally } from './tally.ts';

type FigureRow = SealedSums | PastResult;

/** What was read of one target for one span. */
export interface FiguresSource extends TimeSpan {
  readonly time: TimeByStatus | null;
  readonly rows: readonly FigureRow[];
  /** As in `Figures`. */
  readonly since: number | null;
  readonly verdictsFrom: number | null;
}

/** Reads a span of one target: its time, unless a node is named, and its results, unless only the time is wanted. */
export function readSpan(
  source: HistorySource,
  target: string,
  node: string | null,
  span: TimeSpan,
  now: number,
  what: 'all' | 'time' = 'all',
): FiguresSource {
  const pieces = what === 'time' ? [] : cover(span, source.kept());
  const wide = { from: pieces[0]?.from ?? span.from, to: pieces.at(-1)?.to ?? span.to };
  const periods = node === null ? source.periods(target, wide) : null;
  const time = periods === null ? null : timeIn(wide, periods, now);
  const read = pieces.map((piece) => ({ piece, rows: rowsOf(source, target, node, piece) }));
  const since = node === null ? source.verdictsFrom(target) : null;
  return {
    ...wide,
    time,
    since: periods === null ? null : verdictsSince(wide, periods),
    rows: read.flatMap(({ rows }) => rows),
    verdictsFrom: waitingFor(since, read),
  };
}

const unitMs = { results: 1, hours: hourMs, days: dayMs };

// Sums count as older only as a whole: verdicts may begin within them.
function waitingFor(
  since: number | null,
  read: readonly { readonly piece: SpanPart; readonly rows: readonly FigureRow[] }[],
): number | null {
  if (since === null) return null;
  const isOlder = ({ piece, rows }: (typeof read)[number]) =>
    rows.some((row) => timeOf(row) + unitMs[piece.of] <= since);
  return read.some(isOlder) ? since : null;
}

/**
 * The same for parts of a span that follow each other, each source looked into once. `isTimeOnly`: results are read only if they are
 * older than verdicts, for then the time of the span is not known.
 */
export function partsRead(
  source: HistorySource,
  target: string,
  node: string | null,
  parts: readonly TimeSpan[],
  now: number,
  isTimeOnly = false,
): readonly FiguresSource[] {
  const [first] = parts;
  const last = parts.at(-1);
  if (first === undefined || last === undefined) return [];
  const since = node === null ? source.verdictsFrom(target) : null;
  const kept = source.kept();
  const pieces = parts.map((part) => (isTimeOnly ? olderThan(since, part, kept) : cover(part, kept)));
  const periods = node === null ? source.periods(target, { from: first.from, to: last.to }) : [];
  const times = node === null ? timesIn(parts, periods, now) : [];
  const timesAt = (index: number) => times[index] ?? { time: null, since: null };
  if (pieces.every(({ length }) => length === 0))
    return parts.map((part, index) => ({ ...part, ...timesAt(index), rows: noRows, verdictsFrom: null }));
  const rows = {
    days: rowsWithin(source, target, node, pieces.flat(), 'days'),
    hours: rowsWithin(source, target, node, pieces.flat(), 'hours'),
    results: rowsWithin(source, target, node, pieces.flat(), 'results'),
  };
  return parts.map((part, index) => {
    const own = (pieces[index] ?? []).map((piece) => ({ piece, rows: takeWithin(rows[piece.of], piece) }));
    return {
      ...part,
      ...timesAt(index),
      rows: own.flatMap((one) => one.rows),
      verdictsFrom: waitingFor(since, own),
    };
  });
}

// What there may be of results from before verdicts.
function olderThan(since: number | null, part: TimeSpan, kept: RetentionLimits): readonly SpanPart[] {
  if (since === null || part.from >= since || part.to <= kept.daysFrom) return [];
  const older = cover(part, kept).filter(({ from }) => from < since);
  return older.map((piece) => (piece.of === 'results' ? { ...piece, to: Math.min(piece.to, since) } : piece));
}

const noRows: readonly FigureRow[] = [];
const { answers: noAnswers, latency: noLatency } = new Tally();

/** The figures of what was read of some targets. */
export function figuresOf(
  reads: readonly FiguresSource[],
  span: TimeSpan,
  node: string | null,
  quantiles: readonly number[] = [],
): HistoryFigures {
  const [only] = reads;
  if (reads.length === 1 && only?.rows.length === 0) return withoutAnswers(only, span);
  const tally = new Tally();
  let time: TimeByStatus | null = node === null ? noTime : null;
  for (const read of reads) {
    if (time !== null && read.time !== null) time = addTime(time, read.time);
    for (const row of read.rows) {
      if ('sketch' in row) tally.addSums(row);
      else tally.addResult(row);
    }
  }
  const waiting = reads.flatMap(({ verdictsFrom }) => verdictsFrom ?? []);
  const verdictsFrom = waiting.length === 0 ? null : Math.max(...waiting);
  const starts = reads.flatMap(({ since }) => since ?? []);
  const { answers, latency } = tally;
  const atQuantiles = quantiles.length === 0 ? null : tally.atQuantiles(quantiles);
  const answered = answers.up + answers.down;
  const share = answered === 0 ? null : answers.up / answered;
  return {
    from: Math.min(span.from, ...reads.map(({ from }) => from)),
    to: Math.max(span.to, ...reads.map(({ to }) => to)),
    uptime: time === null ? share : verdictsFrom === null ? uptimeOf(time) : null,
    since: starts.length === 0 ? null : Math.min(...starts),
    verdictsFrom,
    time,
    answers,
    latency,
    ...(atQuantiles === null ? {} : { atQuantiles }),
  };
}

// Of each target a page asks for 90 days: it is to make as little as it can.
function withoutAnswers({ time, since, verdictsFrom, from, to }: FiguresSource, span: TimeSpan): HistoryFigures {
  return {
    from: Math.min(span.from, from),
    to: Math.max(span.to, to),
    uptime: time === null || verdictsFrom !== null ? null : uptimeOf(time),
    since,
    verdictsFrom,
    time,
    answers: noAnswers,
    latency: noLatency,
  };
}

function rowsOf(
  source: HistorySource,
  target: string,
  node: string | null,
  { of, from, to }: SpanPart,
): readonly FigureRow[] {
  return of === 'results' ? source.results(target, node, { from, to }) : source.sealed(of, target, node, { from, to });
}

interface TimedRows {
  readonly times: readonly number[];
  readonly rows: readonly FigureRow[];
}

// One look for all pieces of a kind; what lies between them is not asked for twice, and is dropped by `takeWithin`.
function rowsWithin(
  source: HistorySource,
  target: string,
  node: string | null,
  pieces: readonly SpanPart[],
  of: SpanPart['of'],
): TimedRows {
  const own = pieces.filter((piece) => piece.of === of);
  const joined: SpanPart[] = [];
  for (const piece of own) {
    const last = joined.at(-1);
    if (last !== undefined && piece.from <= last.to)
      joined[joined.length - 1] = { ...last, to: Math.max(last.to, piece.to) };
    else joined.push(piece);
  }
  const rows = joined.flatMap((piece) => rowsOf(source, target, node, piece)).toSorted((a, b) => timeOf(a) - timeOf(b));
  return { rows, times: rows.map(timeOf) };
}

const timeOf = (row: FigureRow) => ('sketch' in row ? row.at : row.dueAt);

function takeWithin({ times, rows }: TimedRows, { from, to }: TimeSpan): readonly FigureRow[] {
  return rows.slice(firstAt(times, from), firstAt(times, to));
}

/** The index of the first time at `at` or later, in an ordered list. */
function firstAt(times: readonly number[], at: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((times[middle] ?? 0) < at) low = middle + 1;
    else high = middle;
  }
  return low;
}
