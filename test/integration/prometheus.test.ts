import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Metrics } from '#metrics/metrics.ts';
import type { WebOptions } from '#web/server.ts';
import { serveWeb } from '../support/web.ts';
import { round, startOfTest, testMetrics, textOf, watched } from '../support/metrics.ts';
import { needsProgram } from '../support/programs.ts';
import { rules, startPrometheus } from '../support/prometheus.ts';
import { notUp, up, votes } from '../support/votes.ts';

const root = new URL('../../', import.meta.url).pathname;

const gateway = watched('gateway', { check: 'ping', host: '192.0.2.1' });

/** Every series there is: two targets, two nodes, an open incident, deliveries of each outcome. */
function fill(metrics: Metrics): void {
  metrics.configReloaded(true, startOfTest);
  metrics.targetsChanged([watched('shop', { labels: { team: 'web "core" \\ ops' } }), gateway]);
  const phases = { resolve: 0.01, connect: 0.02, tls: 0.03, first_byte: 0.1, transfer: 0.09 };
  const http = up(0.25, { phases, facts: { certificate_expires_at: 1_800_000_000 } });
  const facts = { loss: 0.25, rtt_min: 0.01, rtt_mean: 0.02, rtt_max: 0.03, rtt_deviation: 0.005 };
  metrics.roundDone(round('shop', { votes: votes(http, notUp('status', 'target', 1.5)), verdict: { status: 'down' } }));
  metrics.roundDone(round('gateway', { check: 'ping', votes: votes(up(0.02, { facts }), notUp('busy', 'node')) }));
  metrics.roundsSkipped(1);
  metrics.incidentChanged({ target: 'shop', rule: 'down', severity: 'critical', active: true, suppressed: false });
  for (const state of ['pending', 'sent', 'merged', 'dead'] as const) {
    metrics.deliverySettled({ channel: 'email', state, createdAt: startOfTest, at: startOfTest + 4_000 });
  }
  metrics.storeWritten(0.002);
}

const filled = () => testMetrics({ deliveries: () => [{ channel: 'email', pending: 2, oldestAt: startOfTest }] });

function promtool(words: readonly string[], input = ''): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync('promtool', words, { input, encoding: 'utf8', cwd: root });
  return { status, output: stdout + stderr };
}

const serve = async (metrics: WebOptions['metrics']) => serveWeb({ metrics });

test('promtool finds nothing to complain about in the metrics', async (context) => {
  needsProgram(context, 'promtool', 'prometheus');
  const metrics = filled();
  fill(metrics);
  expect(promtool(['check', 'metrics'], await textOf(metrics))).toEqual({ status: 0, output: '' });
});

test('promtool finds nothing to complain about where every source fails', async (context) => {
  needsProgram(context, 'promtool', 'prometheus');
  const broken = () => {
    throw new Error('closed');
  };
  const metrics = testMetrics({ deliveries: broken, store: broken, nodes: broken });
  expect(promtool(['check', 'metrics'], await textOf(metrics))).toEqual({ status: 0, output: '' });
});

test('the rules are valid and do what their tests say', (context) => {
  needsProgram(context, 'promtool', 'prometheus');
  expect(promtool(['check', 'rules', rules])).toMatchObject({ status: 0 });
  const tested = promtool(['test', 'rules', 'test/fixtures/prometheus/rules.test.yaml']);
  expect(tested, tested.output).toMatchObject({ status: 0 });
});

test('every rule has a test', () => {
  const names = [...readFileSync(rules, 'utf8').matchAll(/^ +- (?:alert|record): (\S+)$/gm)].map(([, name]) => name);
  const tests = readFileSync(join(root, 'test/fixtures/prometheus/rules.test.yaml'), 'utf8');
  expect(names.length).toBeGreaterThan(15);
  expect(names.filter((name) => !tests.includes(`alertname: ${name}\n`) && !tests.includes(`expr: ${name}\n`))).toEqual(
    [],
  );
});

