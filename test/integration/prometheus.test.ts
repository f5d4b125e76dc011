import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { systemClock } from '#kernel/clock.ts';
import type { Metrics } from '#metrics/metrics.ts';
import { startWebServer } from '#web/server.ts';
import { round, silentLog, startOfTest, testMetrics, watched } from '../support/metrics.ts';
import { needsProgram } from '../support/programs.ts';
import { notUp, up, votes } from '../support/votes.ts';

const root = new URL('../../', import.meta.url).pathname;
const rules = join(root, 'config/prometheus.rules.yaml');

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

test('promtool finds nothing to complain about in the metrics', async (context) => {
  needsProgram(context, 'promtool', 'prometheus');
  using metrics = filled();
  fill(metrics);
  expect(promtool(['check', 'metrics'], await metrics.text())).toEqual({ status: 0, output: '' });
});

test('promtool finds nothing to complain about where every source fails', async (context) => {
  needsProgram(context, 'promtool', 'prometheus');
  const broken = () => {
    throw new Error('closed');
  };
  using metrics = testMetrics({ deliveries: broken, store: broken, nodes: broken });
  expect(promtool(['check', 'metrics'], await metrics.text())).toEqual({ status: 0, output: '' });
});

test('the rules are valid and do what their tests say', (context) => {
  needsProgram(context, 'promtool', 'prometheus');
  expect(promtool(['check', 'rules', rules])).toMatchObject({ status: 0 });
  const tested = promtool(['test', 'rules', 'test/fixtures/prometheus/rules.test.yaml']);
  expect(tested, tested.output).toMatchObject({ status: 0 });
});

test('Prometheus scrapes the latency of each node, applies the rules, and forgets a removed target', async (context) => {
  needsProgram(context, 'prometheus', 'prometheus');
  using metrics = filled();
  fill(metrics);
  await using server = await startWebServer({
    listen: { host: '127.0.0.1', port: 0 },
    clock: systemClock,
    log: silentLog,
    metrics,
    health: { pulses: [], notReady: () => [] },
  });
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

interface Result {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

interface Prometheus extends AsyncDisposable {
  /** What the query gives now. */
  query(query: string): Promise<readonly Result[]>;
}

interface Answer {
  readonly data: { readonly result: readonly { metric: Record<string, string>; value: [number, string] }[] };
}

/** A real Prometheus on loopback that scrapes this port five times a second. */
async function startPrometheus(port: number): Promise<Prometheus> {
  const folder = await mkdtemp(join(tmpdir(), 'watchpost-prometheus-'));
  const config = join(folder, 'prometheus.json');
  await writeFile(
    config,
    JSON.stringify({
      global: { scrape_interval: '200ms', scrape_timeout: '200ms', evaluation_interval: '200ms' },
      rule_files: [rules],
      scrape_configs: [{ job_name: 'watchpost', static_configs: [{ targets: [`127.0.0.1:${port}`] }] }],
    }),
  );
  const words = [`--config.file=${config}`, `--storage.tsdb.path=${folder}/data`, '--web.listen-address=127.0.0.1:0'];
  const child = spawn('prometheus', words, {
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: 60_000,
    killSignal: 'SIGKILL',
  });
  const base = await listening(child);
  return {
    async query(query) {
      const response = await fetch(`${base}/api/v1/query?query=${encodeURIComponent(query)}`);
      const { data } = (await response.json()) as Answer;
      return data.result.map(({ metric, value }) => ({ labels: metric, value: Number(value[1]) }));
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      if (child.exitCode === null) await once(child, 'exit');
      await rm(folder, { recursive: true });
    },
  };
}

// It tells the port that the system chose on its standard error.
async function listening(child: ChildProcess): Promise<string> {
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stderr! })) {
    lines.push(line);
    const address = /msg="Listening on" address=(127\.0\.0\.1:\d+)/.exec(line)?.[1];
    if (address !== undefined) {
      child.stderr!.resume();
      return `http://${address}`;
    }
  }
  throw new Error(`prometheus ended before it listened:\n${lines.join('\n')}`);
}
