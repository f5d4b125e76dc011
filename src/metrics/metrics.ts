import type { CheckSpec } from '#checks/index.ts';
import type { TargetBudgetLeft } from '#history/reader.ts';
import type { Clock } from '#kernel/clock.ts';
import type { LatenessSummary } from '#kernel/lateness.ts';
import type { Log } from '#kernel/log.ts';
import type { DeliveryCount } from '#monitor/judge/delivery.ts';
import type { Vote } from '#monitor/judge/vote.ts';
import { createAsk } from './ask.ts';
import { createAuditMetrics } from './audit.ts';
import { createCheckMetrics, durationBounds } from './check.ts';
import { createClockMetrics } from './clock.ts';
import { createConfigMetrics } from './config.ts';
import { createDeliveryMetrics, type DeliveryAttemptResult } from './delivery.ts';
import { createDisagreement } from './disagreement.ts';
import { createExportMetrics, type ExportMetrics } from './export.ts';
import { type BeatOutcome, createHeartbeatMetrics } from './heartbeat.ts';
import { createHubMetrics, type HubFigures } from './hub.ts';
import { createIncidentMetrics, type IncidentChange } from './incident.ts';
import { createListMetrics, type ListFigures } from './list.ts';
import { createNodeMetrics, type NodeState } from './node.ts';
import { createObjectiveMetrics } from './objective.ts';
import { type OtlpRequest, otlpRequests } from './otlp-format.ts';
import { OwnRegister } from './own-register.ts';
import { usualPairLimit } from './pair-limit.ts';
import { createProcessMetrics } from './process.ts';
import { Register } from './register.ts';
import { createRequestMetrics, type RequestRecord } from './request.ts';
import { createScheduleMetrics } from './schedule.ts';
import { createScrapes, type Scrape, type ScrapeRequest } from './scrape.ts';
import { createStoreMetrics, type StoreFigures } from './store.ts';
import { createVoteMetrics, type ShownMetrics } from './votes.ts';
import { createTargetMetrics, type TargetState, type ExportedTarget } from './target.ts';

/** Where the figures come from that are asked for at each scrape. One that throws costs its own figures only. */
export interface MetricsSources {
  /** All nodes there are, whether they answer or not. The series of any other node are dropped. */
  readonly nodes: () => readonly NodeState[];
  readonly deliveries: () => readonly DeliveryCount[];
  readonly store: () => StoreFigures;
  /** What is left of each objective's budget. */
  readonly budgets: () => readonly TargetBudgetLeft[];
  /** The lists of targets at addresses. */
  readonly lists: () => readonly ListFigures[];
  /** How many open incidents the audit found without a notification. */
  readonly unreported: () => number;
  /** How late the main thread came to what was due since this was asked last. */
  readonly lateness: () => LatenessSummary;
  /** Of one of several hubs that share their history. */
  readonly hubs?: () => HubFigures;
}

export interface MetricsOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly version: string;
  readonly sources: MetricsSources;
  readonly shown?: ShownMetrics;
  /** Called when pairs of target and node have become too many for series of each. */
  readonly onManyPairs?: () => void;
}

const shownByDefault: ShownMetrics = { buckets: null, blackbox: false, pairLimit: usualPairLimit };

/** A finished round. Times are wall time in milliseconds since the epoch. */
export interface RoundDone {
  readonly target: string;
  /** The type of the check. */
  readonly check: CheckSpec['type'];
  readonly votes: readonly Vote[];
  readonly verdict: { readonly status: TargetState };
  /** When it was to start, the target's place within the tick included. */
  readonly dueAt: number;
  readonly startedAt: number;
}

/** Takes what happens as plain values and tells it to Prometheus. Nothing here survives the process. */
export interface Metrics {
  /** What `/metrics` answers. */
  scrape(asked: ScrapeRequest): Scrape;
  /** All metrics as they are now, as bodies of OTLP/HTTP requests about this resource. */
  otlp(resource: Readonly<Record<string, string>>): AsyncIterable<OtlpRequest>;
  /** Counts what is sent elsewhere. */
  readonly exports: ExportMetrics;
  /** Shows as this says from now on. With other buckets the durations of checks are counted anew. */
  showAs(shown: ShownMetrics): void;
  /** All targets that are watched from now on; the series of any other are dropped, and its late rounds ignored. */
  targetsChanged(targets: readonly ExportedTarget[]): void;
  roundDone(round: RoundDone): void;
  roundsSkipped(count: number): void;
  incidentChanged(change: IncidentChange): void;
  deliverySettled(settled: DeliveryAttemptResult): void;
  /** A transaction that took `seconds`. */
  storeWritten(seconds: number): void;
  /** A piece of sealing or forgetting that took `seconds`. */
  upkeepDone(seconds: number): void;
  requestAnswered(answered: RequestRecord): void;
  /** A call of a job. */
  beatAnswered(outcome: BeatOutcome): void;
  configReloaded(successful: boolean, at: number): void;
  /** By how many milliseconds the clock of this machine was set; negative is back. */
  clockSet(byMs: number): void;
  /** The share of a node's answers within the last hour that contradicted most of the others'; null if none could be compared. */
  disagreementOf(node: string): number | null;
}

