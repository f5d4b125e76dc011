import { type Checking, type Environment, openChecking } from '#compose/checking.ts';
import { openReloadableChannels, policiesOf, startRegulars } from '#compose/delivery.ts';
import { openReader, retentionIn, startUpkeep, summariesOf } from '#compose/history.ts';
import { healthOf } from '#compose/health.ts';
import { acknowledgingOf, controlsOf, shownOf, startWatching, type Watching } from '#compose/monitor.ts';
import { serviceOf } from '#compose/service.ts';
import type { Config } from '#config/config.ts';
import type { HistoryReader } from '#history/reader.ts';
import type { ConfigSource, Reloaded } from '#config/reload.ts';
import { type Clock, deadline } from '#kernel/clock.ts';
import { WatchpostError } from '#kernel/errors.ts';
import { exposedAdvice } from '#kernel/private-files.ts';
import { createMetrics, type MetricsSources } from '#metrics/metrics.ts';
import { silenceAt } from '#monitor/doubt/silence.ts';
import { createOutbox, type Outbox } from '#monitor/tell/outbox.ts';
import { openStore, type Store } from '#store/sqlite.ts';
import { loadAssets } from '#web/assets/assets.ts';
import { deliveryRoutes } from '#web/deliveries.ts';
import { historyRoutes } from '#web/history.ts';
import { pagesOf } from '#compose/pages.ts';
import { incidentHref } from '#web/pages/links.ts';
import { startWebServer, type WebServer } from '#web/server.ts';

// The compose files are the only ones that name adapters.

/** The running program. */
export interface Daemon {
  readonly web: WebServer;
  readonly history: HistoryReader;
  /** Rejects when the program cannot go on by a defect of ours. */
  readonly ended: Promise<void>;
  /** Loads the configuration anew and applies it; an invalid one changes nothing. */
  reload(cause: string): Promise<Reloaded>;
  /**
   * No new rounds; running ones finish within a deadline; the outbox is tried once; the store is closed.
   * Rejects where rounds were lost.
   */
  stop(): Promise<void>;
}

// Together under eight seconds: Docker kills after ten.
const finishMs = 4_000;
const drainMs = 2_000;
const closeMs = 1_000;

/** Starts everything that the configuration asks for; `source` is where to reload it from. Rejects with a catalogued error, and then nothing runs. */
export async function startDaemon(
  config: Config,
  environment: Environment,
  source: ConfigSource | null = null,
): Promise<Daemon> {
  const { clock, random, log, version, pid } = environment;
  for (const file of config.exposedFiles) log.warn({ file }, exposedAdvice(file));
  await using started = new AsyncDisposableStack();
  let watching: Watching | null = null;
  let written: ((seconds: number) => void) | null = null;
  const inForce = () => watching?.reloader.inForce ?? config;
  const retention = retentionIn(inForce);
  const store = started.use(
    openStore({
      path: config.data,
      clock,
      log,
      pid,
      retention,
      onWritten: (seconds) => written?.(seconds),
    }),
  );
  started.use(startUpkeep(store, { clock, log }));
  const checking = await openChecking(config, environment, store, (absence) => watching?.monitor.nodeAbsent(absence));
  started.defer(async () => checking.close());

  const history = openReader(store.history, inForce, clock);
  const reloadable = openReloadableChannels(config, inForce, { clock, log });
  const channels = reloadable.list;
  for (const channel of channels) started.defer(async () => channel.close());
  const metrics = started.use(createMetrics({ clock, log, version, sources: sourcesOf(checking, store) }));
  written = (seconds) => metrics.storeWritten(seconds);
  metrics.targetsChanged(config.targets.map((target) => shownOf(target, clock.now())));
  metrics.configReloaded(true, clock.now());

  const identity = store.fact('identity', () => random.id(12));
  const { acknowledgeAt, routes } = acknowledgingOf(() => watching ?? notYet(), { config, store, clock, random });
  const outbox = createOutbox({
    store,
    channels,
    clock,
    random,
    log,
    policyOf: policiesOf(inForce),
    isSilenced: ({ target }) => silenceAt(store.silences(clock.now()), target, clock.now()) !== null,
    linkTo: ({ id }) => (config.http.publicUrl === null ? null : `${config.http.publicUrl}${incidentHref(id)}`),
    acknowledgeAt,
    identity,
    seenNow: (incident) => watching?.monitor.seenNow(incident) ?? null,
    onSettled: ({ channel, outcome, delayMs }) =>
      metrics.deliverySettled({ channel, state: outcome === 'retry' ? 'pending' : outcome, createdAt: 0, at: delayMs }),
  });
  started.defer(async () => outbox.stop());
  const health = healthOf({ checking, store, outbox, clock, monitor: () => watching?.monitor });
  const controls = controlsOf(() => watching ?? notYet(), { clock, random, store });
  const desk = deliveryRoutes({ store, wakeOutbox: () => outbox.wake() });
  const pages = pagesOf(config, {
    checking,
    assets: await loadAssets(),
    inForce,
    openIncidents: () => watching?.monitor.openIncidents() ?? [],
    history,
    controls: () => controls.controls,
    clock,
    random,
    log,
  });
  const plugins = serviceOf(
    { ...config, retention },
    { runs: checking.runs, pages: pages.site, store, clock, random, log, started },
  );
  const { trustProxy, admin } = config.http;
  const web = started.use(
    await startWebServer({
      listen: config.http,
      admin,
      clock,
      log,
      metrics,
      // A page that strangers are let in to does not show them what is watched.
      metricsFor: config.ownService?.open === true ? 'this machine' : 'everybody',
      health,
      plugins: [...pages.routes, ...plugins, ...routes],
      problemPage: (problem) => pages.site.problem(problem),
      adminPlugins: [controls.routes, desk, historyRoutes({ history, clock })],
      trustProxy,
      limits: { closeMs },
    }),
  );
  const { runner } = checking;
  const wakeOutbox = () => outbox.wake();
  const { stored } = checking;
  const { board } = pages;
  const regulars = startRegulars(config, {
    ...environment,
    summaries: summariesOf(history, store),
    identity,
    store,
    outbox,
    channels,
    pulses: health.pulses,
  });
  started.defer(async () => regulars.stop());
  const prepare = (next: Config) => {
    const putIntoForce = reloadable.prepare(next);
    return () => {
      putIntoForce();
      regulars.update(next);
      wakeOutbox();
    };
  };
  watching = startWatching({
    config,
    source,
    prepare,
    runner,
    store,
    metrics,
    clock,
    random,
    log,
    wakeOutbox,
    stored,
    board,
  });
  started.use(watching.reloader);
  void pages.seed().catch((error: unknown) => log.error({ err: error }, 'history could not be read'));
  outbox.start();
  return handleOf({ ...watching, web, history, outbox, clock, rest: started.move() });
}

function notYet(): never {
  throw new WatchpostError('starting', 'not started yet: try again in a moment');
}

interface Parts extends Watching {
  readonly web: WebServer;
  readonly history: HistoryReader;
  readonly outbox: Outbox;
  readonly clock: Clock;
  /** Everything that was started, the last first. */
  readonly rest: AsyncDisposableStack;
}

function handleOf({ web, history, monitor, reloader, outbox, clock, rest }: Parts): Daemon {
  return {
    web,
    history,
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

function sourcesOf(checking: Checking, store: Store): MetricsSources {
  return {
    nodes: () => checking.nodes(),
    deliveries: () => store.deliveryCounts(),
    store: () => ({ bytes: store.bytes(), queued: store.health().queued }),
  };
}
