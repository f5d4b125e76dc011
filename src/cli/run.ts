import { once } from 'node:events';
import { startDaemon } from '#compose.ts';
import { openConfigSource } from '#config/config-source.ts';
import { systemClock } from '#kernel/clock.ts';
import { createLog, type LogLevel } from '#kernel/log.ts';
import { systemRandom } from '#kernel/random.ts';
import type { World } from './world.ts';

/** Runs the daemon until it is told to stop (exit code 0) or cannot go on (it throws). */
export async function run(
  options: { readonly config: string; readonly logLevel: LogLevel },
  world: World,
): Promise<number> {
  const source = openConfigSource({ path: options.config, env: world.env });
  const config = await source.load();
  const log = createLog({ level: options.logLevel, pretty: world.interactive, fd: 2 });
  const environment = { clock: systemClock, random: systemRandom, log, version: world.version, pid: world.pid };
  const daemon = await startDaemon(config, environment, source);
  world.onHangup(
    () => void daemon.reload('SIGHUP').catch((error: unknown) => log.error({ err: error }, 'reload failed')),
  );
  const where =
    config.foreignService === null ? { nodes: config.nodes.length } : { service: config.foreignService.url };
  log.info({ targets: config.targets.length, ...where }, 'watching');
  const stopped = world.stop.aborted ? undefined : once(world.stop, 'abort');
  try {
    await Promise.race([daemon.ended, stopped]);
  } finally {
    log.info('stopping: no new rounds, running ones may finish');
    await daemon.stop();
    log.info('stopped');
  }
  return 0;
}
