import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startNats } from '../../support/nats-server.ts';
import { query } from '../../support/program.ts';
import { cpuSeconds, memoryBytes, startHelper } from '../tools/processes.ts';
import { figure, printTable } from '../tools/table.ts';
import type { Arrivals } from '../monitor/servers.ts';
import { type Hub, skippedRounds, startHub, storedBetween, tellUnknown, tellWarnings } from './hub.ts';

// One real node of a machine of its own that connects to real servers every second, as often as asked for and beyond what it can: it
// has to leave out rounds, and to go on.

const root = new URL('../../../', import.meta.url).pathname;
const settleMs = 5_000;
const patienceMs = 120_000;

export async function measureOneNode(rates: readonly number[], seconds: number): Promise<void> {
  const rows: string[][] = [];
  for (const perSecond of rates) rows.push(await measure(perSecond, seconds));
  printTable(
    ['one node', 'stored per s', 'left out per s', 'hub CPU us', 'node CPU us', 'unknown', 'MB of the node'],
    rows,
  );
}

async function measure(perSecond: number, seconds: number): Promise<string[]> {
  await using servers = startHelper<object, Arrivals>(new URL('../monitor/servers.ts', import.meta.url));
  const { ports } = await servers.ask({});
  await using nats = await startNats({ nodes: ['zz1'] });
  await using hub = await startHub(nats, {
    defaults: { every: '1s', rules: ['down'] },
    rules: { down: { failing: 'majority', rounds: 2, recover: 2 } },
    targets: Object.fromEntries(
      Array.from({ length: perSecond }, (_, index) => [
        `target-${index}`,
        { check: 'tcp', timeout: '500ms', host: `127.10.${Math.floor(index / 250)}.${1 + (index % 250)}:${ports.tcp}` },
      ]),
    ),
  });
  const { folder } = hub.program;
  const seedFile = join(folder, 'zz1.nk');
  writeFileSync(seedFile, nats.account('zz1').seed.reveal(), { mode: 0o600 });
  const flags = ['--name', 'zz1', '--servers', nats.url, '--seed-file', seedFile, '--allow-private'];
  const node = spawn(process.execPath, ['src/watchpost.js', 'node', ...flags, '--spool-file', join(folder, 'zz1.db')], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'ignore'],
  });
  try {
    await seen(hub);
    const pids = [hub.running.process.pid ?? 0, node.pid ?? 0];
    const from = Date.now();
    const [skipped, ...before] = [await skippedRounds(hub), ...pids.map(cpuSeconds)];
    await pause(seconds * 1_000);
    const to = Date.now();
    const after = pids.map(cpuSeconds);
    const left = (await skippedRounds(hub)) - (skipped ?? 0);
    const memory = memoryBytes(node.pid ?? 0).now;
    await pause(settleMs);
    if (node.exitCode !== null) throw new Error(`the node ended with ${node.exitCode}`);
    tellWarnings(hub);
    tellUnknown(hub, from, to);
    const { stored, unknown } = storedBetween(hub, from, to);
    const cost = (index: number) => figure((((after[index] ?? 0) - (before[index] ?? 0)) * 1e6) / stored);
    return [
      `${perSecond}/s asked for`,
      figure((stored * 1_000) / (to - from)),
      figure((left * 1_000) / (to - from)),
      cost(0),
      cost(1),
      String(unknown),
      (memory / 1e6).toFixed(0),
    ];
  } finally {
    node.kill('SIGKILL');
    if (node.exitCode === null && node.signalCode === null) await once(node, 'exit');
  }
}

// Waits until the node has watched for a while.
async function seen({ program }: Hub): Promise<void> {
  const end = Date.now() + patienceMs;
  while (query(program.database, 'SELECT 1 FROM results LIMIT 1').length === 0) {
    if (Date.now() > end) throw new Error('the node saw nothing');
    await pause(500);
  }
  await pause(2 * settleMs);
}
