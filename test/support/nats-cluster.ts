import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { mortal } from './children.ts';
import { closedPort } from './tcp-servers.ts';

/** Real NATS servers with JetStream on loopback, without users; several form a cluster. */
export interface NatsCluster extends AsyncDisposable {
  /** Their addresses. */
  readonly urls: readonly string[];
  /** Kills the server of this number. */
  stop(index: number): Promise<void>;
  start(index: number): Promise<void>;
}

export async function startCluster(size: number): Promise<NatsCluster> {
  const folder = mkdtempSync(join(tmpdir(), 'watchpost-cluster-'));
  const members: { readonly port: number; readonly route: number; child: ChildProcess | null }[] = [];
  for (let index = 0; index < size; index += 1)
    members.push({ port: await closedPort(), route: await closedPort(), child: null });
  const routes = members.map(({ route }) => `"nats://127.0.0.1:${route}"`).join(', ');

  async function start(index: number): Promise<void> {
    const member = members[index];
    if (member === undefined || member.child !== null) return;
    const config = join(folder, `${index}.conf`);
    writeFileSync(
      config,
      `listen: "127.0.0.1:${member.port}"
server_name: s${index}
jetstream { store_dir: "${join(folder, `data${index}`)}" }
${size === 1 ? '' : `cluster { name: test, listen: "127.0.0.1:${member.route}", routes: [${routes}] }`}
`,
    );
    const child = mortal(spawn('nats-server', ['--config', config], { stdio: ['ignore', 'ignore', 'pipe'] }));
    member.child = child;
    for await (const line of createInterface({ input: child.stderr })) {
      if (!line.includes('Server is ready')) continue;
      child.stderr.resume();
      return;
    }
    throw new Error('nats-server did not start');
  }

  async function stop(index: number): Promise<void> {
    const member = members[index];
    const child = member?.child ?? null;
    if (member === undefined || child === null) return;
    member.child = null;
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
  }

  await Promise.all(members.map(async (_, index) => start(index)));
  return {
    urls: members.map(({ port }) => `nats://127.0.0.1:${port}`),
    start,
    stop,
    async [Symbol.asyncDispose]() {
      await Promise.all(members.map(async (_, index) => stop(index)));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
