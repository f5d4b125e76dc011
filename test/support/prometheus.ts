import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { mortal } from './children.ts';

export const rules = new URL('../../config/prometheus.rules.yaml', import.meta.url).pathname;

interface Result {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Prometheus extends AsyncDisposable {
  /** What the query gives now. */
  query(query: string): Promise<readonly Result[]>;
  /** What it is told that it can, beside the query: `/api/v1/targets`. */
  ask(path: string): Promise<unknown>;
}

interface Answer {
  readonly status: string;
  readonly error?: string;
  readonly data: {
    readonly result: readonly {
      metric: Record<string, string>;
      value: [number, string];
      histogram?: [number, { count: string }];
    }[];
  };
}

/** A real Prometheus on loopback that scrapes this port five times a second. `words` are further ones of its command line. */
export async function startPrometheus(
  port: number,
  words: readonly string[] = [],
  job: Readonly<Record<string, unknown>> = {},
): Promise<Prometheus> {
  const folder = await mkdtemp(join(tmpdir(), 'watchpost-prometheus-'));
  const config = join(folder, 'prometheus.json');
  await writeFile(
    config,
    JSON.stringify({
      global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '200ms' },
      rule_files: [rules],
      scrape_configs: [{ job_name: 'watchpost', static_configs: [{ targets: [`127.0.0.1:${port}`] }], ...job }],
    }),
  );
  const child = mortal(
    spawn(
      'prometheus',
      [`--config.file=${config}`, `--storage.tsdb.path=${folder}/data`, '--web.listen-address=127.0.0.1:0', ...words],
      { stdio: ['ignore', 'ignore', 'pipe'], timeout: 110_000, killSignal: 'SIGKILL' },
    ),
  );
  const base = await listening(child);
  const ask = async (path: string): Promise<unknown> => (await fetch(`${base}${path}`)).json();
  return {
    ask,
    async query(query) {
      const { data, error } = (await ask(`/api/v1/query?query=${encodeURIComponent(query)}`)) as Answer;
      if (error !== undefined) throw new Error(`${query}: ${error}`);
      return data.result.map(({ metric, value, histogram }) => ({
        labels: metric,
        value: Number(value?.[1] ?? histogram?.[1].count),
      }));
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
