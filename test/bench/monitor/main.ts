import { globSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createProgram, query, type Running } from '../../support/program.ts';
import {
  comeFirst,
  cpuSeconds,
  memoryBytes,
  missing,
  startHelper,
  threadCpuSeconds,
  writtenBytes,
} from '../tools/processes.ts';
import { figure, printTable } from '../tools/table.ts';
import { latenessOf, spreadOf, type Spread, unevennessOf } from './lateness.ts';
import type { NaiveLoad } from './naive.ts';
import { startPeers } from './peers.ts';
import type { Arrivals } from './servers.ts';
import { createTargets } from './targets.ts';

// The whole daemon on many targets: what a check costs, how late it starts, what is kept. Then blackbox_exporter with Prometheus,
// and a bare loop, on the same targets, for two intervals. The first interval is everybody's start and is not in the figures.

const { values: options } = parseArgs({
  args: process.argv.slice(3),
  options: {
    targets: { type: 'string', default: '1000' },
    interval: { type: 'string', default: '30' },
    minutes: { type: 'string', default: '2.5' },
    only: { type: 'string', multiple: true, default: ['watchpost', 'peers', 'bare'] },
  },
});
const intervalMs = Number(options.interval) * 1_000;
const measuredMs = Number(options.minutes) * 60_000 - intervalMs;
if (!(intervalMs > 0 && measuredMs >= intervalMs)) throw new Error('give it minutes for at least two intervals');
const targets = createTargets(Number(options.targets));

comeFirst();
await using servers = startHelper<object, Arrivals>(new URL('servers.ts', import.meta.url));
const { ports } = await servers.ask({});

interface Result {
  readonly name: string;
  readonly checks: number;
  readonly cpuSeconds: number;
  readonly late: Spread;
  readonly memory: { readonly now: number; readonly peak: number };
  readonly written: number;
}

const results: Result[] = [];
console.log(`${targets.length} targets every ${intervalMs / 1_000} s, measured for ${measuredMs / 1_000} s\n`);
if (options.only.includes('watchpost')) results.push(await measureWatchpost());
if (options.only.includes('peers')) results.push(...(await measurePeers()));
if (options.only.includes('bare')) results.push(await measureBare());
printResults();

async function measureWatchpost(): Promise<Result> {
  await using program = await createProgram();
  const startedAt = Date.now();
  const running = await program.start(configuration());
  const pid = running.process.pid ?? 0;
  const served = Date.now();
  await pause(intervalMs + 1_000);
  const first = await servers.ask({});
  const allAt = Math.max(...targets.map(({ address }) => first.at[address]?.[0] ?? Number.POSITIVE_INFINITY));
  console.log(
    `watchpost serves after ${served - startedAt} ms; with its first interval it has used ${cpuSeconds(pid)} s of CPU`,
  );
  console.log(`every target was checked once within ${figure((allAt - served) / 1e3)} s of the start`);

  const began = Date.now();
  const before = {
    cpu: cpuSeconds(pid),
    threads: threadsOf(pid),
    written: writtenBytes(pid),
    kept: kept(program.database),
  };
  await pause(measuredMs);
  const after = { cpu: cpuSeconds(pid), threads: threadsOf(pid), written: writtenBytes(pid), memory: memoryBytes(pid) };
  const ended = Date.now();
  // What was due just now is on its way, to the target and into the database.
  await pause(2_000);
  const { at } = await servers.ask({});
  const outcomes = await metricOf(running, /^watchpost_rounds_total\{outcome="(\w+)"\} (\d+)/gm);
  await running.end('SIGTERM');

  const due = new Map<string, number[]>();
  const rows = query(
    program.database,
    `SELECT name, due_at FROM results JOIN targets ON id = target_id WHERE due_at >= ${began} AND due_at < ${ended} ORDER BY due_at`,
  );
  for (const row of rows)
    due.set(String(row['name']), [...(due.get(String(row['name'])) ?? []), Number(row['due_at'])]);
  const lateness = targets.map(({ name, address }) => latenessOf(due.get(name) ?? [], at[address] ?? [], intervalMs));
  const expected = (targets.length * measuredMs) / intervalMs;
  console.log(
    `results: ${rows.length} of ${expected} expected; without an arrival at the target: ${sum(lateness.map((one) => one.missing))}`,
  );
  console.log(`rounds since the start: ${outcomes.map(([outcome, count]) => `${count} ${outcome}`).join(', ')}`);
  const statuses = query(program.database, 'SELECT status, count(*) AS count FROM results GROUP BY status');
  console.log(
    `statuses (0 is up): ${statuses.map((row) => `${String(row['status'])}: ${String(row['count'])}`).join(', ')}`,
  );
  const perCheck = (value: number) => value / rows.length;
  printTable(
    ['thread', 'CPU us per check'],
    [...after.threads].map(([name, seconds]) => [
      name,
      figure(perCheck((seconds - (before.threads.get(name) ?? 0)) * 1e6)),
    ]),
  );
  console.log(`kept in the database: ${figure(perCheck(kept(program.database) - before.kept))} bytes per result`);
  console.log(`written to the disk: ${figure(perCheck(after.written.disk - before.written.disk))} bytes per result`);
  console.log(`given to write(2): ${figure(perCheck(after.written.calls - before.written.calls))} bytes per result\n`);
  return {
    name: 'watchpost',
    checks: rows.length,
    cpuSeconds: after.cpu - before.cpu,
    late: spreadOf(lateness.flatMap(({ late }) => late)),
    memory: after.memory,
    written: after.written.disk - before.written.disk,
  };
}

