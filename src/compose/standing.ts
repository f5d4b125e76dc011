import type { NodeInfo } from '#checks/index.ts';
import type { CheckRunnerEnvironment } from '#compose/checking.ts';
import { watchClock } from '#compose/clock.ts';
import { type ReloadableChannels, type PeriodicJobs, startPeriodicJobs } from '#compose/delivery.ts';
import { startEvidence } from '#compose/evidence.ts';
import { createSharedCauses } from '#monitor/evidence/shared-causes.ts';
import type { Exports } from '#compose/export.ts';
import { createFollowerView } from '#compose/follower.ts';
import type { HubsObservation } from '#compose/hubs/observe-hubs.ts';
import { openFoundation } from '#compose/foundation.ts';
import { healthOf } from '#compose/health.ts';
import { summariesOf } from '#compose/history.ts';
import { acknowledgingOf, startWatching, type MonitorRuntime } from '#compose/monitor.ts';
import { openOutbox } from '#compose/outbox.ts';
import { watchOurselves } from '#compose/ourselves.ts';
import type { ReplaceableCheckRunner } from '#compose/replaceable.ts';
import { createUpcoming } from '#compose/startup-state.ts';
import type { CheckSharing } from '#compose/service.ts';
import { openWeb, type Web } from '#compose/web.ts';
import type { Config } from '#config/config.ts';
import type { ConfigSource } from '#config/apply/reload.ts';
import { type ChangeKeeper, createChangeKeeper } from '#history/changes.ts';
import { createMeasurementKeeper, type MeasurementKeeper } from '#history/measurements.ts';
import type { HistoryReader } from '#history/reader.ts';
import { observeLateness } from '#kernel/lateness.ts';
import type { Log } from '#kernel/log.ts';
import { exposedAdvice } from '#kernel/private-files.ts';
import type { Outbox } from '#monitor/notify/outbox.ts';
import type { Runs } from '#service/runs.ts';
import type { SharedWrite } from '#store/shared-store.ts';
import type { Store } from '#store/sqlite.ts';
import type { Board } from '#web/state/board.ts';
import type { WebOptions, WebServer } from '#web/server.ts';

/** What several hubs that share a history give to each of them. */
export interface HubSharing {
  readonly store: Store;
  /** Whether this hub leads at this moment, so that it may notify. */
  readonly mayNotify: () => boolean;
  /** What messages say about this hub, a sentence, or null. */
  readonly remark: () => string | null;
  /** Why this hub does not do its part as a follower, in words. */
  readonly troubles: () => readonly string[];
  readonly front: NonNullable<WebOptions['front']>;
  readonly hubs: HubsObservation;
  readonly checks: {
    /** Runs checks of callers while this hub follows. */
    readonly runs: Runs;
    readonly sharing: CheckSharing;
  };
}

/** The program without the part that judges: its store, its pages and its interfaces. */
export interface StandingDaemon extends AsyncDisposable {
  readonly web: WebServer;
  readonly board: Board;
  readonly history: HistoryReader;
  readonly outbox: Outbox;
  /** Starts to check, to judge and to notify. */
  lead(): Promise<MonitorRuntime>;
  /** Takes in what was written to the history that hubs share, by this hub or another. */
  committed(writes: readonly SharedWrite[]): void;
  /** Shows what another hub wrote. */
  applied(writes: readonly SharedWrite[]): void;
}