test('Prometheus scrapes the latency of each node, applies the rules, and forgets a removed target', async (context) => {
  needsProgram(context, 'prometheus', 'prometheus');
  const metrics = filled();
  fill(metrics);
  await using server = await serve(metrics);
  await using prometheus = await startPrometheus(server.addr().port);
  const seen = async (query: string) =>
    (await prometheus.query(query)).map(({ labels, value }) => [labels['node'], value]);

  await expect
    .poll(async () => seen('sort(watchpost_check_last_duration_seconds{target="shop"})'), { timeout: 15_000 })
    .toEqual([
      ['zz1', 0.25],
      ['zz2', 1.5],
    ]);
  expect(await prometheus.query('watchpost_target_info{target="shop"}')).toMatchObject([
    { labels: { check: 'http', host: 'https://shop.example.com/health', label_team: 'web "core" \\ ops' }, value: 1 },
  ]);
  await expect
    .poll(async () => prometheus.query('ALERTS{alertname="WatchpostTargetDown"}'), { timeout: 15_000 })
    .toMatchObject([{ labels: { target: 'shop', alertstate: 'pending', severity: 'critical' } }]);

  metrics.targetsChanged([gateway]);
  await expect
    .poll(async () => prometheus.query('{__name__=~"watchpost_.+",target="shop"}'), { timeout: 15_000 })
    .toEqual([]);
  expect(await seen('watchpost_ping_rtt_seconds{stat="max"}')).toEqual([['zz1', 0.03]]);
});

const native = ['--enable-feature=native-histograms'];

test.for([
  { format: 'text/plain', accept: 'text/plain', words: [] },
  { format: 'application/openmetrics-text', accept: null, words: [] },
  { format: 'application/vnd.google.protobuf', accept: null, words: native },
])('Prometheus reads the same out of $format', async ({ format, accept, words }, context) => {
  needsProgram(context, 'prometheus', 'prometheus');
  const metrics = filled();
  fill(metrics);
  const given: string[] = [];
  const scrape: Metrics['scrape'] = (asked) => {
    const answer = metrics.scrape(accept === null ? asked : { ...asked, accept });
    given.push(answer.contentType.split(';')[0] ?? '');
    return answer;
  };
  await using server = await serve({ scrape, requestAnswered: (answered) => metrics.requestAnswered(answered) });
  await using prometheus = await startPrometheus(server.addr().port, words);
  const value = async (query: string) => (await prometheus.query(query))[0]?.value;
  // What counts begins at 0 for it.
  const down = 'watchpost_check_results_total{target="shop",node="zz2",outcome="down",reason="status"}';
  await expect.poll(async () => value(`increase(${down}[1m])`), { timeout: 60_000 }).toBeGreaterThan(0);
  expect(new Set(given)).toEqual(new Set([format]));
  expect(await prometheus.query('watchpost_target_info{target="shop"}')).toMatchObject([
    { labels: { label_team: 'web "core" \\ ops' }, value: 1 },
  ]);
  expect(await value('watchpost_deliveries_oldest_seconds')).toBe(0);
  expect(await value('watchpost_up{target="shop",node="zz2"}')).toBe(0);
  expect(await value('watchpost_rounds_total{outcome="skipped"}')).toBe(1);
  const isNative = words === native;
  expect(await prometheus.query('watchpost_check_duration_seconds{target="shop"}')).toHaveLength(isNative ? 2 : 0);
  expect(await prometheus.query('watchpost_check_duration_seconds_bucket{target="shop",node="zz1"}')).toHaveLength(
    isNative ? 0 : 12,
  );
  const p95 = isNative
    ? 'histogram_quantile(0.95, watchpost_check_duration_seconds{target="shop",node="zz2"})'
    : 'histogram_quantile(0.95, watchpost_check_duration_seconds_bucket{target="shop",node="zz2"})';
  // One observation of 1.5 s: within 9% in native buckets, between the bounds 1 and 3 in the others.
  await expect.poll(async () => value(p95)).toBeGreaterThan(isNative ? 1.4 : 1);
  expect(await value(p95)).toBeLessThan(isNative ? 1.6 : 3);
});
