import { notReadyReasons } from '#compose/health.ts';
import type { EmbeddedNodes } from '#compose/hubs/embedded.ts';
import { threadNodeOf } from '#compose/thread-nodes.ts';
import type { Config } from '#config/config.ts';
import type { Boot } from '#kernel/boot.ts';
import type { Clock } from '#kernel/clock.ts';
import type { Log } from '#kernel/log.ts';
import type { Random } from '#kernel/random.ts';
import type { StopGuard } from '#kernel/stop-watch.ts';
import type { MetricsSources } from '#metrics/metrics.ts';
import type { LateVote } from '#monitor/judge/round-record.ts';
import type { Monitor } from '#monitor/monitor.ts';
import type { RenewalTimes } from '#monitor/notify/channel.ts';
import { watchByRuns } from '#monitor/watch/by-runs.ts';
import type { CheckServiceClient, Runner } from '#monitor/watch/runner.ts';
import type { NodeStatus, Transport } from '#service/ports.ts';
import { formatRunName } from '#protocol/run-name.ts';
import { createRuns, joinTransports, type Runs } from '#service/runs.ts';
import type { HubAbsence as WatchingAbsence } from '#service/catch-up.ts';
import { WatchService } from '#service/watching.ts';
import type { OverloadedNode } from '#service/watching-nodes.ts';
import type { Store } from '#store/sqlite.ts';
import type * as DirectModule from '#transport/nats/direct.ts';
import type { NatsTransport } from '#transport/nats/hub.ts';
import { createThreadTransport } from '#transport/thread.ts';

/** When overload is reported. */
export interface OverloadTimes {
  /** What was left out within so long is counted. */
  readonly countedMs: number;
  /** For how long it must last, and be over, before the notification. */
  readonly afterMs: number;
  readonly overMs: number;
}

export interface CheckRunnerEnvironment {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly version: string;
  readonly pid: number;
  /** What tells a clock that was set from a program that was away, if it is known. */
  readonly boot?: Boot | null;
  /** Whether another hub judged until a moment ago and handed over. */
  readonly isHandedOver?: () => boolean;
  /** What the threads of nodes relieve. */
  readonly guard?: StopGuard | null;
  /** For how long a node has not been heard while this hub followed another one, in milliseconds. */
  readonly silentMs?: (node: string) => number;
  /** Nodes of this process that serve whichever of several hubs leads. */
  readonly embedded?: EmbeddedNodes;
  /** Default: a minute, and five for the end. */
  readonly overloadTimes?: OverloadTimes;
  /** Default: `renewalTimes`. */
  readonly renewal?: RenewalTimes;
}

/** What runs the checks: nodes of this process, or another check service. */
export interface CheckRunner {
  readonly runner: Runner;
  /** Those on the nodes of this process, or null if there are none. */
  readonly runs: Runs | null;
  /** The connection to nodes on other machines, or null if there are none. */
  hub(): { readonly servers: readonly string[]; trouble(): string | null; excess(): string | null } | null;
  /** Why rounds were skipped within the last minute, in words; null if none was. */
  overload(): string | null;
  /** Nodes that had more to check within the last minute than they could manage, those that left out the most first. */
  overloadedNodes(): readonly OverloadedNode[];
  nodes(): ReturnType<MetricsSources['nodes']>;
  /** The same with everything that is known of them. */
  statuses(): readonly NodeStatus[];
  /** Why no check can be run as it should be, in words: nodes that are still starting, or that there is none. */
  notReady(): readonly string[];
  /** To be called once the results of a run are committed. */
  readonly stored: (run: string) => void;
  close(): Promise<void>;
}

/** With the targets, nodes have loaded what these need before they are ready. */
type Nodes = Pick<Config, 'nodes' | 'nats'> & Partial<Pick<Config, 'targets'>>;
/** Callbacks for events that are not about a single target. */
export interface CheckingListeners extends Pick<Monitor, 'nodeAbsent' | 'unjudged'> {
  readonly verdictOf: Monitor['past']['verdictOf'];
  /** Verdict periods of the past of a target have become others. */
  pastChanged(target: string): void;
}