/** Opens everything that the configuration asks for but the monitor. Rejects with a catalogued error, and then nothing runs. */
export async function openStanding(
  config: Config,
  surroundings: CheckRunnerEnvironment,
  source: ConfigSource | null,
  sharing: HubSharing | null,
): Promise<StandingDaemon> {
  const { clock, take: lateness } = observeLateness(surroundings.clock);
  const environment = { ...surroundings, clock };
  const { random, log } = environment;
  for (const file of config.exposedFiles) log.warn({ file }, exposedAdvice(file));
  await using started = new AsyncDisposableStack();
  const upcoming = createUpcoming(config);
  const following = sharing === null ? null : createFollowerView(sharing.store, clock);
  const isFollower = () => following !== null && upcoming.watching === null;
  const statuses = () => (isFollower() ? (following?.statuses() ?? []) : checking.statuses());
  const nodes = () => (isFollower() ? statuses().map(({ info }) => shownNodeOf(info)) : null);
  const shared = sharing && { store: sharing.store, nodes, hubs: sharing.hubs.figures };
  const foundation = await openFoundation(config, { ...environment, lateness }, upcoming, source, started, shared);
  const { store, metrics, history, checking, exports, identity } = foundation;

  const acknowledging = acknowledgingOf(() => upcoming.started(), { inForce: upcoming.inForce, store, clock, random });
  const parts = { ...environment, ...foundation, upcoming };
  const sharedCauses = createSharedCauses();
  const { outbox, unstored, channels, linkTo } = openOutbox(
    config,
    { ...parts, ...acknowledging, sharedCauses, hubRemark: sharing?.remark },
    started,
  );
  const notReady = () => (isFollower() ? (sharing?.troubles() ?? []) : checking.notReady());
  const health = healthOf({ checking: { notReady }, store, outbox, clock, monitor: () => upcoming.watching?.monitor });
  const webParts = {
    ...parts,
    checking: { ...checking, statuses, runs: runsOf(checking, sharing, isFollower) },
    checkSharing: sharing?.checks.sharing ?? null,
    outbox,
    unstored,
    health,
    acknowledging,
    following,
    hubsLine: sharing?.hubs.line ?? null,
    editor: source?.editor ?? null,
    ...(sharing !== null && { front: sharing.front }),
  };
  const served = await openWeb(config, webParts, started);
  const { board } = served.pages;
  const seed = seederOf(served.pages, started, log);
  if (sharing !== null) void seed();
  const rest = started.move();

  async function lead(): Promise<MonitorRuntime> {
    if (sharing !== null) (await checking.prepare(config))();
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
    rest.defer(async () => regulars.stop());
    const evidence = rest.use(startEvidence({ upcoming, checking, store, sharedCauses, board, clock, log }));
    const watching = startWatching({
      config,
      source,
      prepare: (next) => preparedFor(next, { checking, served, channels, regulars, outbox, exports }),
      runner: checking.runner,
      ...environment,
      store,
      metrics,
      wakeOutbox: () => outbox.wake(),
      unstored,
      mayNotify: sharing?.mayNotify ?? (() => true),
      isCutOff: () => outbox.isCutOff(upcoming.inForce().doubtLimitMs),
      stored: checking.stored,
      board,
      exports,
      evidence,
      ...keepersOf(store, rest, { clock, log }),
    });
    upcoming.put(watching);
    for (const part of [watching.reloader, watching.audit]) rest.use(part);
    const { monitor } = watching;
    rest.use(watchOurselves(config.data, { ...environment, store, checking, monitor, hubs: sharing?.hubs.troubles }));
    rest.use(watchClock({ store, metrics, monitor, boot: environment.boot ?? null, clock, log }));
    if (sharing === null) void seed();
    outbox.start();
    rest.use(served.mailing.start(sharing?.mayNotify ?? (() => true)));
    return watching;
  }

  return {
    web: served.web,
    board,
    history,
    outbox,
    lead,
    committed: served.committed,
    applied: (writes) => following?.applied(writes, { config, metrics, pages: served.pages }),
    [Symbol.asyncDispose]: async () => rest.disposeAsync(),
  };
}

/** Has pages show what is known from before the start; it stops reading when `open` is disposed, before the store is closed. */
function seederOf(pages: Web['pages'], open: AsyncDisposableStack, log: Log): () => Promise<void> {
  const closing = new AbortController();
  open.defer(() => closing.abort());
  return async () => {
    try {
      await pages.seed(closing.signal);
    } catch (err) {
      if (!closing.signal.aborted) log.error({ err }, 'cannot read history');
    }
  };
}

/** What keeps what checks find besides their outcome. */
function keepersOf(
  store: Store,
  rest: AsyncDisposableStack,
  { clock, log }: Pick<CheckRunnerEnvironment, 'clock' | 'log'>,
): { readonly changes: ChangeKeeper; readonly measurements: MeasurementKeeper } {
  const failed = (error: unknown) => log.error({ err: error }, 'cannot store measured values');
  return {
    changes: createChangeKeeper(store, (error) => log.error({ err: error }, 'cannot store a change')),
    measurements: rest.use(createMeasurementKeeper(store, clock, failed)),
  };
}

// A hub that follows runs checks of callers by itself.
function runsOf({ runs }: { readonly runs: Runs }, sharing: HubSharing | null, isFollower: () => boolean): Runs {
  if (sharing === null) return runs;
  const current = () => (isFollower() ? sharing.checks.runs : runs);
  return {
    nodes: () => current().nodes(),
    run: async (request, signal) => current().run(request, signal),
    runOn: async (nodes, command, signal, listener) => current().runOn(nodes, command, signal, listener),
  };
}

const shownNodeOf = (info: NodeInfo) => ({ info, up: true, eventLoopLagSeconds: null });

interface ReloadableParts {
  readonly checking: Pick<ReplaceableCheckRunner, 'prepare'>;
  readonly served: Pick<Web, 'prepare'>;
  readonly channels: ReloadableChannels;
  readonly regulars: PeriodicJobs;
  readonly outbox: Outbox;
  readonly exports: Pick<Exports, 'update'>;
}

/** What puts a configuration into force beside the monitor. Throws `config_invalid`, and then nothing has changed. */
async function preparedFor(
  next: Config,
  { checking, served, channels, regulars, outbox, exports }: ReloadableParts,
): Promise<() => void> {
  const check = await checking.prepare(next);
  const serve = await served.prepare(next);
  const putIntoForce = channels.prepare(next);
  return () => {
    check();
    putIntoForce();
    serve();
    regulars.update(next);
    exports.update(next);
    outbox.wake();
  };
}
