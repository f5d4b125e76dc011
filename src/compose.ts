import type { CheckRunnerEnvironment } from '#compose/checking.ts';
import type { Daemon } from '#compose/daemon.ts';
import { openStanding } from '#compose/standing.ts';
import type { Config } from '#config/config.ts';
import type { ConfigSource } from '#config/apply/reload.ts';
import { deadline } from '#kernel/clock.ts';
import { statesSince } from '#web/state/states.ts';

// The compose files are the only ones that name adapters.

// Together with what the web server takes to close under eight seconds: Docker kills after ten.
const finishMs = 4_000;
const drainMs = 2_000;

/** Starts everything that the configuration asks for; `source` is where to reload it from. Rejects with a catalogued error, and then nothing runs. */
export async function startDaemon(
  config: Config,
  surroundings: CheckRunnerEnvironment,
  source: ConfigSource | null = null,
): Promise<Daemon> {
  if (config.hubs !== null) {
    // With what it needs it is large, and most have one hub.
    const { startHub } = await import('#compose/hubs.ts');
    return startHub(config, config.hubs, surroundings, source);
  }
  await using started = new AsyncDisposableStack();
  const standing = started.use(await openStanding(config, surroundings, source, null));
  const { web, history, board, outbox } = standing;
  const { monitor, reloader } = await standing.lead();
  const rest = started.move();
  return {
    web,
    history,
    states: (version) => statesSince(board, version),
    onChange: (listener) => board.onChange(listener),
    ended: monitor.ended,
    reload: async (cause) => reloader.reload(cause),
    async stop() {
      try {
        await monitor.stop(finishMs);
        using limit = deadline(surroundings.clock, drainMs);
        await outbox.drain(limit.signal);
      } finally {
        await rest.disposeAsync();
      }
    },
  };
}
