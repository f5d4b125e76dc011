import type { CheckRunnerEnvironment } from '#compose/checking.ts';
import { readOnlyDevices } from '#compose/devices.ts';
import { openLeaderlessNotices } from '#compose/hubs/leaderless.ts';
import { type HubsView, type HubsWatchOptions, type HubTroubles, watchHubs } from '#compose/hubs/watch-hubs.ts';
import type { Config } from '#config/config.ts';
import type { ConfiguredHub } from '#config/hub.ts';
import type { HubFigures } from '#metrics/hub.ts';
import type { Store } from '#store/sqlite.ts';
import { type HubsLine, hubsLine } from '#web/pages/hubs-texts.ts';

/** What this hub sees of all hubs, for those that notify, measure and show it. */
export interface HubsObservation {
  readonly troubles: HubTroubles;
  readonly figures: () => HubFigures;
  /** The other hubs that answered within two days. */
  readonly names: () => readonly string[];
  /** For pages. */
  readonly line: () => HubsLine;
}

export interface HubsObservationOptions extends Pick<HubsWatchOptions, 'connection' | 'own'> {
  readonly hub: ConfiguredHub;
  readonly inForce: () => Config;
  /** What distinguishes the messages of this installation. */
  readonly identity: () => string;
  /** Null while it is replaced. */
  readonly storeOf: () => Store | null;
  readonly environment: CheckRunnerEnvironment;
}

/** Watches the hubs, and notifies by itself if none leads; the leader notifies of the rest. */
export function observeHubs({
  hub,
  connection,
  own,
  inForce,
  identity,
  storeOf,
  environment,
}: HubsObservationOptions): HubsObservation & AsyncDisposable {
  const { clock, log } = environment;
  const devices = () => {
    const store = storeOf();
    return store === null ? null : readOnlyDevices({ ...environment, store, inForce });
  };
  const path = `${inForce().data}.no-leader`;
  const notices = openLeaderlessNotices({ hub: hub.name, path, config: inForce, identity, environment, devices });
  const watch = watchHubs({
    connection,
    own,
    notifyAfterMs: hub.notifyAfterMs,
    leaderless: (reason, since) => notices.report(reason, since),
    reportedSince: notices.sentSince,
    clock,
    log,
  });
  return {
    troubles: watch.troubles,
    figures: () => figuresOf(watch.view()),
    names: () => watch.view().others.map(({ name }) => name),
    line: () => lineOf(watch.view()),
    async [Symbol.asyncDispose]() {
      watch[Symbol.dispose]();
      await notices[Symbol.asyncDispose]();
    },
  };
}

function figuresOf({ own, leader, leaderlessMs, others }: HubsView): HubFigures {
  return {
    isLeader: own.role !== 'follower',
    isAlone: own.role === 'alone',
    applied: own.applied.n,
    behind: leader === null ? null : Math.max(0, leader.applied.n - own.applied.n),
    leaderlessSeconds: (leaderlessMs ?? 0) / 1_000,
    others: others.map(({ name, reason }) => ({ name, isDegraded: reason !== null })),
  };
}

function lineOf({ own, leader, leaderlessMs, others }: HubsView): HubsLine {
  return hubsLine({
    name: own.name,
    role: own.role,
    // Before the first look at the others the lease says it.
    leader: leaderlessMs === null ? (leader?.name ?? own.leader) : null,
    degraded: others.flatMap(({ name, reason }) => (reason === null ? [] : [{ name, reason }])),
  });
}
