import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mortal } from './children.ts';
import { eventually } from './program.ts';
import { closedPort } from './tcp-servers.ts';

interface Alert {
  readonly labels: Record<string, string>;
  readonly annotations: Record<string, string>;
  readonly startsAt: string;
  readonly endsAt: string;
  readonly generatorURL: string;
  readonly status: { readonly state: string };
}

/** Debian's Alertmanager on a free port, which tells the hook of everything at once. */
export async function startAlertmanager(hook: string) {
  const folder = await mkdtemp(join(tmpdir(), 'watchpost-alertmanager-'));
  const port = await closedPort();
  const file = join(folder, 'alertmanager.yml');
  const route = 'receiver: hook, group_by: [target], group_wait: 0s, group_interval: 1s, repeat_interval: 1h';
  await writeFile(file, `route: { ${route} }\nreceivers: [{ name: hook, webhook_configs: [{ url: "${hook}" }] }]\n`);
  const flags = [`--config.file=${file}`, `--storage.path=${folder}`, `--web.listen-address=127.0.0.1:${port}`];
  const url = `http://127.0.0.1:${port}`;
  const start = async () => {
    const started = mortal(
      spawn('prometheus-alertmanager', [...flags, '--cluster.listen-address='], { stdio: 'ignore' }),
    );
    await eventually(30_000, async () => {
      const { status } = await fetch(`${url}/-/ready`);
      if (status !== 200) throw new Error(`it answered with ${status}`);
    });
    return started;
  };
  let child = await start();
  const end = async () => {
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
  };
  return {
    url,
    alerts: async () => (await (await fetch(`${url}/api/v2/alerts`)).json()) as readonly Alert[],
    /** Kills it and starts it again: it keeps what it notified of, and forgets all alerts. */
    async restart() {
      await end();
      child = await start();
    },
    async [Symbol.asyncDispose]() {
      await end();
      await rm(folder, { recursive: true });
    },
  };
}
