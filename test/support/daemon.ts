import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startDaemon } from '#compose.ts';
import type { CheckRunnerEnvironment } from '#compose/checking.ts';
import type { Daemon } from '#compose/daemon.ts';
import { loadConfig } from '#config/load.ts';
import { type Clock, systemClock } from '#kernel/clock.ts';
import { systemRandom } from '#kernel/random.ts';
import type { RenewalTimes } from '#monitor/notify/channel.ts';
import { memoryLog } from './memory-log.ts';

interface DaemonTimes extends Pick<CheckRunnerEnvironment, 'overloadTimes'> {
  readonly renewal: RenewalTimes;
  readonly clock?: Clock;
}

/** The whole daemon in this process, with its parts put together as in the program. Its folder outlives it. */
export async function startDaemonIn(
  folder: string,
  yaml: string,
  { clock = systemClock, ...times }: DaemonTimes,
): Promise<Daemon & AsyncDisposable> {
  const path = join(folder, 'watchpost.yaml');
  await writeFile(path, yaml);
  const config = await loadConfig({ path, env: {} });
  const { log } = memoryLog();
  const surroundings = { clock, random: systemRandom, log, version: '0.0.0', pid: process.pid, ...times };
  const daemon = await startDaemon(config, surroundings);
  let isStopped = false;
  const stop = async () => {
    if (isStopped) return;
    isStopped = true;
    await daemon.stop();
  };
  return { ...daemon, stop, [Symbol.asyncDispose]: stop };
}
