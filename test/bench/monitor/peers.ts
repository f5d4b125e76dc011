import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, type Program, startServer } from '../tools/processes.ts';
import type { BenchTarget } from './targets.ts';

export interface PrometheusOptions {
  readonly targets: readonly BenchTarget[];
  readonly ports: { readonly http: number; readonly tcp: number };
  readonly intervalSeconds: number;
}

export interface Peers extends AsyncDisposable {
  readonly blackbox: Program;
  readonly prometheus: Program;
}

const modules = `modules:
  http: { prober: http, timeout: 10s, http: { preferred_ip_protocol: ip4 } }
  tcp: { prober: tcp, timeout: 5s, tcp: { preferred_ip_protocol: ip4 } }
`;

/** Starts blackbox_exporter, and a Prometheus that has it check the same targets as often. */
export async function startPeers({ targets, ports, intervalSeconds }: PrometheusOptions): Promise<Peers> {
  await using started = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'watchpost-bench-'));
  started.defer(async () => rm(folder, { recursive: true, force: true }));
  const exporter = await freePort();
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
  const job = (type: BenchTarget['type'], addressOf: (target: BenchTarget) => string) => ({
    job_name: type,
    metrics_path: '/probe',
    params: { module: [type] },
    static_configs: [{ targets: targets.filter((target) => target.type === type).map(addressOf) }],
    relabel_configs: [
      { source_labels: ['__address__'], target_label: '__param_target' },
      { source_labels: ['__param_target'], target_label: 'instance' },
      { target_label: '__address__', replacement: `127.0.0.1:${exporter}` },
    ],
  });
  // JSON is YAML.
  const config = {
    global: { scrape_interval: `${intervalSeconds}s`, scrape_timeout: `${Math.min(10, intervalSeconds)}s` },
    scrape_configs: [
      job('http', ({ address }) => `http://${address}:${ports.http}/`),
      job('tcp', ({ address }) => `${address}:${ports.tcp}`),
    ],
  };
  await writeFile(join(folder, 'prometheus.yml'), JSON.stringify(config));
  const web = await freePort();
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
