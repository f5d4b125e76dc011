import { expect, test } from 'vitest';
import type { Exclusion } from '#history/exclusions.ts';
import type { PastIncident } from '#history/incidents.ts';
import type { HistoryFigures, HistoryReader, SeriesQuery } from '#history/reader.ts';
import { noTime, type VerdictSpan } from '#history/verdict-periods.ts';
import { chosenSpan, namedSpan } from '#web/pages/chart-span.ts';
import { bandQuantiles, eventList, latencyChart } from '#web/pages/chart.ts';
import { chartOf, seriesJson } from '#web/pages/history-values.ts';

const now = Date.parse('2026-01-01T12:00:00Z');
const minute = 60_000;

function reading(
  parts: readonly HistoryFigures[] = [],
  periods: readonly VerdictSpan[] = [],
  excluded: readonly Exclusion[] = [],
) {
  const asked: (number | undefined)[] = [];
  const reader: Pick<HistoryReader, 'series' | 'byNode' | 'incidents' | 'periods' | 'exclusions'> = {
    async series({ stepMs, from, to }: SeriesQuery) {
      asked.push(stepMs);
      return { from, to, stepMs: stepMs ?? minute, parts };
    },
    byNode: async () => [],
    periods: async () => periods,
    exclusions: async () => excluded,
    incidents: async () => ({ incidents: [], next: null }),
  };
  const sources = { reader: reader as HistoryReader, changesOf: () => [] };
  return { asked, sources };
}

const part = (from: number, down: number, late: number): HistoryFigures => ({
  from,
  to: from + minute,
  uptime: null,
  since: null,
  verdictsFrom: null,
  time: { ...noTime, down, up: minute - down },
  answers: { up: 1, down: 0, unknown: 0, late },
  latency: null,
});

test.for([
  { span: '10m', everyMs: 1_000, stepMs: 2_000 },
  { span: '10m', everyMs: 30_000, stepMs: 30_000 },
  { span: '10m', everyMs: 45_000, stepMs: minute },
  { span: '10m', everyMs: 5 * minute, stepMs: 5 * minute },
  { span: '1h', everyMs: 5 * minute, stepMs: 5 * minute },
  { span: '7d', everyMs: 5 * minute, stepMs: undefined },
  { span: '2y', everyMs: 1_000, stepMs: undefined },
] as const)('a step of $span with a round every $everyMs ms holds a round', async ({ span, everyMs, stepMs }) => {
  const { asked, sources } = reading();
  await chartOf(sources, { name: 'shop', everyMs }, namedSpan(span, now), { points: 300 });
  expect(asked).toEqual([stepMs]);
});

test('a span that is chosen has from ten minutes to two years and ends now at the latest', () => {
  expect(chosenSpan({ from: now - 1_000, to: now + minute }, now)).toEqual({
    name: null,
    from: now - 10 * minute,
    to: now,
  });
  expect(chosenSpan({ from: 0, to: now }, now)).toMatchObject({ from: now - 730 * 86_400_000, to: now });
});

const period = (from: number, to: number, status: VerdictSpan['status'], inMaintenance = false): VerdictSpan => ({
  from,
  to,
  status,
  inMaintenance,
  isExcluded: false,
});

test('shades are the periods as they were, however long the span and its steps', async () => {
  const day = 86_400_000;
  const begun = now - 300 * day + 1_234;
  const periods = [
    period(now - 730 * day, begun, 'up'),
    period(begun, begun + 4 * minute, 'down'),
    period(begun + 4 * minute, now - 10 * day, 'up'),
    period(now - 10 * day, now - 9 * day, 'up', true),
    period(now - 9 * day, now, 'unknown'),
  ];
  const { sources } = reading([part(now - 310 * day, 4 * minute, 0)], periods);
  const chart = await chartOf(sources, { name: 'shop', everyMs: minute }, namedSpan('2y', now));
  expect(chart.events).toEqual([
    { from: begun, to: begun + 4 * minute, kind: 'down', words: 'down, 4m' },
    { from: now - 10 * day, to: now - 9 * day, kind: 'maintenance', words: 'maintenance, 1d' },
    { from: now - 9 * day, to: now, kind: 'unknown', words: 'unknown, 9d' },
  ]);
  const [, width] = /<rect class="shade f-down thin"[^>]* width="([\d.]+)"/.exec(String(latencyChart(chart))) ?? [];
  expect(Number(width)).toBe(2);
});

test('only what happened within the span is drawn, also of an incident that began before it', async () => {
  const { sources } = reading();
  const span = namedSpan('1h', now);
  const incident = (startedAt: number, endedAt: number | null): PastIncident => ({
    id: `shop/down/${startedAt}`,
    target: 'shop',
    rule: 'down',
    severity: 'critical',
    word: 'DOWN',
    subject: 'tcp shop:80',
    condition: '',
    cause: 'refused',
    startedAt,
    openedAt: startedAt,
    endedAt,
    closing: null,
    held: null,
    acknowledged: null,
  });
  const known = [
    incident(span.to, null),
    incident(span.from + minute, null),
    incident(span.from - minute, null),
    incident(span.from - 2 * minute, span.from - minute),
  ];
  const reader: Pick<HistoryReader, 'incidents' | 'periods'> = {
    periods: async (_, { from, to }) => [period(from, to, 'down')],
    incidents: async ({ from = 0, to = Number.POSITIVE_INFINITY }) => ({
      incidents: known.filter(({ startedAt, endedAt }) => startedAt < to && (endedAt ?? to) > from),
      next: null,
    }),
  };
  const shop = { name: 'shop', everyMs: minute };
  const chart = await chartOf({ ...sources, reader: { ...sources.reader, ...reader } }, shop, span);
  expect(chart.events.map(({ from, kind }) => [kind, from - span.from])).toEqual([
    ['down', 0],
    ['incident', minute],
    ['incident', -minute],
  ]);
  expect(chart.events[0]?.to).toBe(span.to);
  expect(String(latencyChart(chart)).match(/class="mark-line"/g)).toHaveLength(1);
});

