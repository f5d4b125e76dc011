import type { Config } from '#config/config.ts';
import type { Exports } from '#compose/export.ts';
import { outlineOf } from '#config/apply/outline.ts';
import { type ConfigSource, createReloader, type Reloader } from '#config/apply/reload.ts';
import type { ChangeKeeper } from '#history/changes.ts';
import type { MeasurementKeeper } from '#history/measurements.ts';
import type { Clock } from '#kernel/clock.ts';
import type { Log } from '#kernel/log.ts';
import { onceFor } from '#kernel/once-for.ts';
import { exposedAdvice } from '#kernel/private-files.ts';
import type { Random } from '#kernel/random.ts';
import type { Metrics } from '#metrics/metrics.ts';
import type { ExportedTarget } from '#metrics/target.ts';
import { type Audit, startAudit } from '#monitor/audit.ts';
import { createControls } from '#monitor/controls.ts';
import type { RecipientAddress, Incident } from '#monitor/judge/incident.ts';
import { createAcknowledgements } from '#monitor/notify/acknowledgement.ts';
import type { UnstoredDeliveries } from '#monitor/notify/unstored.ts';
import type { Store } from '#store/sqlite.ts';
import type { Target } from '#monitor/judge/target.ts';
import type { EvidenceCollector } from '#monitor/evidence/collector.ts';
import { type Monitor, startMonitor } from '#monitor/monitor.ts';
import type { MonitorStore } from '#monitor/store.ts';
import type { Runner } from '#monitor/watch/runner.ts';
import type { DoneRound, MonitorEvents } from '#monitor/watch/watch.ts';
import { formatRunName } from '#protocol/run-name.ts';
import { longestInterval } from '#schedule/schedule.ts';
import { acknowledgePath, acknowledgeRoutes } from '#web/pages/acknowledge.ts';
import type { PageSet } from '#web/pages/site.ts';
import { controlRoutes } from '#web/control.ts';
import type { Board } from '#web/state/board.ts';

// The part of compose.ts that is about the monitor: its metrics and its control.

export interface WatchingDependencies {
  readonly config: Config;
  readonly source: ConfigSource | null;
  /** What a reload changes beside the targets: see the reloader. */
  readonly prepare: (next: Config) => Promise<() => void>;
  readonly runner: Runner;
  readonly store: MonitorStore;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly wakeOutbox: () => void;
  readonly unstored: Pick<UnstoredDeliveries, 'add' | 'beginningsOf'>;
  /** Whether notifications may go out although they are not stored. */
  readonly mayNotify: () => boolean;
  /** Whether no message gets through to any recipient. */
  readonly isCutOff: () => boolean;
  /** Called with the name of each round that is stored, for nodes that wait for the receipt. */
  readonly stored: (round: string) => void;
  /** What pages show of the moment. */
  readonly board: Pick<Board, 'roundDone' | 'incidentsChanged' | 'forget'>;
  /** Where results are sent besides. */
  readonly exports: Pick<Exports, 'roundDone'>;
  /** Gathers evidence of what goes wrong. */
  readonly evidence: EvidenceCollector;
  /** What becomes other from round to round, besides states. */
  readonly changes: ChangeKeeper;
  readonly measurements: Pick<MeasurementKeeper, 'roundDone'>;
}

export interface MonitorRuntime {
  readonly monitor: Monitor;
  readonly reloader: Reloader;
  /** Looks for incidents without a notification. */
  readonly audit: Audit;
  readonly evidence: Pick<EvidenceCollector, 'gatherNow'>;
}

/** Starts the monitor, and watches the configuration where it is known where that comes from. */
export function startWatching({
  config,
  source,
  prepare,
  metrics,
  clock,
  log,
  stored,
  board,
  changes,
  measurements,
  exports,
  evidence,
  unstored,
  mayNotify,
  ...parts
}: WatchingDependencies): MonitorRuntime {
  for (const { openIncidents } of parts.store.load()) {
    for (const { target, rule, severity, held } of openIncidents)
      metrics.incidentChanged({ target, rule, severity, active: true, suppressed: held !== null });
  }
  const notifyChanged = (incidents: readonly Incident[]) => {
    if (incidents.length > 0) board.incidentsChanged(incidents);
    for (const { target, rule, severity, endedAt, held } of incidents) {
      const active = endedAt === null;
      metrics.incidentChanged({ target, rule, severity, active, suppressed: active && held !== null });
    }
  };
  const monitor = startMonitor(config, {
    ...parts,
    clock,
    log,
    events: eventsOf({ metrics, stored, board, changes, measurements, exports, evidence, notifyChanged }),
    onUnstored(record) {
      if (!mayNotify()) return;
      unstored.add(record);
      notifyChanged(record.incidents);
    },
  });
  const reloader = createReloader({
    config,
    source,
    clock,
    log,
    prepare,
    apply(next) {
      for (const file of next.exposedFiles) log.warn({ file }, exposedAdvice(file));
      metrics.showAs(next.metrics);
      metrics.targetsChanged(next.targets.map((target) => shownOf(target, clock.now())));
      const applied = monitor.apply(next);
      changes.reloaded([...applied.added, ...applied.changed], clock.now());
      return applied;
    },
    onReloaded: (ok) => metrics.configReloaded(ok, clock.now()),
  });
  const doubtLimitMs = () => reloader.inForce.doubtLimitMs;
  const audit = startAudit({ monitor, deliveriesOf: unstored.beginningsOf, doubtLimitMs, clock, log });
  evidence.incidentsChanged(monitor.openIncidents());
  return { monitor, reloader, audit, evidence };
}

