import { shownNode } from '#checks/index.ts';
import type { TargetChange } from '#history/changes.ts';
import type { PastIncident } from '#history/incidents.ts';
import type { HistoryFigures, HistoryReader, PastRound, FiguresSeries } from '#history/reader.ts';
import type { TimeSpan } from '#history/span.ts';
import type { Clock } from '#kernel/clock.ts';
import type { BoardTarget } from '../state/board.ts';
import type { ChartSpan } from './chart-span.ts';
import type { ChartEvent, ChartPoint, ChartValue } from './chart.ts';
import type { DayState } from './drawings.ts';
import { incidentHref } from './links.ts';
import type { TargetPast } from './overview.ts';
import { texts } from './texts.ts';

const day = 86_400_000;
const minute = 60_000;
const fineSteps = [1, 2, 5, 10, 15, 20, 30].map((seconds) => seconds * 1_000);

// A step holds a round at least: shorter ones would show gaps where there are none.
function stepMsOf({ from, to }: TimeSpan, points: number, everyMs: number | null): number | undefined {
  const shortest = (to - from) / points;
  const fine = fineSteps.find((step) => step >= Math.max(shortest, everyMs ?? minute));
  return fine ?? (everyMs !== null && everyMs > shortest ? Math.ceil(everyMs / minute) * minute : undefined);
}

export interface ChartSources {
  readonly reader: HistoryReader;
  readonly changesOf: (target: string) => readonly TargetChange[];
}

/** What the chart of a target shows: a line for each node, and what happened. */
export async function chartOf(
  { reader, changesOf }: ChartSources,
  { name, everyMs }: Pick<BoardTarget, 'name' | 'everyMs'>,
  span: ChartSpan,
  points = 120,
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
  const { incidents } = await reader.incidents({ target: name, from, to, limit: mostMarks });
  const changes = changesOf(name).filter(
    (one, index, all) => one.at >= from && one.at < to && isOther(one, all.slice(index + 1)),
  );
  const marks = [...incidents.map(incidentMark), ...changes.map(changeMark), ...lateMarks(all)];
  return { from, to, stepMs: all.stepMs, lines, events: [...shadesOf(all), ...marks.slice(0, mostMarks)] };
}

const mostMarks = 100;

const pointsOf = ({ parts }: FiguresSeries): readonly ChartPoint[] =>
  parts.map(({ from, to, latency }) => ({
    at: (from + to) / 2,
    p50: latency?.p50 ?? null,
    p95: latency?.p95 ?? null,
    min: latency?.min ?? null,
  }));

const shown = ['down', 'maintenance', 'unknown', 'partial'] as const;

/** Neighbours of a kind are one. */
function shadesOf({ parts }: FiguresSeries): readonly ChartEvent[] {
  const shades: { from: number; to: number; kind: (typeof shown)[number] }[] = [];
  for (const { from, to, time } of parts) {
    const kind = shown.find((one) => (time?.[one] ?? 0) > 0);
    const last = shades.at(-1);
    if (kind === undefined) continue;
    if (last?.kind === kind && last.to === from) last.to = to;
    else shades.push({ from, to, kind });
  }
  return shades.map((shade) => ({ ...shade, words: texts.states[shade.kind] }));
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
  kind: 'incident',
  words: `${word}: ${cause}`,
  href: incidentHref(id),
});

// The first of a kind at a node is how it was when it was looked at first.
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
export function seriesJson({ from, to, stepMs, lines, events }: ChartValue) {
  const [first] = lines;
  const seconds = (at: number) => Math.round(at) / 1_000;
  const row = (points: readonly ChartPoint[], key: 'p50' | 'p95' | 'min') =>
    points.map((point) => (point[key] === null ? null : Number(point[key].toPrecision(4))));
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
    })),
    events: events.map((event) => ({ ...event, from: seconds(event.from), to: seconds(event.to) })),
  };
}

/** The figures of the spans that a target's page tells. */
export async function figuresTable(reader: HistoryReader, target: string, span: ChartSpan, now: number) {
  const { name, from, to } = span;
  const asked = [
    ...(name === '24h' || name === '30d' || name === '90d'
      ? []
      : [{ name: name ?? texts.target.chosen, span: { from, to } }]),
    { name: '24 hours', span: { from: now - day, to: now } },
    { name: '30 days', span: { from: now - 30 * day, to: now } },
    { name: '90 days', span: { from: now - 90 * day, to: now } },
  ];
  const all: { name: string; figures: HistoryFigures }[] = [];
  for (const one of asked) all.push({ name: one.name, figures: await reader.figures({ of: { target }, ...one.span }) });
  return all;
}

/** How a day went: the worst that was seen. */
function dayOf({ time }: HistoryFigures): DayState {
  if (time === null) return null;
  const { up, partial, down, unknown, maintenance } = time;
  if (down > 0) return 'down';
  if (partial > 0) return 'partial';
  if (up > 0) return 'up';
  return maintenance > 0 ? 'maintenance' : unknown > 0 ? 'unknown' : null;
}

/** What was, kept for some minutes: looked up for whoever looks, a target at a time, and never while nobody does. */
export interface PastKeeper {
  of(target: string): TargetPast | null;
  /** Has looked up what is not known of these, or is too old. Resolves when the work is done, or `patienceMs` have gone by. */
  want(targets: readonly string[], patienceMs: number): Promise<void>;
}

const freshMs = 5 * 60_000;
// What nobody asks for any more is forgotten.
const keptMs = 60 * 60_000;

export function createPastKeeper(reader: HistoryReader, clock: Clock, failed: (error: unknown) => void): PastKeeper {
  const known = new Map<string, { readonly past: TargetPast; readonly at: number }>();
  let working: Promise<void> | null = null;

  const ageOf = (target: string) => clock.now() - (known.get(target)?.at ?? Number.NEGATIVE_INFINITY);

  async function lookUp(targets: readonly string[]): Promise<void> {
    const now = clock.now();
    const today = Math.floor(now / day) * day;
    const budgets = new Map((await reader.budgets()).map(({ target, left }) => [target, left]));
    for (const target of targets) {
      const span = { of: { target }, from: today - 89 * day, to: now };
      const { parts } = await reader.series({ ...span, stepMs: day });
      const { uptime } = await reader.figures(span);
      known.set(target, {
        past: { days: parts.map(dayOf), uptime, budgetLeft: budgets.get(target) ?? null },
        at: now,
      });
    }
    for (const name of known.keys()) if (ageOf(name) > keptMs) known.delete(name);
  }

  return {
    of: (target) => known.get(target)?.past ?? null,
    async want(targets, patienceMs) {
      const wanted = targets.filter((target) => ageOf(target) >= freshMs);
      if (wanted.length === 0) return;
      working ??= lookUp(wanted)
        .catch(failed)
        .finally(() => (working = null));
      await Promise.race([working, new Promise<void>((resolve) => clock.after(patienceMs, resolve))]);
    },
  };
}
