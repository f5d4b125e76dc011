import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { inboxOf } from '#protocol/nodes.ts';
import type { Account } from '#transport/nats/connection.ts';
import { type KeyPair, makeKeyPair } from '#transport/nats/keys.ts';
import { permissionsFile } from '#transport/nats/permissions.ts';
import { mortal } from './children.ts';
import type { Machine } from './machines.ts';
import { closedPort } from './tcp-servers.ts';

/** Why NATS cannot be tested here, or null where it can. In CI it has to be. */
export function natsObstacle(): string | null {
  if (spawnSync('nats-server', ['--version'], { stdio: 'ignore' }).error === undefined) return null;
  const reason = 'nats-server is not installed (apt-get install nats-server)';
  if (process.env['CI'] !== undefined) throw new Error(reason);
  return reason;
}

/** A real NATS server, on a port of loopback unless it has a machine, with a hub and nodes enrolled. */
export interface NatsServer extends AsyncDisposable {
  readonly port: number;
  readonly folder: string;
  readonly url: string;
  readonly hub: KeyPair;
  readonly nodes: ReadonlyMap<string, KeyPair>;
  /** How the hub, or the node of this name, signs in. */
  account(name?: string): Account;
  enrol(...holders: readonly (readonly [name: string, keys: KeyPair])[]): void;
  revoke(name: string): void;
  stop(signal?: NodeJS.Signals): Promise<void>;
  /** Sends its process a signal. */
  signal(signal: NodeJS.Signals): void;
  /** Starts it again, with more lines of configuration from now on. */
  start(more?: string): Promise<void>;
}

export interface NatsServerOptions {
  readonly nodes?: readonly string[];
  /** More lines of configuration. */
  readonly more?: string;
  /** Knows the same hub and nodes as this one. */
  readonly like?: Pick<NatsServer, 'hub' | 'nodes'>;
  readonly machine?: Machine | undefined;
}

export async function startNats({
  nodes: names = [],
  more = '',
  like,
  machine,
}: NatsServerOptions = {}): Promise<NatsServer> {
  const host = machine?.address ?? '127.0.0.1';
  const [command, ...args] = [...(machine?.prefix ?? []), 'nats-server'];
  const folder = mkdtempSync(join(machine?.serverDisk.folder ?? tmpdir(), 'watchpost-nats-'));
  const nodes = new Map(like?.nodes ?? names.map((name) => [name, makeKeyPair()]));
  const hub = like?.hub ?? makeKeyPair();
  const port = await closedPort();
  const config = join(folder, 'nats.conf');
  let child: ChildProcess | null = null;

  const writeUsers = () => {
    const holders = [...nodes].map(([name, { key }]) => ({ name, key }));
    writeFileSync(join(folder, 'users.conf'), permissionsFile([{ name: null, key: hub.key }], holders));
  };
  writeUsers();
  const writeConfig = (lines: string) =>
    writeFileSync(
      config,
      `listen: "${host}:${port}"\nmax_payload: 256KB\nping_interval: "10s"\nping_max: 2\n${lines}\n` +
        `authorization { include "users.conf" }\n`,
    );
  writeConfig(more);

  const reload = () => {
    writeUsers();
    child?.kill('SIGHUP');
  };

  async function start(more?: string): Promise<void> {
    if (more !== undefined) writeConfig(more);
    const started = mortal(
      spawn(command ?? '', [...args, '--config', config], { stdio: ['ignore', 'ignore', 'pipe'] }),
    );
    child = started;
    const lines: string[] = [];
    for await (const line of createInterface({ input: started.stderr })) {
      lines.push(line);
      if (line.includes('Server is ready')) {
        started.stderr.resume();
        return;
      }
    }
    throw new Error(`nats-server did not start:\n${lines.join('\n')}`);
  }

  async function stop(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const stopping = child;
    child = null;
    if (stopping === null || stopping.exitCode !== null || stopping.signalCode !== null) return;
    const exit = once(stopping, 'exit');
    stopping.kill(signal);
    await exit;
  }

  await start();
  const url = `nats://${host}:${port}`;
  return {
    port,
    folder,
    url,
    hub,
    nodes,
    account(name) {
      const keys = name === undefined ? hub : nodes.get(name);
      const inbox = inboxOf(name ?? 'hub');
      return { servers: [url], seed: (keys ?? makeKeyPair()).seed, ca: null, name: name ?? 'hub', inbox };
    },
    enrol(...more) {
      for (const [name, keys] of more) nodes.set(name, keys);
      reload();
    },
    revoke(name) {
      nodes.delete(name);
      reload();
    },
    start,
    stop,
    signal: (signal) => void child?.kill(signal),
    async [Symbol.asyncDispose]() {
      await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
