import { createClient } from '#client/client.ts';
import { openChannels, policiesOf, startRegulars } from '#compose-delivery.ts';
import type { Config } from '#config/config.ts';
import { type Clock, deadline } from '#kernel/clock.ts';
import type { Log } from '#kernel/log.ts';
import type { Random } from '#kernel/random.ts';
import { createMetrics, type Metrics, type MetricsSources } from '#metrics/metrics.ts';
import type { WatchedTarget } from '#metrics/target.ts';
import { type Monitor, startMonitor } from '#monitor/monitor.ts';
import { createOutbox, type Outbox } from '#monitor/outbox.ts';
import type { Runner } from '#monitor/ports.ts';
import { longestInterval } from '#monitor/schedule.ts';
import type { Target } from '#monitor/target.ts';
import type { MonitorEvents } from '#monitor/watch.ts';
import { createChecks } from '#service/checks.ts';
import { checkService } from '#service/http/routes.ts';
import { createLimits } from '#service/limits.ts';
import { keepRuns } from '#service/retention.ts';
import { createRuns, type Runs } from '#service/runs.ts';
import { openStore, type Store } from '#store/sqlite.ts';
import { createThreadTransport } from '#transport/thread.ts';
import { deliveryRoutes } from '#web/deliveries.ts';
import type { Health } from '#web/health.ts';
import { startWebServer, type WebServer } from '#web/server.ts';

// The only file that names adapters.

export interface Environment {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly version: string;
  readonly pid: number;
}

/** The running program. */
export interface Daemon {
  readonly web: WebServer;
  /** Rejects when the program cannot go on by a defect of ours. */
  readonly ended: Promise<void>;
  /**
   * No new rounds; running ones finish within a deadline; the outbox is tried once; the store is closed.
   * Rejects where rounds were lost.
   */
  stop(): Promise<void>;
}

const finishMs = 10_000;
const drainMs = 5_000;

/** Starts everything that the configuration asks for. Rejects with a catalogued error, and then nothing runs. */
export async function startDaemon(config: Config, environment: Environment): Promise<Daemon> {
  const { clock, random, log, version, pid } = environment;
  await using started = new AsyncDisposableStack();
  const store = started.use(openStore({ path: config.data, clock, log, pid }));
  const checking = openChecking(config, environment);
  started.defer(async () => checking.close());

  const channels = openChannels(config, { clock, log, version });
  for (const channel of channels) started.defer(async () => channel.close());
  const metrics = started.use(createMetrics({ clock, log, version, sources: sourcesOf(checking, store) }));
  metrics.targetsChanged(config.targets.map((target) => shownOf(target, clock.now())));
  metrics.configReloaded(true, clock.now());

  const outbox = createOutbox({
    store,
    channels,
    clock,
    random,
    log,
    policyOf: policiesOf(config),
    linkTo: () => null,
    onSettled: ({ channel, outcome, delayMs }) =>
      metrics.deliverySettled({ channel, state: outcome === 'retry' ? 'pending' : outcome, createdAt: 0, at: delayMs }),
  });
  started.defer(async () => outbox.stop());
  let monitor: Monitor | null = null;
  const health: Health = {
    pulses: [
      { name: 'schedule', ageMs: () => monitor?.overdueMs() ?? 0, limitMs: 240_000 },
      { name: 'store', ageMs: () => sinceMs(store.health().failingSince, clock), limitMs: 60_000 },
      { name: 'outbox', ageMs: () => outbox.ageMs(), limitMs: 180_000 },
    ],
    notReady: () => (checking.nodes().some(({ up }) => up) ? [] : ['no node is online']),
  };
  const desk = deliveryRoutes({ store, wakeOutbox: () => outbox.wake() });
  const service = serviceOf(config, { runs: checking.runs, store, clock, random, log, started });
  const { trustProxy } = config.http;
  const web = started.use(
    await startWebServer({ listen: config.http, clock, log, metrics, health, plugins: [...service, desk], trustProxy }),
  );
  for (const { openIncidents } of store.load()) {
    for (const { target, rule, severity } of openIncidents)
      metrics.incidentChanged({ target, rule, severity, active: true });
  }
  monitor = startMonitor(config, {
    runner: checking.runner,
    store,
    clock,
    log,
    events: eventsOf(metrics),
    wakeOutbox: () => outbox.wake(),
  });
  outbox.start();
  started.defer(startRegulars(config, { clock, random, log, version, store, outbox, channels, pulses: health.pulses }));
  return handleOf({ web, monitor, outbox, clock, rest: started.move() });
}

/** What runs the checks: nodes of this process, or somebody else's service. */
export interface Checking {
  readonly runner: Runner;
  /** Those on the nodes of this process, or null where there are none. */
  readonly runs: Runs | null;
  nodes(): ReturnType<MetricsSources['nodes']>;
  close(): Promise<void>;
}

