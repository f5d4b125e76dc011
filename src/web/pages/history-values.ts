import { shownNode } from '#checks/index.ts';
import type { TargetChange } from '#history/changes.ts';
import type { Exclusion } from '#history/exclusions.ts';
import type { PastIncident } from '#history/incidents.ts';
import type { HistoryFigures, HistoryReader, PastRound, FiguresSeries, SeriesQuery } from '#history/reader.ts';
import type { TimeSpan } from '#history/span.ts';
import type { TargetStatus, VerdictSpan } from '#history/verdict-periods.ts';
import { dayMs, describeDuration } from '#kernel/units.ts';
import type { BoardTarget } from '../state/board.ts';
import type { ChartSpan } from './chart-span.ts';
import { bandQuantiles, type ChartEvent, type ChartPoint, type ChartValue, type PercentileBands } from './chart.ts';
import { incidentHref } from './links.ts';
import { shapeOf } from './markup.ts';
import { texts } from './texts.ts';

const minute = 60_000;
const fineSteps = [1, 2, 5, 10, 15, 20, 30].map((seconds) => seconds * 1_000);

// A step holds a round at least: shorter ones would show gaps if there are none.
function stepMsOf({ from, to }: TimeSpan, points: number, everyMs: number | null): number | undefined {
  const shortest = (to - from) / points;
  const fine = fineSteps.find((step) => step >= Math.max(shortest, everyMs ?? minute));
  return fine ?? (everyMs !== null && everyMs > shortest ? Math.ceil(everyMs / minute) * minute : undefined);
}

export interface ChartSources {
  readonly reader: HistoryReader;
  readonly changesOf: (target: string) => readonly TargetChange[];
}

interface ChartDetail {
  /** The most steps. */
  readonly points?: number;
  /** Whose spread is wanted: one node's, or that of all if it names none; null if none is. */
  readonly bandsOf?: { readonly node: string | null } | null;
}

/** What the chart of a target shows: a line for each node, and what happened. */
export async function chartOf(
  { reader, changesOf }: ChartSources,
  { name, everyMs }: Pick<BoardTarget, 'name' | 'everyMs'>,
  span: ChartSpan,
  { points = 120, bandsOf = null }: ChartDetail = {},
): Promise<ChartValue> {
  const { from, to } = span;
  const of = { target: name };
  const stepMs = stepMsOf(span, points, everyMs);
  const all = await reader.series({ of, from, to, points, stepMs });
  const nodes = await reader.byNode({ of, from, to });
  const lines = await Promise.all(
    nodes.map(async ({ node }) => ({
      name: shownNode(node),
      points: pointsOf(await reader.series({ of, node, from, to, points, stepMs: all.stepMs })),
    })),
  );
  const bands =
    bandsOf === null ? null : await bandsIn(reader, { of, from, to, stepMs: all.stepMs }, nodes, bandsOf.node);
  const periods = await reader.periods(name, { from, to });
  const exclusions = await reader.exclusions({ target: name, from, to });
  const { incidents, next } = await reader.incidents({ target: name, from, to, limit: mostMarks });
  const changes = changesOf(name).filter(
    (one, index, all) => one.at >= from && one.at < to && isOther(one, all.slice(index + 1)),
  );
  const marks = [...incidents.map(incidentMark), ...changes.map(changeMark), ...lateMarks(all)];
  return {
    from,
    to,
    stepMs: all.stepMs,
    lines,
    events: [...shadesOf(periods, exclusions, span), ...marks.slice(0, mostMarks)],
    hasMoreEvents: next !== null || marks.length > mostMarks,
    bands,
  };
}

const mostMarks = 100;

const pointsOf = ({ parts }: FiguresSeries): readonly ChartPoint[] =>
  parts.map(({ from, to, latency, answers }) => ({
    at: (from + to) / 2,
    p50: latency?.p50 ?? null,
    p95: latency?.p95 ?? null,
    min: latency?.min ?? null,
    failed: shareOf(answers.down, answers.up),
    unknown: shareOf(answers.unknown, answers.up + answers.down),
  }));

const shareOf = (some: number, others: number): number | null => (some + others === 0 ? null : some / (some + others));

/** The spread in each step of one node, or of all together if there is none of this name. */
async function bandsIn(
  reader: Pick<HistoryReader, 'series'>,
  query: SeriesQuery,
  nodes: readonly { readonly node: string }[],
  wanted: string | null,
): Promise<PercentileBands> {
  const node = nodes.find((one) => shownNode(one.node) === wanted)?.node;
  const { parts } = await reader.series({ ...query, node, quantiles: bandQuantiles });
  const points = parts.map(({ atQuantiles, answers }) => ({
    times: atQuantiles ?? null,
    failed: shareOf(answers.down, answers.up),
  }));
  return { node: node === undefined ? null : shownNode(node), points };
}

// Periods that are nearer to each other than a pixel of the widest screens are one.
const finest = 4_000;

interface Shade {
  readonly from: number;
  to: number;
  readonly kind: Exclude<TargetStatus, 'up'> | 'maintenance' | 'excluded';
}

