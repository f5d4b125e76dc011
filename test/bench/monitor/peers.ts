import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { closedPort } from '../../support/tcp-servers.ts';
import { cpuSeconds, type Helper, memoryBytes, type Program, startServer, writtenBytes } from '../tools/processes.ts';
import { cpuUsOf, type Result, type Times, unevenness } from './result.ts';
import type { Arrivals } from './servers.ts';
import { type BenchTarget, hostOf, intervalMsOf, type Kind, type Ports } from './targets.ts';

interface Peers extends AsyncDisposable {
  readonly blackbox: Program;
  readonly prometheus: Program;
}

const modules = `modules:
  http: { prober: http, timeout: 10s, http: { preferred_ip_protocol: ip4 } }
  tcp: { prober: tcp, timeout: 5s, tcp: { preferred_ip_protocol: ip4 } }
  ping: { prober: icmp, timeout: 3s, icmp: { preferred_ip_protocol: ip4 } }
`;

/** blackbox_exporter, and a Prometheus that has it check the same targets as often. Of a ping it makes one echo. */
export async function measurePeers(
  kind: Kind,
  targets: readonly BenchTarget[],
  { warmUpMs, measuredMs }: Times,
  servers: Helper<object, Arrivals>,
): Promise<readonly Result[]> {
  const { ports } = await servers.ask({});
  await using peers = await startPeers(kind, targets, ports);
  await pause(warmUpMs);
  await servers.ask({});
  const spentBy = ({ pid }: Program) => ({ cpu: cpuSeconds(pid), disk: writtenBytes(pid).disk });
  const before = [spentBy(peers.blackbox), spentBy(peers.prometheus)];
  await pause(measuredMs);
  const after = [spentBy(peers.blackbox), spentBy(peers.prometheus)];
  const seen = unevenness((await servers.ask({})).at, intervalMsOf[kind]);
  // Echoes are answered by the kernel, which counts them for nobody.
  const checks = kind === 'ping' ? (targets.length * measuredMs) / intervalMsOf[kind] : seen.checks;
  return (['blackbox_exporter', 'Prometheus'] as const).map((subject, index) => ({
    kind,
    targets: targets.length,
    subject,
    checks,
    cpuUs: cpuUsOf((after[index]?.cpu ?? 0) - (before[index]?.cpu ?? 0), checks),
    late: kind === 'ping' ? null : seen.late,
    memory: memoryBytes((index === 0 ? peers.blackbox : peers.prometheus).pid).now,
    liveHeap: null,
    written: ((after[index]?.disk ?? 0) - (before[index]?.disk ?? 0)) / checks,
  }));
}

async function startPeers(kind: Kind, targets: readonly BenchTarget[], ports: Ports): Promise<Peers> {
  await using started = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'watchpost-bench-'));
  started.defer(async () => rm(folder, { recursive: true, force: true }));
  const exporter = await closedPort();
  await writeFile(join(folder, 'blackbox.yml'), modules);
  const blackbox = started.use(
    await startServer(
      [
        'prometheus-blackbox-exporter',
        `--config.file=${join(folder, 'blackbox.yml')}`,
        `--web.listen-address=127.0.0.1:${exporter}`,
        '--log.level=error',
      ],
      `http://127.0.0.1:${exporter}/-/healthy`,
    ),
  );
  const intervalSeconds = intervalMsOf[kind] / 1_000;
  // JSON is YAML.
  const config = {
    global: { scrape_interval: `${intervalSeconds}s`, scrape_timeout: `${Math.min(10, intervalSeconds)}s` },
    scrape_configs: [
      {
        job_name: kind,
        metrics_path: '/probe',
        params: { module: [kind] },
        static_configs: [{ targets: targets.map((target) => hostOf(target, ports)) }],
        relabel_configs: [
          { source_labels: ['__address__'], target_label: '__param_target' },
          { source_labels: ['__param_target'], target_label: 'instance' },
          { target_label: '__address__', replacement: `127.0.0.1:${exporter}` },
        ],
      },
    ],
  };
  await writeFile(join(folder, 'prometheus.yml'), JSON.stringify(config));
  const web = await closedPort();
  const prometheus = started.use(
    await startServer(
      [
        'prometheus',
        `--config.file=${join(folder, 'prometheus.yml')}`,
        `--storage.tsdb.path=${join(folder, 'data')}`,
        `--web.listen-address=127.0.0.1:${web}`,
        '--log.level=error',
      ],
      `http://127.0.0.1:${web}/-/ready`,
    ),
  );
  const rest = started.move();
  return { blackbox, prometheus, [Symbol.asyncDispose]: async () => rest.disposeAsync() };
}