test('excluded time is a shade with its reason', async () => {
  const [from, to] = [now - 20 * minute, now - 10 * minute];
  const excluded = { id: 'e1', target: null, from, to, why: 'provider', createdAt: now };
  const { sources } = reading([], [{ ...period(from, to, 'unknown'), isExcluded: true }], [excluded]);
  const chart = await chartOf(sources, { name: 'shop', everyMs: minute }, namedSpan('1h', now));
  expect(chart.events).toEqual([{ from, to, kind: 'excluded', words: 'excluded, 10m, provider' }]);
  const drawn = String(latencyChart({ ...chart, from, to: now, lines: [] }));
  expect(drawn).toContain('class="shade f-excluded');
});

test('periods that no screen tells apart are one shade', async () => {
  const many = Array.from({ length: 10_000 }, (_, index) =>
    period(now - (10_000 - index) * 1_000, now - (9_999 - index) * 1_000, index % 2 === 0 ? 'down' : 'up'),
  );
  const { sources } = reading([], many);
  const chart = await chartOf(sources, { name: 'shop', everyMs: 1_000 }, namedSpan('1y', now));
  expect(chart.events).toHaveLength(1);
});

test('late answers and changes stand at their moment', async () => {
  const { sources } = reading([
    part(now - 3 * minute, 10, 0),
    part(now - 2 * minute, minute, 2),
    part(now - minute, 0, 0),
  ]);
  const change = { target: 'shop', kind: 'certificate', node: 'de1', at: now - minute, value: '' } as const;
  const chart = await chartOf(
    { ...sources, changesOf: () => [change, { ...change, node: 'us1' }, { ...change, at: 0 }] },
    { name: 'shop', everyMs: minute },
    namedSpan('10m', now),
  );
  expect(seriesJson(chart).events).toEqual([
    { from: now / 1_000 - 60, to: now / 1_000 - 60, kind: 'certificate', words: 'another certificate (de1)' },
    { from: now / 1_000 - 90, to: now / 1_000 - 90, kind: 'late', words: '2 answers came late' },
  ]);
  expect(String(eventList(chart))).toContain('2 events in this span');
});

test('a step without an answer is a gap in the line of its node', async () => {
  const answered = {
    ...part(now - 2 * minute, 0, 0),
    latency: { count: 1, mean: 0.1, p50: 0.1, p95: 0.2, p99: 0.3, min: 0.05, max: 0.3 },
  };
  const { sources } = reading([answered, part(now - minute, 0, 0)]);
  const reader = { ...sources.reader, byNode: async () => [{ ...answered, node: 'de1' }] };
  const chart = await chartOf({ ...sources, reader }, { name: 'shop', everyMs: minute }, namedSpan('10m', now));
  expect(seriesJson(chart).lines).toMatchObject([
    { name: 'de1', p50: [0.1, null], p95: [0.2, null], min: [0.05, null] },
  ]);
});

test('bands are of one node if it is there, of all otherwise, a row for each quantile', async () => {
  const measured = { ...part(now - minute, 0, 0), atQuantiles: bandQuantiles.map((one) => one / 3) };
  const failing = { ...part(now, 0, 0), answers: { up: 1, down: 3, unknown: 4, late: 0 } };
  const nodes: (string | undefined)[] = [];
  const { sources } = reading([measured, failing]);
  const reader: Pick<HistoryReader, 'series' | 'byNode'> = {
    async series(query) {
      if (query.quantiles !== undefined) nodes.push(query.node);
      return sources.reader.series(query);
    },
    byNode: async () => [{ ...measured, node: 'de1' }],
  };
  const bandsOf = async (node: string | null) => {
    const all = { ...sources, reader: { ...sources.reader, ...reader } };
    return seriesJson(
      await chartOf(all, { name: 'shop', everyMs: minute }, namedSpan('10m', now), { bandsOf: { node } }),
    );
  };
  const { bands, lines } = await bandsOf('de1');
  expect(bands?.node).toBe('de1');
  expect(bands?.times.map((row) => row[1])).toEqual(bandQuantiles.map(() => null));
  expect(bands?.times.map((row) => row[0]).slice(0, 2)).toEqual([0.01667, 0.03333]);
  expect(bands?.failed).toEqual([0, 0.75]);
  expect(lines[0]).toMatchObject({ failed: [0, 0.75], unknown: [0, 0.5] });
  expect((await bandsOf('gone')).bands?.node).toBe(null);
  expect(nodes).toEqual(['de1', undefined]);
});

test('where nothing answered the chart shows that it was down, and no scale; where nobody looked it says so', async () => {
  const { sources } = reading([], [period(now - 2 * minute, now, 'down')]);
  const target = { name: 'shop', everyMs: minute };
  const down = String(latencyChart(await chartOf(sources, target, namedSpan('10m', now))));
  expect(down).toContain('<rect class="shade f-down"');
  expect(down).toContain('No times were measured in this span.');
  expect(down).not.toContain('NaN');
  const empty = String(latencyChart(await chartOf(reading().sources, target, namedSpan('10m', now))));
  expect(empty).toBe('<p class="soft">No times were measured in this span.</p>');
});