export function createMetrics(options: MetricsOptions): Metrics {
  const { clock, log, version, sources, shown = shownByDefault } = options;
  const register = new Register();
  const own = new OwnRegister(() => register.bear());
  const ask = createAsk(own, log);
  const target = createTargetMetrics(register);
  const labelsOf = (name: string) => target.labelsOf(name);
  const check = createCheckMetrics(register, labelsOf, shown.buckets ?? durationBounds);
  const incident = createIncidentMetrics(register, labelsOf);
  const delivery = createDeliveryMetrics(own, clock, ask, sources.deliveries);
  const schedule = createScheduleMetrics(own, register);
  const disagreement = createDisagreement(clock);
  const showNodes = createNodeMetrics(own, disagreement);
  const store = createStoreMetrics(own, ask, sources.store);
  const requestAnswered = createRequestMetrics(own);
  const beatAnswered = createHeartbeatMetrics(own);
  const lists = createListMetrics(own, ask, sources.lists);
  const objectives = createObjectiveMetrics(register, ask, sources.budgets);
  const audit = createAuditMetrics(own, ask, sources.unreported);
  const hubs = sources.hubs === undefined ? null : createHubMetrics(own, ask, sources.hubs);
  const configReloaded = createConfigMetrics(own);
  const clockSet = createClockMetrics(own);
  const ownProcess = createProcessMetrics(own, ask, { version, clock, lateness: sources.lateness });
  const votesSeen = createVoteMetrics({ ...options, register, own, check, shown });
  const exports = createExportMetrics(own);
  const startedAt = clock.now();

  function refresh(): void {
    const nodes = ask('nodes', sources.nodes);
    showNodes(nodes ?? []);
    if (nodes !== null) {
      const names = new Set(nodes.map((node) => node.info.name));
      votesSeen.keepNodes(names);
      disagreement.keepNodes(names);
    }
    delivery.refresh();
    store.refresh();
    objectives.refresh();
    lists.refresh();
    audit.refresh();
    hubs?.refresh();
    ownProcess.refresh();
  }

  return {
    scrape: createScrapes({ register, own, clock, refresh, isLong: () => votesSeen.isSummed }),
    otlp(resource) {
      refresh();
      return otlpRequests(register, own, { resource, version, startedAt, now: clock.now() });
    },
    exports,
    showAs: (next) => votesSeen.showAs(next),
    targetsChanged(targets) {
      for (const moved of target.targetsChanged(targets)) check.forgetFacts(moved);
      incident.targetsChanged(targets);
      votesSeen.targetsChanged(targets);
    },
    roundDone({ target: name, check: type, votes, verdict, dueAt, startedAt }) {
      schedule.roundStarted(dueAt, startsOf(votes, startedAt));
      if (!target.watches(name, type)) return;
      target.record(name, verdict.status, startedAt);
      votesSeen.record(name, type, votes);
      disagreement.record(votes);
    },
    roundsSkipped: (count) => schedule.roundsSkipped(count),
    incidentChanged: (change) => incident.incidentChanged(change),
    deliverySettled: (settled) => delivery.deliverySettled(settled),
    storeWritten: (seconds) => store.storeWritten(seconds),
    upkeepDone: (seconds) => store.upkeepDone(seconds),
    requestAnswered,
    beatAnswered,
    configReloaded,
    clockSet,
    disagreementOf: (node) => disagreement.ratioOf(node),
  };
}

// Without a time of a node, the round began with the request to the other service.
function startsOf(votes: RoundDone['votes'], startedAt: number): readonly number[] {
  const startTimes: number[] = [];
  for (const vote of votes) if (vote.startedAt !== undefined) startTimes.push(vote.startedAt);
  if (startTimes.length === 0) startTimes.push(startedAt);
  return startTimes;
}
