import { once } from 'node:events';
import { flushCompileCache } from 'node:module';
import { startNodeProcess } from '#compose/node.ts';
import { loadNodeConfig } from '#config/shape/node.ts';
import { systemClock } from '#kernel/clock.ts';
import { createLog, type LogLevel } from '#kernel/log.ts';
import { keepMallocSmall } from '#kernel/malloc.ts';
import { systemRandom } from '#kernel/random.ts';
import type { CommandContext } from '../shared/command-context.ts';

export interface NodeOptions {
  readonly config?: string | undefined;
  readonly logLevel: LogLevel;
  /** The other flags, by the key of their setting. */
  readonly settings: Readonly<Record<string, string | undefined>>;
}

/** Runs a node until SIGTERM or SIGINT (exit code 0) or until it is revoked (77). */
export async function runNode(
  { config: path, logLevel, settings }: NodeOptions,
  context: CommandContext,
): Promise<number> {
  const guard = context.guardStop();
  using _malloc = await keepMallocSmall(systemClock, context.env['MALLOC_ARENA_MAX'] !== undefined);
  const config = await loadNodeConfig({ path: path ?? null, env: context.env, flags: settings, cwd: context.cwd });
  const log = createLog({ level: logLevel, pretty: context.interactive, fd: 2 });
  const node = await startNodeProcess(config, {
    clock: systemClock,
    random: systemRandom,
    log,
    version: context.version,
    guard,
  });
  // As in `run`.
  flushCompileCache();
  const stopped = context.stop.aborted ? undefined : once(context.stop, 'abort');
  try {
    await Promise.race([node.ended, stopped]);
  } finally {
    log.info('stopping: no new checks, running ones may finish');
    await node.stop();
    log.info('stopped');
  }
  return 0;
}
