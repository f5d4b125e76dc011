import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mortal } from './children.ts';
import type { NatsServer } from './nats-server.ts';
import { testedProgram } from './tested-program.ts';

/** Enrols the nodes of a NATS server with the hub in this folder, and starts each as a process until it is disposed. */
export function startNodeProcesses(nats: Pick<NatsServer, 'url' | 'hub' | 'nodes'>, folder: string): AsyncDisposable {
  enrolNodes(nats, folder);
  return startEnrolledNodes(nats, folder);
}

export function enrolNodes(nats: Pick<NatsServer, 'hub' | 'nodes'>, folder: string): void {
  mkdirSync(join(folder, 'nodes'));
  writeFileSync(join(folder, 'hub.nk'), nats.hub.seed.reveal(), { mode: 0o600 });
  const enrolled = [...nats.nodes].map(([name, { key }]) => [name, { key, enrolled_at: '2026-01-01T00:00:00Z' }]);
  writeFileSync(join(folder, 'nodes', 'nodes.json'), JSON.stringify({ nodes: Object.fromEntries(enrolled) }));
}

export function startEnrolledNodes(nats: Pick<NatsServer, 'url' | 'nodes'>, folder: string): AsyncDisposable {
  const children = [...nats.nodes].map(([name, { seed }]) => {
    const seedFile = join(folder, `${name}.nk`);
    writeFileSync(seedFile, seed.reveal(), { mode: 0o600 });
    const flags = ['--name', name, '--servers', nats.url, '--seed-file', seedFile, '--allow-private'];
    const spool = ['--spool-file', join(folder, `${name}.db`)];
    return mortal(spawn(process.execPath, [testedProgram, 'node', ...flags, ...spool], { stdio: 'ignore' }));
  });
  return {
    async [Symbol.asyncDispose]() {
      for (const child of children) {
        if (child.exitCode !== null || child.signalCode !== null) continue;
        child.kill('SIGKILL');
        await once(child, 'exit');
      }
    },
  };
}
