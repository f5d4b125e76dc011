import { globSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { bundleProgram } from '../../support/bundled-program.ts';
import { createProgram, query, type Running } from '../../support/program.ts';
import { askableHeap, liveHeap } from '../tools/live-heap.ts';
import { cpuSeconds, type Helper, memoryBytes, threadCpuSeconds, writtenBytes } from '../tools/processes.ts';
import { figure, printTable } from '../tools/table.ts';
import { latenessOf, spreadOf } from './lateness.ts';
import { cpuUsOf, type Result, type Times } from './result.ts';
import type { Arrivals } from './servers.ts';
import { type BenchTarget, echoes, echoIntervalMs, hostOf, intervalMsOf, type Kind, type Ports } from './targets.ts';

const scrapeEveryMs = 15_000;
// What was due just now is on its way, to the target and into the database.
const settleMs = 3_000;

// As the image and the units of systemd start it.
const asShipped = { MALLOC_ARENA_MAX: '2' };

/** The real program as it ships, with history, alerts and metrics on, scraped every 15 s. */
export async function measureWatchpost(
  kind: Kind,
  targets: readonly BenchTarget[],
  { warmUpMs, measuredMs }: Times,
  servers: Helper<object, Arrivals>,
): Promise<Result> {
  const intervalMs = intervalMsOf[kind];
  const { ports, isCaptured } = await servers.ask({});
  console.log(`  arrivals are timed by ${isCaptured ? 'the kernel, at their first packet' : 'the target’s own clock'}`);
  using bundle = bundleProgram();
  await using program = await createProgram({ environment: { ...askableHeap, ...asShipped }, house: bundle.house });
  const running = await program.start(configuration(targets, ports, intervalMs));
  const pid = running.process.pid ?? 0;
  const served = Date.now();
  await scrapeFor(running, intervalMs + 1_000);
  tellStart(targets, await servers.ask({}), served, cpuSeconds(pid));
  await scrapeFor(running, warmUpMs - intervalMs - 1_000);

  await servers.ask({});
  const began = Date.now();
  const before = { cpu: cpuSeconds(pid), threads: threadsOf(pid), disk: writtenBytes(pid).disk };
  const lagBefore = await lagOf(running);
  await scrapeFor(running, measuredMs);
  const after = { cpu: cpuSeconds(pid), threads: threadsOf(pid), disk: writtenBytes(pid).disk };
  const memory = memoryBytes(pid).now;
  const ended = Date.now();
  await pause(settleMs);
  const { at, timerLate } = await servers.ask({});
  const { p50, p99, max } = spreadOf(timerLate);
  console.log(
    `  a bare timer at the same time was late by ${figure(p50)} ms (p50), ${figure(p99)} (p99), ${figure(max)} (longest)`,
  );
  tellLag(lagBefore, await lagOf(running));
  const heap = await liveHeap(running);
  await running.end('SIGTERM');

  const rows = query(
    program.database,
    `SELECT name, due_at, status FROM results JOIN targets ON id = target_id
     WHERE due_at >= ${began} AND due_at < ${ended} ORDER BY due_at`,
  );
  const expected = Math.round((targets.length * measuredMs) / intervalMs);
  const notUp = rows.filter(({ status }) => status !== 0).length;
  console.log(`  stored ${rows.length} of some ${expected} results, ${notUp} of them not up`);
  printTable(
    ['  thread', 'CPU us per check'],
    [...after.threads].map(([name, seconds]) => [
      `  ${name}`,
      figure(cpuUsOf(seconds - (before.threads.get(name) ?? 0), rows.length)),
    ]),
  );
  console.log(
    `  living objects: ${figure(heap.hub / 1e6)} MB in the hub, ${figure(heap.threads / 1e6)} MB in its node\n`,
  );
  return {
    kind,
    targets: targets.length,
    subject: 'watchpost',
    checks: rows.length,
    cpuUs: cpuUsOf(after.cpu - before.cpu, rows.length),
    late: kind === 'ping' ? null : lateness(targets, rows, at, intervalMs),
    memory,
    liveHeap: heap.hub + heap.threads,
    written: (after.disk - before.disk) / rows.length,
  };
}

function configuration(targets: readonly BenchTarget[], ports: Ports, intervalMs: number): string {
  return JSON.stringify({
    data: 'watchpost.db',
    http: { listen: '127.0.0.1:0' },
    defaults: { every: `${intervalMs / 1_000}s`, rules: ['down'] },
    rules: { down: { failing: 'majority', rounds: 2, recover: 2 } },
    targets: Object.fromEntries(
      targets.map((target) => [
        target.name,
        {
          check: target.type,
          host: hostOf(target, ports),
          ...(target.type === 'ping' ? { count: echoes, interval: `${echoIntervalMs}ms` } : { timeout: '2s' }),
        },
      ]),
    ),
  });
}

async function scrapeFor(running: Running, ms: number): Promise<void> {
  const end = performance.now() + ms;
  for (let left = ms; left > 0; left = end - performance.now()) {
    await pause(Math.min(scrapeEveryMs, left));
    await metricsOf(running);
  }
}

async function metricsOf(running: Running): Promise<string> {
  return (await fetch(`${running.url}/metrics`)).text();
}

function tellStart(targets: readonly BenchTarget[], { at }: Arrivals, served: number, cpu: number): void {
  const firsts = targets.map(({ address }) => at[address]?.[0] ?? Number.NaN);
  const seen = firsts.filter((first) => !Number.isNaN(first));
  const within = seen.length === 0 ? '' : ` within ${figure((Math.max(...seen) - served) / 1e3)} s of the start`;
  const told = targets[0]?.type === 'ping' ? '' : `, ${seen.length} targets were checked${within}`;
  console.log(`  with its first interval it has used ${figure(cpu)} s of CPU${told}`);
}

/** How many checks began within so many seconds of their due time, as the program itself counts. */
async function lagOf(running: Running): Promise<ReadonlyMap<number, number>> {
  const text = await metricsOf(running);
  const buckets = text.matchAll(/^watchpost_schedule_lag_seconds_bucket\{le="([^"]+)"\} (\d+)/gm);
  return new Map(
    [...buckets].map(([, bound = '', count]) => [Number(bound.replace('+Inf', 'Infinity')), Number(count)]),
  );
}

function tellLag(before: ReadonlyMap<number, number>, after: ReadonlyMap<number, number>): void {
  const counts = [...after].map(([bound, count]) => [bound, count - (before.get(bound) ?? 0)] as const);
  const all = counts.at(-1)?.[1] ?? 0;
  const shares = counts
    .filter(([bound]) => bound <= 0.05)
    .map(([bound, count]) => `${((100 * count) / all).toFixed(1)} % within ${bound * 1e3} ms`);
  console.log(`  watchpost_schedule_lag_seconds: ${shares.join(', ')}`);
}

function lateness(
  targets: readonly BenchTarget[],
  rows: readonly Record<string, unknown>[],
  at: Arrivals['at'],
  intervalMs: number,
) {
  const due = Map.groupBy(rows, (row) => row['name']);
  const all = targets.map(({ name, address }) => {
    const dues = (due.get(name) ?? []).map((row) => Number(row['due_at']));
    return latenessOf(dues, at[address] ?? [], intervalMs);
  });
  const missing = all.reduce((sum, one) => sum + one.missing, 0);
  if (missing > 0) console.log(`  ${missing} results are without an arrival at their target`);
  return spreadOf(all.flatMap(({ late }) => late));
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