const noListeners: CheckingListeners = {
  nodeAbsent: () => {},
  unjudged: () => {},
  verdictOf: () => null,
  pastChanged: () => {},
};

type LateStore = Pick<Store, 'recordLate' | 'history'> | null;

/** Opens what the configuration names to run checks, and nothing else. Without a store late results stay with their nodes. */
export async function openChecking(
  config: Nodes & Pick<Config, 'foreignService'>,
  environment: CheckRunnerEnvironment,
  store: LateStore,
  listeners: CheckingListeners = noListeners,
): Promise<CheckRunner> {
  const { foreignService } = config;
  return foreignService === null
    ? checkHere(config, environment, store, listeners)
    : checkThere(foreignService, environment);
}

async function checkHere(
  { nodes, nats, targets }: Nodes,
  environment: CheckRunnerEnvironment,
  store: LateStore,
  listeners: CheckingListeners,
): Promise<CheckRunner> {
  const { clock, log, guard } = environment;
  // A hub that follows has no nodes for itself.
  const embedded = nats === null ? [] : ((await environment.embedded?.use({ nodes, nats, targets })) ?? []);
  const embeddedNames = new Set(embedded.map(({ name }) => name));
  // Before NATS: from the first message on there is who hears it.
  const direct = embedded.length === 0 ? null : await import('#transport/nats/direct.ts');
  const remote = nats === null ? null : await openNats(nats, store, apartFrom(embeddedNames, listeners), environment);
  const threads = createThreadTransport({
    nodes: nodes.flatMap((node) => (embeddedNames.has(node.info.name) ? [] : threadNodeOf(node, targets))),
    module: new URL('../node/thread.ts', import.meta.url),
    guard,
    clock,
    log,
  });
  const transport = remote === null ? threads : joinToRemote(threads, remote, direct, embedded, environment);
  const runs = createRuns(transport, clock);
  const client: CheckServiceClient = {
    nodes: () => runs.nodes().map(({ info }) => info),
    // What the operator's own file names may be private; the node's own policy still holds.
    run: async ({ spec, nodes, round }, signal) => {
      const name = round === undefined ? undefined : formatRunName(round);
      return { votes: await runs.run({ spec, nodes, policy: 'private', name }, signal), reportUrl: null };
    },
  };
  const watching = new WatchService({
    transport,
    runs,
    policy: 'private',
    onLate: async ({ target, dueAt, node, outcome, isOfEarlierCheck }) => {
      if (store === null) throw new Error('this process does not store results');
      const verdictOf: LateVote['verdictOf'] = (statuses) => listeners.verdictOf(target, dueAt, statuses);
      const late = { target, dueAt, vote: { node, outcome }, at: clock.now() };
      const stored = await store.recordLate(isOfEarlierCheck === true ? late : { ...late, verdictOf });
      // One that was asked for by a command waits for its receipt by this name. That of an earlier check says nothing of this round.
      if (isOfEarlierCheck !== true) remote?.stored(formatRunName({ target, dueAt }));
      if (stored === 'revised') listeners.pastChanged(target);
    },
    absence: remote === null || store === null ? null : absenceOf(remote, store, environment.isHandedOver),
    onUnjudged: (unjudged) => listeners.unjudged(unjudged),
    busyMs: () => computedMs(process.threadCpuUsage()),
    upMs: environment.boot?.upMs,
    countedMs: environment.overloadTimes?.countedMs,
    clock,
    log,
  });
  return {
    runs,
    hub: () =>
      remote === null || nats === null
        ? null
        : { servers: nats.servers, trouble: () => remote.trouble(), excess: () => remote.excess() },
    overload: () => watching.overload(),
    overloadedNodes: () => watching.overloadedNodes(),
    stored(run) {
      watching.stored(run);
      remote?.stored(run);
    },
    runner: {
      ...client,
      watch: (target, listener) => watching.watch(target, listener),
      leave: () => watching.leave(),
      waitedMs: () => watching.waitedMs(),
    },
    nodes: () =>
      runs.nodes().map(({ online, lagSeconds, version, ...node }) => ({
        ...node,
        up: online,
        eventLoopLagSeconds: online ? lagSeconds : null,
        // Those of this process do not tell theirs.
        version: version === undefined ? environment.version : version,
      })),
    statuses: () => runs.nodes(),
    notReady: () => notReadyReasons(runs.nodes()),
    async close() {
      watching[Symbol.dispose]();
      await transport.close();
    },
  };
}

