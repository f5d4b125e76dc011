import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = '/sys/fs/cgroup';
const periodUs = 100_000;

/** Holds processes, all threads, to a share of a core together, until they have ended and this is disposed of. Needs root, and cgroups (1 or 2). */
export function limitCpu(pids: readonly [number, ...number[]], share: number): Disposable {
  const isUnified = existsSync(join(root, 'cgroup.controllers'));
  const folder = join(root, isUnified ? '' : 'cpu', `watchpost-bench-${pids[0]}`);
  mkdirSync(folder);
  const quota = Math.round(share * periodUs);
  // A group counts as one process among the others, however high the priority of what is in it.
  if (isUnified) {
    writeFileSync(join(folder, 'cpu.weight'), '10000');
    writeFileSync(join(folder, 'cpu.max'), `${quota} ${periodUs}`);
  } else {
    writeFileSync(join(folder, 'cpu.shares'), '262144');
    writeFileSync(join(folder, 'cpu.cfs_period_us'), String(periodUs));
    writeFileSync(join(folder, 'cpu.cfs_quota_us'), String(quota));
  }
  for (const pid of pids) writeFileSync(join(folder, 'cgroup.procs'), String(pid));
  return { [Symbol.dispose]: () => rmdirSync(folder) };
}
