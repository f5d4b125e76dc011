import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mortal } from './children.ts';
import type { NatsServer } from './nats-server.ts';
import { testedProgram } from './tested-program.ts';

/** Nodes that run until this is disposed. */
export interface RunningNodes extends AsyncDisposable {
  readonly processes: ReadonlyMap<string, ChildProcess>;
}

/** Enrols the nodes of a NATS server with the hub in this folder, and starts each as a process until it is disposed. */
export function startNodeProcesses(nats: Pick<NatsServer, 'url' | 'hub' | 'nodes'>, folder: string): RunningNodes {
  enrolNodes(nats, folder);
  return startEnrolledNodes(nats, folder);
}

export function enrolNodes(nats: Pick<NatsServer, 'hub' | 'nodes'>, folder: string): void {
  mkdirSync(join(folder, 'nodes'));
  writeFileSync(join(folder, 'hub.nk'), nats.hub.seed.reveal(), { mode: 0o600 });
  const enrolled = [...nats.nodes].map(([name, { key }]) => [name, { key, enrolled_at: '2026-01-01T00:00:00Z' }]);
  writeFileSync(join(folder, 'nodes', 'nodes.json'), JSON.stringify({ nodes: Object.fromEntries(enrolled) }));
}

export function startEnrolledNodes(nats: Pick<NatsServer, 'url' | 'nodes'>, folder: string): RunningNodes {
  const processes = new Map<string, ChildProcess>();
  for (const [name, { seed }] of nats.nodes) {
    const seedFile = join(folder, `${name}.nk`);
    writeFileSync(seedFile, seed.reveal(), { mode: 0o600 });
    const flags = ['--name', name, '--servers', nats.url, '--seed-file', seedFile, '--allow-private'];
    const spool = ['--spool-file', join(folder, `${name}.db`)];
    const child = spawn(process.execPath, [testedProgram, 'node', ...flags, ...spool], { stdio: 'ignore' });
    processes.set(name, mortal(child));
  }
  return {
    processes,
    async [Symbol.asyncDispose]() {
      for (const child of processes.values()) {
        if (child.exitCode !== null || child.signalCode !== null) continue;
        child.kill('SIGKILL');
        await once(child, 'exit');
      }
    },
  };
}
