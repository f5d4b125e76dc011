import type { CheckRunnerEnvironment } from '#compose/checking.ts';
import { watchClock } from '#compose/clock.ts';
import { type ReloadableChannels, type PeriodicJobs, startPeriodicJobs } from '#compose/delivery.ts';
import { openFoundation } from '#compose/foundation.ts';
import { healthOf } from '#compose/health.ts';
import { summariesOf } from '#compose/history.ts';
import { acknowledgingOf, startWatching, type MonitorRuntime } from '#compose/monitor.ts';
import { openOutbox } from '#compose/outbox.ts';
import { watchOurselves } from '#compose/ourselves.ts';
import type { ReplaceableCheckRunner } from '#compose/replaceable.ts';
import { createUpcoming } from '#compose/startup-state.ts';
import { openWeb, type Web } from '#compose/web.ts';
import type { Config } from '#config/config.ts';
import type { ConfigSource, ReloadResult } from '#config/apply/reload.ts';
import { createChangeKeeper } from '#history/changes.ts';
import type { HistoryReader } from '#history/reader.ts';
import { type Clock, deadline } from '#kernel/clock.ts';
import { observeLateness } from '#kernel/lateness.ts';
import { exposedAdvice } from '#kernel/private-files.ts';
import type { Outbox } from '#monitor/notify/outbox.ts';
import type { Board } from '#web/state/board.ts';
import { type States, statesSince } from '#web/state/states.ts';
import type { WebServer } from '#web/server.ts';

// The compose files are the only ones that name adapters.

/** The running program. */
export interface Daemon {
  readonly web: WebServer;
  readonly history: HistoryReader;
  /** How targets are: those that changed after this version, all after 0. */
  states(version: number): States;
  /** Called at every change of them. */
  onChange(listener: () => void): Disposable;
  /** Rejects when the program cannot go on by a defect of ours. */
  readonly ended: Promise<void>;
  /** Loads the configuration anew and applies it; an invalid one changes nothing. */
  reload(cause: string): Promise<ReloadResult>;
  /**
   * No new rounds; running ones finish within a deadline; the outbox is tried once; the store is closed.
   * Rejects where rounds were lost.
   */
  stop(): Promise<void>;
}

// Together with what the web server takes to close under eight seconds: Docker kills after ten.
const finishMs = 4_000;
const drainMs = 2_000;

/** Starts everything that the configuration asks for; `source` is where to reload it from. Rejects with a catalogued error, and then nothing runs. */
export async function startDaemon(
  config: Config,
  surroundings: CheckRunnerEnvironment,
  source: ConfigSource | null = null,
): Promise<Daemon> {
  const { clock, take: lateness } = observeLateness(surroundings.clock);
  const environment = { ...surroundings, clock };
  const { random, log } = environment;
  for (const file of config.exposedFiles) log.warn({ file }, exposedAdvice(file));
  await using started = new AsyncDisposableStack();
  const upcoming = createUpcoming(config);
  const foundation = await openFoundation(config, { ...environment, lateness }, upcoming, source, started);
  const { store, metrics, history, checking, identity } = foundation;

  const acknowledging = acknowledgingOf(() => upcoming.started(), {
    inForce: upcoming.inForce,
    store,
    clock,
    random,
  });
  const { acknowledgeAt, acknowledgeAllAt } = acknowledging;
  const parts = { ...environment, ...foundation, upcoming };
  const { outbox, unstored, channels, linkTo } = openOutbox(
    config,
    { ...parts, acknowledgeAt, acknowledgeAllAt },
    started,
  );
  const health = healthOf({ checking, store, outbox, clock, monitor: () => upcoming.watching?.monitor });
  const served = await openWeb(config, { ...parts, outbox, unstored, health, acknowledging }, started);
  const regulars = startPeriodicJobs(config, {
    ...environment,
    summaries: summariesOf(history, store),
    identity,
    store: unstored,
    outbox,
    channels: channels.list,
    linkTo,
    pulses: health.pulses,
  });
  started.defer(async () => regulars.stop());

  const watching = startWatching({
    config,
    source,
    prepare: (next) => preparedFor(next, { checking, served, channels, regulars, outbox }),
    runner: checking.runner,
    store,
    metrics,
    clock,
    random,
    log,
    wakeOutbox: () => outbox.wake(),
    unstored,
    isCutOff: () => outbox.isCutOff(upcoming.inForce().doubtLimitMs),
    stored: checking.stored,
    board: served.pages.board,
    changes: createChangeKeeper(store, (error) => log.error({ err: error }, 'cannot store a change')),
  });
  upcoming.put(watching);
  for (const part of [watching.reloader, watching.audit]) started.use(part);
  started.use(watchOurselves(config.data, { store, checking, monitor: watching.monitor, clock }));
  started.use(watchClock({ store, metrics, monitor: watching.monitor, boot: environment.boot ?? null, clock, log }));
  void served.pages.seed().catch((error: unknown) => log.error({ err: error }, 'cannot read history'));
  outbox.start();
  return handleOf({
    ...watching,
    web: served.web,
    board: served.pages.board,
    history,
    outbox,
    clock,
    rest: started.move(),
  });
}

interface ReloadableParts {
  readonly checking: Pick<ReplaceableCheckRunner, 'prepare'>;
  readonly served: Pick<Web, 'prepare'>;
  readonly channels: ReloadableChannels;
  readonly regulars: PeriodicJobs;
  readonly outbox: Outbox;
}

/** What puts a configuration into force beside the monitor. Throws `config_invalid`, and then nothing has changed. */
async function preparedFor(
  next: Config,
  { checking, served, channels, regulars, outbox }: ReloadableParts,
): Promise<() => void> {
  const check = await checking.prepare(next);
  const serve = await served.prepare(next);
  const putIntoForce = channels.prepare(next);
  return () => {
    check();
    putIntoForce();
    serve();
    regulars.update(next);
    outbox.wake();
  };
}

interface DaemonParts extends MonitorRuntime {
  readonly web: WebServer;
  readonly board: Board;
  readonly history: HistoryReader;
  readonly outbox: Outbox;
  readonly clock: Clock;
  /** Everything that was started, the last first. */
  readonly rest: AsyncDisposableStack;
}

function handleOf({ web, board, history, monitor, reloader, outbox, clock, rest }: DaemonParts): Daemon {
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
        using limit = deadline(clock, drainMs);
        await outbox.drain(limit.signal);
      } finally {
        await rest.disposeAsync();
      }
    },
  };
}
