import { setTimeout as pause } from 'node:timers/promises';
import { cpuSeconds, type Helper, memoryBytes, startHelper } from '../tools/processes.ts';
import type { NaiveLoad } from './naive.ts';
import { cpuUsOf, type Result, type Times, unevenness } from './result.ts';
import type { Arrivals } from './servers.ts';
import { type BenchTarget, intervalMsOf, type Kind } from './targets.ts';

/** A process that does nothing but ask. */
export async function measureBare(
  kind: Kind,
  targets: readonly BenchTarget[],
  { warmUpMs, measuredMs }: Times,
  servers: Helper<object, Arrivals>,
): Promise<Result> {
  const { ports } = await servers.ask({});
  await using naive = startHelper<NaiveLoad, string>(new URL('naive.ts', import.meta.url));
  await naive.ask({ targets, ports, intervalMs: intervalMsOf[kind] });
  // It takes one interval to start all, and one until all repeat.
  await pause(Math.max(warmUpMs, 2 * intervalMsOf[kind]));
  await servers.ask({});
  const before = cpuSeconds(naive.pid);
  await pause(measuredMs);
  const spent = cpuSeconds(naive.pid) - before;
  const { checks, late } = unevenness((await servers.ask({})).at, intervalMsOf[kind]);
  return {
    kind,
    targets: targets.length,
    subject: 'bare loop',
    checks,
    cpuUs: cpuUsOf(spent, checks),
    late,
    memory: memoryBytes(naive.pid).now,
    liveHeap: null,
    written: null,
  };
}
