import { expect, test } from 'vitest';
import type { HistoryFigures } from '#history/reader.ts';
import { noTime } from '#history/verdict-periods.ts';
import { chartViewOf, spanHref } from '#web/pages/chart-view.ts';
import { glance } from '#web/pages/glance.ts';
import { queryWith } from '#web/browser/query.ts';

const now = Date.parse('2026-01-31T12:00:00Z');
const day = 86_400_000;

const figures = (count: number, since: number, down: number): HistoryFigures => ({
  from: now - 30 * day,
  to: now,
  uptime: 0.999,
  since,
  verdictsFrom: null,
  time: { ...noTime, down },
  answers: { up: count, down: 0, unknown: 0, late: 0 },
  latency: { count, min: 0.01, mean: 0.02, p50: 0.02, p95: 0.2, p99: 0.3, max: 0.4 },
});

const shown = (lately: HistoryFigures, more: Partial<Parameters<typeof glance>[0]> = {}) =>
  [
    ...String(
      glance({
        now,
        target: { spreads: new Map() },
        figures: [{ name: '30 days', figures: lately }],
        changes: [],
        ...more,
      }),
    ).matchAll(/<dt>(.*?)<\/dt><dd>(.*?)<\/dd>/g),
  ].map(([, name, value]) => `${name}: ${value}`);

const certificate = (validTo: string) => ({
  target: 'shop',
  kind: 'certificate' as const,
  node: 'de1',
  at: now - day,
  value: JSON.stringify({ subject: 'CN=shop', issuer: 'CN=R1', valid_to: validTo, fingerprint: 'AA' }),
});

test('a target has four figures: the last is the loss of echoes, its certificate or how long it was down', () => {
  const first = ['Uptime, 30 days: 99.9 %', 'Median, 30 days: 20 ms', 'p95, 30 days: 200 ms'];
  const lately = figures(20, now - 30 * day, 240_000);
  expect(shown(lately)).toEqual([...first, 'Down, 30 days: 4m']);
  expect(shown(lately, { changes: [certificate('2026-02-10T12:00:00Z')] })).toEqual([
    ...first,
    'Certificate: 10 days left',
  ]);
  const spread = (loss: number) => ({ dueAt: now, loss, least: null, mean: null, most: null });
  const spreads = new Map([
    ['de1', [spread(0.5), spread(0)]],
    ['us1', [spread(0), spread(0)]],
  ]);
  expect(shown(lately, { target: { spreads } })).toEqual([...first, 'Loss, last rounds: 12.5 %']);
});

test('the figures name the time that is known, and few answers give no percentile', () => {
  expect(shown(figures(19, now - 240_000, 0))).toEqual([
    'Uptime, 4 min: 99.9 %',
    'Median, 4 min: –',
    'p95, 4 min: –',
    'Down, 4 min: never',
  ]);
});

test('the view of a chart is a part of addresses, and nonsense is none', () => {
  const view = chartViewOf({ node: 'us 1', scale: 'log', view: 'smoke', span: '1h' });
  expect(spanHref('a/b', '6h', view)).toBe('/targets/a%2Fb?span=6h&node=us+1&scale=log&view=smoke');
  const none = { node: null, scale: null, view: null };
  expect(chartViewOf({ node: ['a', 'b'], scale: 'loud', view: '' })).toEqual(none);
  expect(spanHref('a', '6h', none)).toBe('/targets/a?span=6h');
});

test('a query is changed in some values, and the others stay', () => {
  expect(queryWith('?span=1h&node=de1', { span: null, from: 'x', to: 'y' })).toBe('?node=de1&from=x&to=y');
  expect(queryWith('?span=1h', { span: null, node: null })).toBe('');
});
