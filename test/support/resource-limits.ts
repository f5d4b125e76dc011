import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = '/sys/fs/cgroup';
const periodUs = 100_000;
const isUnified = existsSync(join(root, 'cgroup.controllers'));
let made = 0;

export interface Resources {
  readonly memoryBytes: number;
  /** A share of one processor; default: all there is. */
  readonly cpu?: number;
}

/** A control group (cgroups(7), version 1 or 2), as containers and systemd's units have. */
export interface ResourceLimits extends Disposable {
  /** The words that start a command in it. */
  readonly prefix: readonly string[];
  /** The most memory that was in use, in bytes. */
  readonly mostBytes: number;
}

/** Why there are none here, or null where there are. */
export function limitsObstacle(): string | null {
  if (process.getuid?.() !== 0) return 'control groups take root';
  try {
    limitResources({ memoryBytes: 1e9, cpu: 1 })[Symbol.dispose]();
    return null;
  } catch {
    return 'control groups cannot be made here';
  }
}

/** Limits what is started in it. To be disposed when all of that has ended. */
export function limitResources({ memoryBytes, cpu }: Resources): ResourceLimits {
  const folderOf = (controller: string) =>
    join(root, isUnified ? '' : controller, `watchpost-test-${process.pid}-${made}`);
  const [memory, processor] = [folderOf('memory'), folderOf('cpu')];
  made += 1;
  const folders = new Set([memory, processor]);
  for (const folder of folders) mkdirSync(folder);
  writeFileSync(join(memory, isUnified ? 'memory.max' : 'memory.limit_in_bytes'), String(memoryBytes));
  if (cpu !== undefined && isUnified) {
    writeFileSync(join(processor, 'cpu.max'), `${Math.round(cpu * periodUs)} ${periodUs}`);
  } else if (cpu !== undefined) {
    writeFileSync(join(processor, 'cpu.cfs_period_us'), String(periodUs));
    writeFileSync(join(processor, 'cpu.cfs_quota_us'), String(Math.round(cpu * periodUs)));
  }
  const enter = [...folders].map((folder) => `echo $$ > ${join(folder, 'cgroup.procs')}`);
  return {
    prefix: ['sh', '-c', `${enter.join(' && ')} && exec "$@"`, 'sh'],
    get mostBytes() {
      return Number(readFileSync(join(memory, isUnified ? 'memory.peak' : 'memory.max_usage_in_bytes'), 'utf8'));
    },
    [Symbol.dispose]: () => folders.forEach((folder) => rmdirSync(folder)),
  };
}
