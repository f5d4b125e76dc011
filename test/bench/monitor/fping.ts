import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cpuUsOf, type Result } from './result.ts';
import { type BenchTarget, echoes, echoIntervalMs, intervalMsOf } from './targets.ts';

const run = promisify(execFile);
// fping takes no shorter pause between two packets (fping(8)), unless it is root.
const shortestGapMs = 0.1;

/** One fping for all targets, which are spread over the interval as Watchpost spreads them. */
export async function measureFping(targets: readonly BenchTarget[]): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'watchpost-bench-'));
  try {
    const list = join(folder, 'targets');
    writeFileSync(list, targets.map(({ address }) => `${address}\n`).join(''));
    const gap = Math.max(intervalMsOf.ping / targets.length / echoes, shortestGapMs).toFixed(2);
    const options = `-q -C ${echoes} -p ${echoIntervalMs} -i ${gap} -t 3000 -f ${list}`;
    // It ends with an error where an echo is lost; its own CPU and that of its children is the second line of `times`.
    const { stdout } = await run('bash', ['-c', `fping ${options} > /dev/null 2>&1; times`]);
    const spent = [...(stdout.trim().split('\n').at(-1) ?? '').matchAll(/(\d+)m([\d.]+)s/g)];
    const seconds = spent.reduce((sum, [, minutes, rest]) => sum + Number(minutes) * 60 + Number(rest), 0);
    return {
      kind: 'ping',
      targets: targets.length,
      subject: 'fping',
      checks: targets.length,
      cpuUs: cpuUsOf(seconds, targets.length),
      late: null,
      memory: null,
      liveHeap: null,
      written: null,
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
