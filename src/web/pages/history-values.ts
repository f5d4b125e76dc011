import type { Figures, HistoryReader, Series } from '#history/reader.ts';
import type { Clock } from '#kernel/clock.ts';
import type { ChartEvent, ChartPoint, ChartValue } from './chart.ts';
import type { Stretch } from './drawings.ts';
import type { Past } from './overview.ts';
import type { SpanName } from './target.ts';

const hour = 3_600_000;
const day = 24 * hour;
const lengths: Readonly<Record<SpanName, number>> = {
  '10m': 600_000,
  '1h': hour,
  '6h': 6 * hour,
  '24h': day,
  '7d': 7 * day,
  '30d': 30 * day,
  '90d': 90 * day,
  '1y': 365 * day,
  '2y': 730 * day,
};

const points = 120;

/** What the chart of a target shows: a line for each node, and when it was not up. */
export async function chartOf(reader: HistoryReader, target: string, span: SpanName, now: number): Promise<ChartValue> {
  const [from, to] = [now - lengths[span], now];
  const of = { target };
  const all = await reader.series({ of, from, to, points });
  const nodes = await reader.byNode({ of, from, to });
  const lines = await Promise.all(
    nodes.map(async ({ node }) => ({
      name: node,
      points: pointsOf(await reader.series({ of, node, from, to, points })),
    })),
  );
  return { from, to, lines, events: eventsOf(all) };
}

const pointsOf = ({ parts }: Series): readonly ChartPoint[] =>
  parts.map(({ from, to, latency }) => ({
    at: (from + to) / 2,
    p50: latency?.p50 ?? null,
    p95: latency?.p95 ?? null,
    min: latency?.min ?? null,
    max: latency?.max ?? null,
  }));

const shown = ['down', 'maintenance', 'unknown', 'partial'] as const;

function eventsOf({ parts }: Series): readonly ChartEvent[] {
  return parts.flatMap(({ from, to, time }) => {
    const kind = shown.find((one) => (time?.[one] ?? 0) > 0);
    return kind === undefined ? [] : [{ from, to, kind, words: `${kind} ${new Date(from).toISOString()}` }];
  });
}

/** The figures of the spans that a target's page tells. */
export async function figuresTable(reader: HistoryReader, target: string, span: SpanName, now: number) {
  const asked = [
    ...(span === '24h' || span === '30d' || span === '90d' ? [] : [{ name: span, ms: lengths[span] }]),
    { name: '24 hours', ms: day },
    { name: '30 days', ms: 30 * day },
    { name: '90 days', ms: 90 * day },
  ];
  const all: { name: string; figures: Figures }[] = [];
  for (const { name, ms } of asked)
    all.push({ name, figures: await reader.figures({ of: { target }, from: now - ms, to: now }) });
  return all;
}

/** How a day went: the worst that was seen. */
function dayOf({ time }: Figures): Stretch {
  if (time === null) return null;
  const { up, partial, down, unknown, maintenance } = time;
  if (down > 0) return 'down';
  if (partial > 0) return 'partial';
  if (up > 0) return 'up';
  return maintenance > 0 ? 'maintenance' : unknown > 0 ? 'unknown' : null;
}

/** What was, kept for some minutes: looked up for whoever looks, a target at a time, and never while nobody does. */
export interface PastKeeper {
  of(target: string): Past | null;
  /** Has everything looked up that is too old. Resolves when the work is done, or `patienceMs` have gone by. */
  want(targets: readonly string[], patienceMs: number): Promise<void>;
}

const freshMs = 5 * 60_000;

export function createPastKeeper(reader: HistoryReader, clock: Clock, failed: (error: unknown) => void): PastKeeper {
  const known = new Map<string, { readonly past: Past; readonly at: number }>();
  let working: Promise<void> | null = null;

  async function lookUp(targets: readonly string[]): Promise<void> {
    const now = clock.now();
    const today = Math.floor(now / day) * day;
    const budgets = new Map((await reader.budgets()).map(({ target, left }) => [target, left]));
    for (const target of targets) {
      if (now - (known.get(target)?.at ?? Number.NEGATIVE_INFINITY) < freshMs) continue;
      const span = { of: { target }, from: today - 89 * day, to: now };
      const { parts } = await reader.series({ ...span, stepMs: day });
      const { uptime } = await reader.figures(span);
      known.set(target, {
        past: {
          days: parts.map(dayOf),
          uptime,
          ...(budgets.size === 0 ? {} : { budgetLeft: budgets.get(target) ?? null }),
        },
        at: now,
      });
    }
    for (const name of known.keys()) if (!targets.includes(name)) known.delete(name);
  }

  return {
    of: (target) => known.get(target)?.past ?? null,
    async want(targets, patienceMs) {
      working ??= lookUp(targets)
        .catch(failed)
        .finally(() => (working = null));
      await Promise.race([working, new Promise<void>((resolve) => clock.after(patienceMs, resolve))]);
    },
  };
}