function configuration(): string {
  return JSON.stringify({
    data: 'watchpost.db',
    http: { listen: '127.0.0.1:0' },
    defaults: { every: `${intervalMs / 1_000}s`, rules: ['down'] },
    rules: { down: { failing: 'majority', rounds: 2, recover: 2 } },
    targets: Object.fromEntries(
      targets.map(({ name, type, address }) => [
        name,
        {
          check: type,
          timeout: '2s',
          host: type === 'http' ? `http://${address}:${ports.http}/` : `${address}:${ports.tcp}`,
        },
      ]),
    ),
  });
}

// CPU seconds by kind of thread; those that V8 and libuv keep come after the two that are ours.
function threadsOf(pid: number): ReadonlyMap<string, number> {
  const threads = new Map<string, number>();
  for (const path of globSync(`/proc/${pid}/task/*`)) {
    const thread = Number(path.split('/').at(-1));
    const name = thread === pid ? 'hub' : readFileSync(`${path}/comm`, 'utf8').trim();
    threads.set(name, (threads.get(name) ?? 0) + threadCpuSeconds(pid, thread));
  }
  return threads;
}

function kept(database: string): number {
  const [row] = query(database, 'SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size');
  return Number(row?.['bytes']);
}

async function metricOf(running: Running, pattern: RegExp): Promise<readonly (readonly string[])[]> {
  const text = await (await fetch(`${running.url}/metrics`)).text();
  return [...text.matchAll(pattern)].map(([, ...found]) => found);
}

async function measurePeers(): Promise<readonly Result[]> {
  for (const program of ['prometheus', 'prometheus-blackbox-exporter']) {
    const reason = missing(program);
    if (reason === null) continue;
    console.log(`without blackbox_exporter and Prometheus: ${reason}`);
    return [];
  }
  await using peers = await startPeers({ targets, ports, intervalSeconds: intervalMs / 1_000 });
  const pids = [peers.blackbox.pid, peers.prometheus.pid];
  await pause(intervalMs);
  const spent = await spentBy(pids);
  const [blackbox, prometheus] = pids.map((pid) => spent.memory.get(pid));
  const common = { checks: spent.checks, late: spent.late };
  return [
    { name: 'blackbox_exporter', ...common, cpuSeconds: spent.cpu(pids[0]), memory: blackbox ?? none, written: 0 },
    {
      name: 'and Prometheus',
      ...common,
      cpuSeconds: spent.cpu(pids[1]),
      memory: prometheus ?? none,
      written: spent.written,
    },
  ];
}

const none = { now: Number.NaN, peak: Number.NaN };

async function measureBare(): Promise<Result> {
  await using naive = startHelper<NaiveLoad, string>(new URL('naive.ts', import.meta.url));
  await naive.ask({ targets, ports, intervalMs });
  // It takes one interval to start all, and one until all repeat.
  await pause(2 * intervalMs);
  const spent = await spentBy([naive.pid]);
  const memory = spent.memory.get(naive.pid) ?? none;
  return {
    name: 'bare loop',
    checks: spent.checks,
    cpuSeconds: spent.cpu(naive.pid),
    late: spent.late,
    memory,
    written: 0,
  };
}

async function spentBy(pids: readonly number[]) {
  await servers.ask({});
  const before = new Map(pids.map((pid) => [pid, { cpu: cpuSeconds(pid), disk: writtenBytes(pid).disk }]));
  await pause(2 * intervalMs);
  const after = new Map(pids.map((pid) => [pid, { cpu: cpuSeconds(pid), disk: writtenBytes(pid).disk }]));
  const { at } = await servers.ask({});
  const rhythms = Object.values(at).flatMap((arrivals) => unevennessOf(arrivals, intervalMs));
  return {
    checks: rhythms.length,
    late: spreadOf(rhythms),
    memory: new Map(pids.map((pid) => [pid, memoryBytes(pid)])),
    written: sum(pids.map((pid) => (after.get(pid)?.disk ?? 0) - (before.get(pid)?.disk ?? 0))),
    cpu: (pid: number | undefined) => (after.get(pid ?? 0)?.cpu ?? 0) - (before.get(pid ?? 0)?.cpu ?? 0),
  };
}

function printResults(): void {
  const ours = results.find(({ name }) => name === 'watchpost');
  const cost = ({ cpuSeconds, checks }: Result) => (cpuSeconds * 1e6) / checks;
  const megabytes = (bytes: number) => (bytes / 1e6).toFixed(0);
  printTable(
    ['', 'checks', 'CPU us', 'watchpost is x', 'late p50 ms', 'p99 ms', 'max ms', 'MB now', 'MB peak', 'B written'],
    results.map((result) => [
      result.name,
      String(result.checks),
      figure(cost(result)),
      ours === undefined ? '' : figure(cost(ours) / cost(result)),
      figure(result.late.p50),
      figure(result.late.p99),
      figure(result.late.max),
      megabytes(result.memory.now),
      megabytes(result.memory.peak),
      figure(result.written / result.checks),
    ]),
  );
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