// A node inside this hub serves it whether or not it reaches NATS.
function apartFrom(embedded: ReadonlySet<string>, listeners: CheckingListeners): CheckingListeners {
  return {
    ...listeners,
    nodeAbsent(absence) {
      if (!embedded.has(absence.node.name)) listeners.nodeAbsent(absence);
    },
  };
}

function joinToRemote(
  threads: Transport,
  remote: NatsTransport,
  loaded: typeof DirectModule | null,
  nodes: readonly DirectModule.EmbeddedNode[],
  environment: CheckRunnerEnvironment,
): Transport {
  if (loaded === null) return joinTransports([threads], remote);
  const { createDirectTransport, withoutAssignmentsOf } = loaded;
  const direct = createDirectTransport({ nodes, over: remote, ...environment });
  return joinTransports([direct, threads], withoutAssignmentsOf(new Set(nodes.map(({ name }) => name)), remote));
}

// Loaded if it is used: with what it needs it is large, and most run their checks by themselves.
async function openNats(
  nats: NonNullable<Nodes['nats']>,
  store: LateStore,
  listeners: CheckingListeners,
  environment: CheckRunnerEnvironment,
) {
  const { startNats } = await import('#compose/nats.ts');
  return startNats(nats, store, (absence) => listeners.nodeAbsent(absence), environment);
}

function absenceOf(
  remote: Pick<NatsTransport, 'hasAllSent' | 'connectedMs' | 'askForAll'>,
  { history }: Pick<Store, 'history'>,
  isBrief: () => boolean = () => false,
): WatchingAbsence {
  const newest = history.newestPeriods();
  return {
    wasThere: newest.size > 0,
    lastRound(target) {
      const last = newest.get(target);
      if (last === undefined) return null;
      const decided = last.status === 'unknown' ? (history.lastVerdict(target) ?? last.from - 1) : last.last;
      return { over: last.last, decided };
    },
    isOver: () => remote.hasAllSent(),
    connectedMs: () => remote.connectedMs(),
    isBrief,
    refresh: () => remote.askForAll(),
  };
}

async function checkThere(
  service: NonNullable<Config['foreignService']>,
  environment: CheckRunnerEnvironment,
): Promise<CheckRunner> {
  const { createClient } = await import('#client/client.ts');
  const client = createClient({ ...service, ...environment });
  client.keepNodes();
  return {
    runs: null,
    hub: () => null,
    overload: () => null,
    overloadedNodes: () => [],
    stored: () => {},
    runner: watchByRuns(client, environment.clock, environment.log),
    nodes: () => client.nodes().map((info) => ({ info, up: true, eventLoopLagSeconds: null })),
    statuses: () =>
      client.nodes().map((info) => ({
        info,
        online: true,
        reason: null,
        capabilities: {},
        running: 0,
        queued: 0,
        lagSeconds: 0,
      })),
    notReady: () => (client.nodes().length > 0 ? [] : ['no node is online']),
    close: async () => client.close(),
  };
}

const computedMs = ({ user, system }: NodeJS.CpuUsage) => (user + system) / 1_000;