/** The operator's routes. They are there before the monitor is, and say so until then. */
export function controlsOf(
  watching: () => MonitorRuntime,
  {
    clock,
    random,
    unstored,
  }: Pick<WatchingDependencies, 'clock' | 'random'> & {
    readonly unstored: Pick<UnstoredDeliveries, 'deliveriesOf'>;
  },
) {
  const controls = createControls({ monitor: () => watching().monitor, clock, random });
  const routes = controlRoutes({
    ...controls,
    deliveriesOf: (incident) => unstored.deliveriesOf(incident),
    reload: async (cause) => watching().reloader.reload(cause),
    gatherEvidence: async (target) => watching().evidence.gatherNow(target),
    outline: (salt) => outlineOf(watching().reloader.inForce, salt),
  });
  return { controls, routes };
}

export type AcknowledgementParts = ReturnType<typeof acknowledgingOf>;

/** The page behind the links to acknowledge, and what makes these; without an address that people reach there is neither. */
export function acknowledgingOf(
  watching: () => MonitorRuntime,
  {
    inForce,
    store,
    clock,
    random,
  }: Pick<WatchingDependencies, 'clock' | 'random'> & {
    readonly inForce: () => Config;
    readonly store: Store;
  },
) {
  const controls = createControls({ monitor: () => watching().monitor, clock, random });
  let known: ReturnType<typeof createAcknowledgements> | null = null;
  const links = () => (known ??= createAcknowledgements(store.fact('acknowledgement key', () => random.id(43))));
  return {
    routesOf: ({ http }: Pick<Config, 'http'>, site: PageSet) =>
      http.publicUrl === null
        ? []
        : [
            acknowledgeRoutes({
              ...controls,
              site,
              read: (token) => links().read(token),
              incidentsOf: (message, to) =>
                controls.openIncidents().flatMap(({ id }) => (wasNotifiedBy(store, id, message, to) ? [id] : [])),
            }),
          ],
    acknowledgeAt: (incident: Incident, to: RecipientAddress) => {
      const { publicUrl } = inForce().http;
      return publicUrl === null ? null : `${publicUrl}${acknowledgePath}${links().tokenFor(incident, to)}`;
    },
    acknowledgeAllAt: (message: string, to: RecipientAddress) => {
      const { publicUrl } = inForce().http;
      return publicUrl === null ? null : `${publicUrl}${acknowledgePath}${links().tokenForAll(message, to)}`;
    },
  };
}

function wasNotifiedBy(store: Store, incident: string, message: string, to: RecipientAddress): boolean {
  return store
    .listDeliveries({ incident, limit: 1_000 })
    .some((one) => one.message === message && one.channel === to.channel && one.recipient === to.recipient);
}

interface MonitorListeners extends Pick<
  WatchingDependencies,
  'metrics' | 'stored' | 'board' | 'changes' | 'measurements' | 'exports' | 'evidence'
> {
  readonly notifyChanged: (incidents: readonly Incident[]) => void;
}

function eventsOf({
  metrics,
  stored,
  board,
  changes,
  measurements,
  exports,
  evidence,
  notifyChanged,
}: MonitorListeners): MonitorEvents {
  return {
    roundAwaited: () => {},
    roundSkipped: (_, count) => metrics.roundsSkipped(count),
    roundDone(target, round) {
      board.roundDone(target.name, round);
      changes.roundDone(target.name, target.spec.type, round.dueAt, round.votes);
      if (round.isRevision !== true) measurements.roundDone(target.name, target.spec.type, round.dueAt, round.votes);
      if (round.late === undefined) evidence.roundDone(target, round.votes, isUp(round));
      exports.roundDone({
        target: target.name,
        check: target.spec.type,
        dueAt: round.dueAt,
        votes: round.votes,
        verdict: round.verdict.status,
        inMaintenance: round.inMaintenance,
        isLate: round.late !== undefined || round.isRevision === true,
      });
      metrics.roundDone({
        ...round,
        target: target.name,
        check: target.spec.type,
        verdict: { status: round.inMaintenance ? 'maintenance' : round.verdict.status },
      });
    },
    recorded({ target, dueAt, incidents }) {
      stored(formatRunName({ target, dueAt }));
      notifyChanged(incidents);
      evidence.incidentsChanged(incidents);
    },
    unwatched(target) {
      board.forget(target);
      changes.forget(target);
    },
  };
}

const isUp = ({ verdict, inMaintenance }: DoneRound) => verdict.status === 'up' && !inMaintenance;

// Thousands of targets have the same list of rules.
const shownRulesOf = onceFor((rules: Target['rules']) =>
  rules.map(({ name, rule: { severity } }) => ({ name, severity })),
);

/** What metrics need to know about a target. */
export function shownOf(target: Target, now: number): ExportedTarget {
  const { name, spec, labels, rules, schedule } = target;
  const longestMs = longestInterval(schedule, name, now);
  return {
    name,
    check: spec.type,
    host: spec.host,
    labels,
    intervalSeconds: longestMs === null ? null : longestMs / 1_000,
    rules: shownRulesOf(rules),
  };
}