/** The periods in which the target was not just up, as they were. */
function shadesOf(
  periods: readonly VerdictSpan[],
  exclusions: readonly Exclusion[],
  span: TimeSpan,
): readonly ChartEvent[] {
  const shades: Shade[] = [];
  const last = new Map<string, Shade>();
  for (const { from, to, status, inMaintenance, isExcluded } of periods) {
    const kind = isExcluded ? 'excluded' : inMaintenance ? 'maintenance' : status;
    if (kind === 'up') continue;
    const before = last.get(kind);
    if (before !== undefined && from - before.to < (span.to - span.from) / finest) before.to = to;
    else {
      const shade: Shade = { from, to, kind };
      last.set(kind, shade);
      shades.push(shade);
    }
  }
  return shades.map((shade) => ({
    ...shade,
    words: [
      texts.states[shade.kind],
      describeDuration(shade.to - shade.from),
      ...exclusions.flatMap(({ from, to, why }) =>
        shade.kind === 'excluded' && from < shade.to && to > shade.from ? [why] : [],
      ),
    ].join(', '),
  }));
}

const shownAtEachEnd = 30;

/** What the nodes saw during an incident, a little before and after it; of a long one how it began and how it went last. */
export async function roundsOf(
  reader: Pick<HistoryReader, 'rounds'>,
  { target, startedAt, openedAt }: Pick<PastIncident, 'target' | 'startedAt' | 'openedAt'>,
  until: number,
): Promise<readonly (readonly PastRound[])[]> {
  const last = await reader.rounds(target, { before: until + minute, limit: 2 * shownAtEachEnd });
  const [newest, oldest] = [last.at(0), last.at(-1)];
  if (newest === undefined || oldest === undefined) return [];
  if (oldest.dueAt <= startedAt || last.length < 2 * shownAtEachEnd) return [last];
  const step = (newest.dueAt - oldest.dueAt) / (last.length - 1);
  const end = last.slice(0, shownAtEachEnd);
  const before = openedAt + (shownAtEachEnd - fewBefore) * step;
  const first = await reader.rounds(target, {
    before: Math.min(before, end.at(-1)?.dueAt ?? before),
    limit: shownAtEachEnd,
  });
  return first.length === 0 ? [last] : [end, first];
}

// So many of the first rounds are from before the incident.
const fewBefore = 8;

const incidentMark = ({ id, startedAt, word, cause }: PastIncident): ChartEvent => ({
  from: startedAt,
  to: startedAt,
  kind: shapeOf(word) === 'warning' ? 'warning' : 'incident',
  words: `${word}: ${cause}`,
  href: incidentHref(id),
});

// The first of a kind at a node is the state at the first observation.
const isOther = ({ kind, node }: TargetChange, before: readonly TargetChange[]): boolean =>
  kind === 'reload' || before.some((one) => one.kind === kind && one.node === node);

const changeMark = ({ kind, at, node }: TargetChange): ChartEvent => ({
  from: at,
  to: at,
  kind,
  words: `${texts.target.changed[kind]}${node === null ? '' : ` (${shownNode(node)})`}`,
});

function lateMarks({ parts }: FiguresSeries): readonly ChartEvent[] {
  return parts.flatMap(({ from, to, answers: { late } }) => {
    const at = (from + to) / 2;
    return late === 0 ? [] : [{ from: at, to: at, kind: 'late' as const, words: texts.target.cameLate(late) }];
  });
}

/** The chart for scripts: times in seconds since the epoch, and of every line the rows that uPlot draws. */
export function seriesJson({ from, to, stepMs, lines, events, bands }: ChartValue) {
  const [first] = lines;
  const seconds = (at: number) => Math.round(at) / 1_000;
  const row = (points: readonly ChartPoint[], key: 'p50' | 'p95' | 'min' | 'failed' | 'unknown') =>
    points.map((point) => rounded(point[key]));
  return {
    from: seconds(from),
    to: seconds(to),
    step: stepMs / 1_000,
    label: texts.target.latencyLabel(lines.map(({ name }) => name)),
    at: (first?.points ?? []).map(({ at }) => seconds(at)),
    lines: lines.map(({ name, points }) => ({
      name,
      p50: row(points, 'p50'),
      p95: row(points, 'p95'),
      min: row(points, 'min'),
      failed: row(points, 'failed'),
      unknown: row(points, 'unknown'),
    })),
    bands: bands === null ? null : bandsJson(bands),
    events: events.map((event) => ({ ...event, from: seconds(event.from), to: seconds(event.to) })),
  };
}

const rounded = (value: number | null): number | null => (value === null ? null : Number(value.toPrecision(4)));

// A row for each quantile, as uPlot reads them.
const bandsJson = ({ node, points }: PercentileBands) => ({
  node,
  quantiles: bandQuantiles,
  times: bandQuantiles.map((_, index) => points.map(({ times }) => rounded(times?.[index] ?? null))),
  failed: points.map(({ failed }) => rounded(failed)),
});

/** The figures of the spans that a target's page tells. */
export async function figuresTable(reader: HistoryReader, target: string, span: ChartSpan, now: number) {
  const { name, from, to } = span;
  const asked = [
    ...(name === '24h' || name === '30d' || name === '90d'
      ? []
      : [{ name: name ?? texts.target.chosen, span: { from, to } }]),
    { name: '24 hours', span: { from: now - dayMs, to: now } },
    { name: '30 days', span: { from: now - 30 * dayMs, to: now } },
    { name: '90 days', span: { from: now - 90 * dayMs, to: now } },
  ];
  const all: { name: string; figures: HistoryFigures }[] = [];
  for (const one of asked) all.push({ name: one.name, figures: await reader.figures({ of: { target }, ...one.span }) });
  return all;
}