/** Opens what the configuration names to run checks, and nothing else. */
export function openChecking(config: Pick<Config, 'foreignService' | 'nodes'>, environment: Environment): Checking {
  const { foreignService, nodes } = config;
  return foreignService === null ? checkHere(nodes, environment) : checkThere(foreignService, environment);
}

function checkHere(nodes: Config['nodes'], { clock, log }: Environment): Checking {
  const transport = createThreadTransport({
    nodes: nodes.map(({ info, localAddress, inFlight }) => ({
      info,
      options: {
        localAddress,
        policy: 'private',
        allow: [],
        deny: [],
        knownAs: info.ip === '' ? [] : [info.ip],
        running: inFlight,
        queued: 10 * inFlight,
      },
    })),
    entry: new URL('./node/thread.ts', import.meta.url),
    clock,
    log,
  });
  const runs = createRuns(transport, clock);
  return {
    runs,
    runner: {
      nodes: () => runs.nodes().map(({ info }) => info),
      // What the operator's own file names may be private; the node's own policy still holds.
      run: async (request, signal) => ({
        votes: await runs.run({ ...request, policy: 'private' }, signal),
        reportUrl: null,
      }),
    },
    nodes: () =>
      runs.nodes().map(({ info, online, lagSeconds }) => ({
        info,
        up: online,
        eventLoopLagSeconds: online ? lagSeconds : null,
      })),
    close: async () => transport.close(),
  };
}

function checkThere(service: NonNullable<Config['foreignService']>, environment: Environment): Checking {
  const client = createClient({ ...service, ...environment });
  client.keepNodes();
  return {
    runs: null,
    runner: client,
    nodes: () => client.nodes().map((info) => ({ info, up: true, eventLoopLagSeconds: null })),
    close: async () => client.close(),
  };
}

interface Parts {
  readonly web: WebServer;
  readonly monitor: Monitor;
  readonly outbox: Outbox;
  readonly clock: Clock;
  /** Everything that was started, the last first. */
  readonly rest: AsyncDisposableStack;
}

function handleOf({ web, monitor, outbox, clock, rest }: Parts): Daemon {
  return {
    web,
    ended: monitor.ended,
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

interface ServiceParts extends Pick<Environment, 'clock' | 'random' | 'log'> {
  readonly runs: Runs | null;
  readonly store: Store;
  readonly started: AsyncDisposableStack;
}

/** The check service over HTTP, where the configuration asks for it. */
function serviceOf({ ownService, http, retention }: Config, { started, store, runs, ...parts }: ServiceParts) {
  if (ownService === null || runs === null) return [];
  const { open, allowPrivate, tokens, limits, nodeDomain, compatible } = ownService;
  const { clock, log } = parts;
  const checks = createChecks({ ...parts, runs, store: store.checks });
  started.defer(async () => checks.close());
  started.use(keepRuns({ store: store.checks, keepMs: retention.checksMs, clock, log }));
  return [
    checkService({
      checks,
      limits: createLimits(limits, clock),
      access: {
        open,
        allowPrivate,
        tokens: tokens.map(({ name, hash }) => ({ name, hash: Buffer.from(hash, 'hex') })),
      },
      nodeDomain,
      maxNodes: limits.max_nodes,
      publicUrl: http.publicUrl,
      compatible,
      clock,
      log,
    }),
  ];
}

function sourcesOf(checking: Checking, store: Store): MetricsSources {
  return {
    nodes: () => checking.nodes(),
    deliveries: () => store.deliveryCounts(),
    store: () => ({ bytes: store.bytes(), queued: store.health().queued }),
  };
}

function eventsOf(metrics: Metrics): MonitorEvents {
  return {
    roundAwaited: () => {},
    roundSkipped: (_, count) => metrics.roundsSkipped(count),
    roundDone: (target, round) => metrics.roundDone({ target: target.name, check: target.spec.type, ...round }),
    recorded({ incidents }) {
      for (const { target, rule, severity, endedAt } of incidents) {
        metrics.incidentChanged({ target, rule, severity, active: endedAt === null });
      }
    },
  };
}

function shownOf(target: Target, now: number): WatchedTarget {
  const { name, spec, labels, rules, schedule } = target;
  const longestMs = longestInterval(schedule, name, now);
  return {
    name,
    check: spec.type,
    host: spec.host,
    labels,
    intervalSeconds: longestMs === null ? null : longestMs / 1_000,
    rules: rules.map(({ name: rule, rule: { severity } }) => ({ name: rule, severity })),
  };
}

function sinceMs(moment: number | null, clock: Clock): number {
  return moment === null ? 0 : Math.max(0, clock.now() - moment);
}
