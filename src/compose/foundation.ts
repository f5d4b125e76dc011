import type { CheckRunnerEnvironment } from '#compose/checking.ts';
import { type Exports, startExports } from '#compose/export.ts';
import { type OpenedDevices, openDevices } from '#compose/devices.ts';
import { openReader, retentionIn, startUpkeep } from '#compose/history.ts';
import { shownOf } from '#compose/monitor.ts';
import { openReplaceableChecking, type ReplaceableCheckRunner } from '#compose/replaceable.ts';
import type { StartupState } from '#compose/startup-state.ts';
import type { Config } from '#config/config.ts';
import type { ConfigSource } from '#config/apply/reload.ts';
import type { HistoryReader } from '#history/reader.ts';
import type { Clock } from '#kernel/clock.ts';
import type { LatenessSummary } from '#kernel/lateness.ts';
import { expectMuch } from '#kernel/young-generation.ts';
import type { HubFigures } from '#metrics/hub.ts';
import { createMetrics, type Metrics } from '#metrics/metrics.ts';
import type { StoreFigures } from '#metrics/store.ts';
import { openStore, type Store } from '#store/sqlite.ts';

/** What everything else stands on. */
export interface Foundation {
  readonly metrics: Metrics;
  readonly store: Store;
  readonly retention: Config['retention'];
  readonly history: HistoryReader;
  readonly checking: ReplaceableCheckRunner;
  /** Sends results and metrics elsewhere. */
  readonly exports: Exports;
  /** Tells the messages of this installation from those of others that watch the same names. */
  readonly identity: string;
  readonly devices: OpenedDevices;
}

/** The store of a hub that shares its history. It outlives what stands on it. */
export interface SharedFoundation {
  readonly store: Store;
  /** The nodes while this hub follows, null while it leads. */
  readonly nodes: () => ReturnType<ReplaceableCheckRunner['nodes']> | null;
  readonly hubs: () => HubFigures;
}

/** Opens the store and what checks are run by; what has to be closed goes to `started`. */
export async function openFoundation(
  config: Config,
  environment: CheckRunnerEnvironment & { readonly lateness: () => LatenessSummary },
  upcoming: StartupState,
  source: Pick<ConfigSource, 'lists'> | null,
  started: AsyncDisposableStack,
  shared: SharedFoundation | null,
): Promise<Foundation> {
  const { clock, random, log, version, pid, lateness } = environment;
  const metrics = createMetrics({
    clock,
    log,
    version,
    shown: config.metrics,
    onManyPairs: expectMuch,
    sources: {
      nodes: () => shared?.nodes() ?? checking.nodes(),
      deliveries: () => store.deliveryCounts(),
      store: () => storeFiguresOf(store, clock),
      budgets: () => upcoming.watching?.monitor.budgets() ?? [],
      lists: () => source?.lists() ?? [],
      unreported: () => upcoming.watching?.audit.unreported().length ?? 0,
      lateness,
      ...(shared !== null && { hubs: shared.hubs }),
    },
  });
  metrics.targetsChanged(config.targets.map((target) => shownOf(target, clock.now())));
  metrics.configReloaded(true, clock.now());
  const exports = started.use(startExports(config, { metrics, version, clock, random, log }));
  const retention = retentionIn(upcoming.inForce);
  const onWritten = (seconds: number) => metrics.storeWritten(seconds);
  const store = shared?.store ?? started.use(openStore({ path: config.data, clock, log, pid, retention, onWritten }));
  const onDone = (seconds: number) => metrics.upkeepDone(seconds);
  const onJudged = () => upcoming.watching?.monitor.past.countBudgets();
  started.use(startUpkeep(store, { onDone, onJudged, clock, log }));
  const checking = await openReplaceableChecking(shared === null ? config : withoutNodes, environment, store, {
    nodeAbsent: (absence) => upcoming.watching?.monitor.nodeAbsent(absence),
    unjudged: (unjudged) => upcoming.watching?.monitor.unjudged(unjudged),
    verdictOf: (...round) => upcoming.watching?.monitor.past.verdictOf(...round) ?? null,
    pastChanged: (target) => upcoming.watching?.monitor.past.changed(target),
  });
  started.defer(async () => checking.close());
  const history = openReader(store.history, upcoming.inForce, clock);
  const identity = store.fact('identity', () => random.id(12));
  const devices = openDevices({ store, inForce: upcoming.inForce, clock, random });
  return { metrics, store, retention, history, checking, exports, identity, devices };
}

// A hub that shares its history checks while it leads.
const withoutNodes = { nodes: [], nats: null, foreignService: null };

function storeFiguresOf(store: Store, clock: Clock): StoreFigures {
  const { oldestUnsealed } = store.upkeepProgress();
  return {
    bytes: store.bytes(),
    queued: store.health().queued,
    unsealedSeconds: oldestUnsealed === null ? 0 : Math.max(0, clock.now() - oldestUnsealed) / 1_000,
  };
}
