import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { needsProgram } from '../support/programs.ts';
import { eventually } from '../support/program.ts';
import { startPrometheus } from '../support/prometheus.ts';
import { startWatchedWorld } from '../support/watched-world.ts';
import { mortal } from '../support/children.ts';
import { closedPort } from '../support/tcp-servers.ts';

/** Names with the labels that a probe gives them: `probe_http_duration_seconds{phase="tls"}`. */
type Shape = ReadonlySet<string>;

// What is not told, and why: docs/metrics.md.
const leftOut =
  /^probe_(?:ip_addr_hash|http_last_modified_timestamp_seconds|ssl_last_chain_\w+|dns_(?:authority|additional)_rrs)/;
// Our own labels.
const ours = /(?:instance|target|node|team)="[^"]*",?/g;

test('what blackbox_exporter says of a target, Watchpost says under the same names with the same labels', async (context) => {
  needsProgram(context, 'prometheus-blackbox-exporter', 'prometheus-blackbox-exporter');
  await using world = await startWatchedWorld();
  await using exporter = await startExporter();
  const { plain, secure, names, health } = world.ports;
  const probes = [
    ['moved', `module=http&target=http://127.0.0.1:${plain}/moved`],
    ['secure', `module=http&target=https://127.0.0.1:${secure}/`],
    ['port', `module=tcp&target=127.0.0.1:${plain}`],
    ['handshake', `module=tls&target=127.0.0.1:${secure}`],
    ['health', `module=grpc&target=127.0.0.1:${health}`],
    ['loopback', 'module=icmp&target=127.0.0.1'],
    ['zone', `module=dns&target=127.0.0.1:${names}`],
  ] as const;
  for (const [target, query] of probes) {
    const theirs = shapeOf(await exporter.probe(query), () => true);
    expect([...theirs], target).toContain('probe_success{}');
    // Without TLS the grpc prober tells a certificate that expired in 1970.
    const unwanted = target === 'health' ? 'probe_ssl_earliest_cert_expiry{}' : null;
    const wanted = new Set([...theirs].filter((name) => !leftOut.test(name) && name !== unwanted));
    await eventually(20_000, async () => {
      const text = await (await fetch(`${world.url}/metrics`)).text();
      const own = (line: string) => line.includes(`target="${target}"`) && line.includes('node="de1"');
      expect([target, shapeOf(text, own)]).toEqual([target, wanted]);
    });
  }
});

function shapeOf(text: string, wanted: (line: string) => boolean): Shape {
  const lines = text.split('\n').filter((line) => line.startsWith('probe_') && wanted(line));
  return new Set(
    lines.map((line) => {
      const [, name = '', labels = ''] = /^(\w+)(?:\{(.*)\})? /.exec(line) ?? [];
      return `${name}{${labels.replace(ours, '').replace(/,$/, '')}}`;
    }),
  );
}

// What the panels of published dashboards ask for: "Blackbox Exporter" (14928, the mixin's) and "Prometheus Blackbox Exporter" (7587).
const of = 'job=~"watchpost",instance=~".+"';
const panels = [
  `(count(probe_success{${of}} == 1) or vector(0)) / count(probe_success{${of}})`,
  `count(probe_success{${of}})`,
  `avg(probe_duration_seconds{${of}})`,
  `count(probe_http_ssl{${of}} == 1) / count(probe_http_version{${of}})`,
  `max by (instance) (probe_success{${of}})`,
  `avg_over_time(probe_success{${of}}[30d])`,
  ...['probe_http_status_code', 'probe_http_redirects', 'probe_http_ssl', 'probe_http_version'].map(
    (name) => `max by (instance) (${name}{${of}})`,
  ),
  ...['probe_dns_lookup_time_seconds', 'probe_duration_seconds'].map((name) => `avg by (instance) (${name}{${of}})`),
  `max by (instance, version) (probe_tls_version_info{${of}})`,
  `min by (instance) (probe_ssl_earliest_cert_expiry{${of}} - time())`,
  ...['probe_http_duration_seconds', 'probe_icmp_duration_seconds'].map((name) => `avg by (phase) (${name}{${of}})`),
  `sum by (instance) (avg by (phase, instance) (probe_http_duration_seconds{${of}}))`,
  'sum by (instance) (probe_http_duration_seconds{instance=~".*"})',
  'probe_http_duration_seconds{instance=~".*"}',
];

test('every panel of published dashboards has data, and their alerts fire', async (context) => {
  needsProgram(context, 'prometheus', 'prometheus');
  await using world = await startWatchedWorld();
  await using prometheus = await startPrometheus(world.port, [], { honor_labels: true });
  for (const query of panels) {
    await eventually(20_000, async () => {
      const results = await prometheus.query(query);
      expect(results.length, query).toBeGreaterThan(0);
      expect(
        results.filter(({ value }) => Number.isNaN(value)),
        query,
      ).toEqual([]);
    });
  }
  expect(await prometheus.query('count by (instance, team) (probe_success{target="shop"})')).toEqual([
    { labels: { instance: world.shop.url, team: 'web' }, value: 2 },
  ]);
  await world.shop.stop();
  await eventually(20_000, async () =>
    expect(await prometheus.query('probe_success == 0')).toMatchObject([
      { labels: { job: 'watchpost', instance: world.shop.url, node: 'de1' } },
      { labels: { job: 'watchpost', instance: world.shop.url, node: 'us1' } },
    ]),
  );
});

async function startExporter() {
  const folder = await mkdtemp(join(tmpdir(), 'watchpost-blackbox-'));
  const config = join(folder, 'blackbox.yml');
  const ip4 = { preferred_ip_protocol: 'ip4' };
  const modules = {
    http: { prober: 'http', timeout: '5s', http: { ...ip4, tls_config: { insecure_skip_verify: true } } },
    tcp: { prober: 'tcp', timeout: '5s', tcp: ip4 },
    tls: { prober: 'tcp', timeout: '5s', tcp: { ...ip4, tls: true, tls_config: { insecure_skip_verify: true } } },
    grpc: { prober: 'grpc', timeout: '5s', grpc: ip4 },
    icmp: { prober: 'icmp', timeout: '5s', icmp: ip4 },
    dns: { prober: 'dns', timeout: '5s', dns: { ...ip4, query_name: 'shop.example' } },
  };
  await writeFile(config, JSON.stringify({ modules }));
  // It cannot choose a port by itself: one that was just free.
  const port = await closedPort();
  const child = mortal(
    spawn('prometheus-blackbox-exporter', [`--config.file=${config}`, `--web.listen-address=127.0.0.1:${port}`], {
      stdio: 'ignore',
      timeout: 110_000,
      killSignal: 'SIGKILL',
    }),
  );
  return {
    probe: async (query: string) =>
      eventually(15_000, async () => (await fetch(`http://127.0.0.1:${port}/probe?${query}`)).text()),
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      await rm(folder, { recursive: true });
    },
  };
}
