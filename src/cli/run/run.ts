import { once } from 'node:events';
import { flushCompileCache } from 'node:module';
import { startDaemon } from '#compose.ts';
import type { Daemon } from '#compose/daemon.ts';
import type { Config } from '#config/config.ts';
import { openConfigSource } from '#config/apply/config-source.ts';
import { currentBoot } from '#kernel/boot.ts';
import { systemClock } from '#kernel/clock.ts';
import { createLog, type LogLevel } from '#kernel/log.ts';
import { keepMallocSmall } from '#kernel/malloc.ts';
import { systemRandom } from '#kernel/random.ts';
import { keepCollectionsRare } from '#kernel/collections.ts';
import { collectStartupGarbage } from '#kernel/garbage.ts';
import { widenYoungGeneration } from '#kernel/young-generation.ts';
import { urlOfDaemon } from '../shared/daemon-url.ts';
import { paintOf } from '../shared/paint.ts';
import { printStateChanges } from './state-lines.ts';
import type { CommandContext } from '../shared/command-context.ts';

/** Runs the daemon until SIGTERM or SIGINT (exit code 0) or a fatal error (it throws). */
export async function run(
  options: { readonly config: string; readonly logLevel: LogLevel },
  context: CommandContext,
): Promise<number> {
  const guard = context.guardStop();
  using open = new DisposableStack();
  open.use(await keepMallocSmall(systemClock, context.env['MALLOC_ARENA_MAX'] !== undefined));
  const log = createLog({ level: options.logLevel, pretty: context.interactive, fd: 2 });
  const started = Promise.withResolvers<Daemon>();
  // One that comes during the start must not end the program: its configuration is read once more then.
  context.onHangup(
    () =>
      void started.promise
        .then(async (daemon) => daemon.reload('SIGHUP'))
        .catch((error: unknown) => log.error({ err: error }, 'reload failed')),
  );
  using source = openConfigSource({ path: options.config, env: context.env, clock: systemClock, log });
  const config = await source.load();
  const { version, pid } = context;
  const environment = { clock: systemClock, random: systemRandom, log, version, pid, guard, boot: await currentBoot() };
  const daemon = await startDaemon(config, environment, source);
  started.resolve(daemon);
  const where =
    config.foreignService === null ? { nodes: config.nodes.length } : { service: config.foreignService.url };
  log.info({ targets: config.targets.length, ...where }, 'watching');
  open.use(widenYoungGeneration(systemClock));
  open.use(collectStartupGarbage(systemClock));
  open.use(keepCollectionsRare());
  // Node would hold what it read of its cache, and what it has for it, until the end: several megabytes.
  flushCompileCache();
  if (context.interactive) open.use(printProgress(daemon, config, context));
  const stopped = context.stop.aborted ? undefined : once(context.stop, 'abort');
  try {
    await Promise.race([daemon.ended, stopped]);
  } finally {
    log.info('stopping: no new rounds, running ones may finish');
    await daemon.stop();
    log.info('stopped');
  }
  return 0;
}

/** Prints the address of the pages on a terminal, and then every change. */
function printProgress(daemon: Daemon, { http, targets }: Config, context: CommandContext): Disposable {
  const { host, port } = daemon.web.addr();
  const address = http.publicUrl ?? urlOfDaemon({ host, port, admin: null });
  const count = `${targets.length} ${targets.length === 1 ? 'target' : 'targets'}`;
  context.print(`\nWatching ${count}. Look at ${address}/ or run "watchpost top"; Ctrl-C stops.\n\n`);
  return printStateChanges(daemon, context.print, paintOf(context), systemClock);
}
