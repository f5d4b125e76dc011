import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startDaemon } from '#compose.ts';
import type { CheckRunnerEnvironment } from '#compose/checking.ts';
import type { Daemon } from '#compose/daemon.ts';
import { openConfigSource } from '#config/apply/config-source.ts';
import { loadConfig } from '#config/load.ts';
import { type Clock, systemClock } from '#kernel/clock.ts';
import { systemRandom } from '#kernel/random.ts';
import type { RenewalTimes } from '#monitor/notify/channel.ts';
import { type LogLine, memoryLog } from './memory-log.ts';

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
  return stoppedOnce(await startDaemon(config, surroundings));
}

/** A daemon whose configuration can change. */
export interface ReloadableDaemon extends Daemon, AsyncDisposable {
  readonly lines: readonly LogLine[];
  /** Reloads with another configuration, which must be valid. */
  reconfigure(yaml: string): Promise<void>;
}

/** The same with a configuration that can be reloaded. */
export async function startReloadableDaemonIn(folder: string, yaml: string): Promise<ReloadableDaemon> {
  const path = join(folder, 'watchpost.yaml');
  await writeFile(path, yaml);
  const config = await loadConfig({ path, env: {} });
  const { log, lines } = memoryLog();
  const surroundings = { clock: systemClock, random: systemRandom, log, version: '0.0.0', pid: process.pid };
  const source = openConfigSource({ path, env: {}, clock: systemClock, log });
  const daemon = stoppedOnce(await startDaemon(config, surroundings, source));
  const stop = async () => {
    await daemon.stop();
    source[Symbol.dispose]();
  };
  return {
    ...daemon,
    stop,
    [Symbol.asyncDispose]: stop,
    lines,
    async reconfigure(next) {
      await writeFile(path, next);
      const result = await daemon.reload('the test');
      if (!result.ok) throw new Error(result.problems.join('\n'));
    },
  };
}

function stoppedOnce(daemon: Daemon): Daemon & AsyncDisposable {
  let isStopped = false;
  const stop = async () => {
    if (isStopped) return;
    isStopped = true;
    await daemon.stop();
  };
  return { ...daemon, stop, [Symbol.asyncDispose]: stop };
}
