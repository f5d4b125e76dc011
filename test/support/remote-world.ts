import { expect } from 'vitest';
import type { Outcome } from '#checks/index.ts';
import type { LateVote } from '#monitor/judge/round-record.ts';
import { type Monitor, startMonitor } from '#monitor/monitor.ts';
import { ownNats } from '#monitor/judge/incident.ts';
import type { Target } from '#monitor/judge/target.ts';
import { createOutbox, type Outbox } from '#monitor/notify/outbox.ts';
import type { LocalTarget } from '#node/ports.ts';
import { type TargetScheduler as NodeWatching, watchTargets } from '#node/watching.ts';
import type { Assignment, Observation } from '#protocol/watching.ts';
import { nodeGoneOutcome, type NodeListener, type NodeStatus, type Transport } from '#service/ports.ts';
import { createRuns } from '#service/runs.ts';
import { WatchService } from '#service/watching.ts';
import { FakeClock } from './fake-clock.ts';
import { FreezableClock } from './freezable-clock.ts';
import { memoryLog } from './memory-log.ts';
import { MemoryStore } from './memory-store.ts';
import { alone } from './policies.ts';
import { RecordingChannel } from './recording-channel.ts';
import { seededRandom } from './seeded-random.ts';
import { down, nodeInfo, up } from './votes.ts';

// A hub that is away while its nodes go on: real wheels, rounds, monitor and outbox; only the way between is a plain call.

/** Nodes that keep what no hub has stored. What they send waits as long as the hub is frozen. */
function createNodes(
  clock: FakeClock,
  hubClock: FreezableClock,
  names: readonly string[],
  outcomeOf: (host: string, node: string) => Outcome,
) {
  let current: NodeListener | null = null;
  const listener: NodeListener = {
    watching: (...state) => hubClock.whenAwake(() => current?.watching(...state)),
    seen: (...batch) => hubClock.whenAwake(() => current?.seen(...batch)),
  };
  const nodes = new Map(
    names.map((name) => {
      const kept = new Map<number, readonly Observation[]>();
      let sent = 0;
      let assignment: Assignment | null = null;
      let reported: { readonly number: number; readonly since: number } | null = null;
      const send = (observations: readonly Observation[]) => {
        sent += 1;
        const number = sent;
        kept.set(number, observations);
        if (node.isLinked) listener.seen(name, observations, () => kept.delete(number));
      };
      const launch = (): NodeWatching =>
        watchTargets({
          agent: {
            async run({ spec }, _, listener) {
              listener?.onStarted?.(clock.now());
              return outcomeOf(spec.host, name);
            },
          },
          clock,
          aheadMs: () => 0,
          send,
        });
      const watch = () => {
        const local = (assignment?.targets ?? []).map((one): LocalTarget => ({ ...one, place: 0, refusal: null }));
        return node.watching.assign(local);
      };
      const node = {
        kept,
        isLinked: true,
        /** Until when a node that cannot be heard is taken to be there. */
        silentAt: Number.NEGATIVE_INFINITY,
        dropped: { count: 0, at: Number.NEGATIVE_INFINITY },
        watching: launch(),
        assign(next: Assignment) {
          assignment = next;
          reported = { number: next.number, since: watch() };
          if (node.isLinked) node.report();
        },
        /** Tells the hub what it watches. */
        report() {
          if (reported !== null) listener.watching(name, reported.number, reported.since);
        },
        restart() {
          node.watching[Symbol.dispose]();
          node.watching = launch();
          watch();
        },
        resend(order: (all: (readonly Observation[])[]) => (readonly Observation[])[]) {
          const numbers = new Map([...kept].map(([number, observations]) => [observations, number]));
          for (const observations of order([...kept.values()]))
            listener.seen(name, observations, () => void kept.delete(numbers.get(observations) ?? 0));
        },
      };
      return [name, node] as const;
    }),
  );
  const status = (name: string): NodeStatus => {
    const online = nodes.get(name)?.isLinked === true || (nodes.get(name)?.silentAt ?? 0) > clock.now();
    const reason = online ? null : 'the link is cut';
    return {
      info: nodeInfo(name),
      online,
      reason,
      keepsTime: true,
      capabilities: {},
      running: 0,
      queued: 0,
      lagSeconds: 0,
      losses: { dropped: nodes.get(name)?.dropped.count ?? 0, refused: 0, skipped: 0 },
      newestDroppedAt: nodes.get(name)?.dropped.at ?? null,
    };
  };
  const transport: Transport = {
    nodes: () => names.map(status),
    run: async (node, { spec }) =>
      nodes.get(node)?.isLinked === true ? outcomeOf(spec.host, node) : nodeGoneOutcome('the link is cut'),
    assign: (node, next) => nodes.get(node)?.assign(next),
    listen: (next) => void (current = next),
    close: async () => {},
  };
  return { nodes, transport, unlisten: () => void (current = null) };
}

export type RemoteWorld = ReturnType<typeof createRemoteWorld>;

interface Hub {
  readonly monitor: Monitor;
  readonly watching: WatchService;
  readonly outbox: Outbox;
}

export function createRemoteWorld(targets: readonly Target[], names: readonly string[] = ['de1', 'us1', 'jp1']) {
  const clock = new FakeClock('2026-01-01T00:00:00Z');
  const hubClock = new FreezableClock(clock);
  const store = new MemoryStore();
  const channel = new RecordingChannel();
  const { log, lines } = memoryLog();
  const downs = new Set<string>();
  const { nodes, transport, unlisten } = createNodes(clock, hubClock, names, (host, node) =>
    downs.has(host) || downs.has(`${host} at ${node}`) ? down() : up(),
  );
  let hub: Hub | null = null;
  let arrived = true;
  // When the first node was heard again after none was; null while none is.
  let connectedAt: number | null = 0;
  let refreshes = 0;
  let busyMs = 0;

  /** A hub that hears nodes; it watches nothing until it is told to begin. */
  function open(plan: readonly Target[] = targets): () => void {
    const lastRounds = new Map<string, { over: number; decided: number }>();
    for (const { target: name, dueAt, votes, verdict } of store.records) {
      if (votes.length === 0) continue;
      const { over, decided } = lastRounds.get(name) ?? { over: 0, decided: 0 };
      const isDecided = verdict !== undefined && verdict.status !== 'unknown';
      lastRounds.set(name, { over: Math.max(dueAt, over), decided: isDecided ? Math.max(dueAt, decided) : decided });
    }
    const watching = new WatchService({
      transport,
      runs: createRuns(transport, hubClock),
      policy: 'private',
      onLate: async ({ node, outcome, isOfEarlierCheck, ...round }) => {
        late.push({ ...round, node: node.name, status: outcome.status });
        const verdictOf: LateVote['verdictOf'] = (statuses) =>
          hub?.monitor.past.verdictOf(round.target, round.dueAt, statuses) ?? null;
        const vote = { ...round, vote: { node, outcome }, at: clock.now() };
        const stored = store.recordLate(isOfEarlierCheck === true ? vote : { ...vote, verdictOf });
        if (stored === 'revised') hub?.monitor.past.changed(round.target);
      },
      absence: {
        lastRound: (name) => lastRounds.get(name) ?? null,
        wasThere: lastRounds.size > 0,
        isOver: () => arrived && connectedAt !== null,
        connectedMs: () => (connectedAt === null ? 0 : hubClock.elapsed() - connectedAt),
        refresh() {
          refreshes += 1;
          for (const node of nodes.values()) if (node.isLinked) node.resend((all) => all);
        },
      },
      onUnjudged: (unjudged) => hub?.monitor.unjudged(unjudged),
      busyMs: () => busyMs,
      upMs: () => hubClock.elapsed(),
      clock: hubClock,
      log,
    });
    const outbox = createOutbox({
      store,
      channels: [channel],
      clock: hubClock,
      random: seededRandom(1),
      log,
      policyOf: () => alone,
      linkTo: () => null,
    });
    const ports: Parameters<typeof startMonitor>[1] = {
      runner: {
        nodes: () => names.map((name) => nodeInfo(name)),
        watch: (one, listener) => watching.watch(one, listener),
        leave: () => watching.leave(),
        waitedMs: () => watching.waitedMs(),
        run: async ({ spec, nodes: selection }, signal) => ({
          votes: await createRuns(transport, hubClock).run({ spec, nodes: selection, policy: 'private' }, signal),
          reportUrl: null,
        }),
      },
      store,
      clock: hubClock,
      log,
      events: {
        roundAwaited() {},
        roundSkipped() {},
        roundDone() {},
        recorded: ({ target: name, dueAt }) => watching.stored(`${name}/${dueAt}`),
        unwatched() {},
      },
      wakeOutbox: () => outbox.wake(),
      onUnstored: () => {},
    };
    return () => {
      const monitor = startMonitor({ targets: plan, maintenance: [] }, ports);
      outbox.start();
      hub = { monitor, watching, outbox };
    };
  }

  const late: { target: string; dueAt: number; node: string; status: string }[] = [];
  return {
    clock,
    store,
    channel,
    lines,
    downs,
    nodes,
    late,
    start: () => open()(),
    budgets: () => hub?.monitor.budgets() ?? [],
    /** What the program tells of itself once NATS was away for a minute, and when it is back. */
    natsIsAway: (isAway: boolean) =>
      hub?.monitor.troubled({
        name: ownNats,
        which: 'nats://127.0.0.1',
        since: clock.now(),
        reason: isAway ? 'it is gone' : null,
      }),
    /** How often nodes were asked to send again what they hold. */
    refreshes: () => refreshes,
    /** It comes to nothing for as long, but computes for a tenth of the time. */
    async starve(ms: number) {
      hubClock.freeze();
      await clock.advance(ms);
      busyMs += ms / 10;
      hubClock.thaw();
    },
    /** SIGSTOP. */
    freeze: () => hubClock.freeze(),
    /** SIGCONT. */
    thaw: () => hubClock.thaw(),
    /** This node is not heard any more: known at once, or after it was silent for 15 s. */
    cut(name: string, isKnown: boolean) {
      const node = nodes.get(name);
      if (node === undefined) return;
      node.isLinked = false;
      if ([...nodes.values()].every(({ isLinked }) => !isLinked)) connectedAt = null;
      node.silentAt = isKnown ? Number.NEGATIVE_INFINITY : clock.now() + 15_000;
    },
    /** It is heard again, and sends what it holds, newest first. */
    link(name: string) {
      const node = nodes.get(name);
      if (node === undefined || node.isLinked) return;
      node.isLinked = true;
      connectedAt ??= hubClock.elapsed();
      node.report();
      node.resend((all) => all.toReversed());
    },
    /** The hub ends as it does when it is told to. */
    async kill() {
      hubClock.thaw();
      const stopped = hub?.monitor.stop(0);
      await clock.advance(0);
      await stopped;
      unlisten();
      hub?.watching[Symbol.dispose]();
      await clock.advance(0);
      await hub?.outbox.stop();
    },
    /** A new hub, which hears all that the nodes have kept; in which order is up to `order`. It may take its time to begin. */
    async back(
      order = (all: (readonly Observation[])[]) => all.toReversed(),
      plan = targets,
      arrives = true,
      startMs = 0,
      settleMs = 20_000,
    ) {
      arrived = false;
      const begin = open(plan);
      await clock.advance(startMs);
      begin();
      await clock.advance(0);
      for (const node of nodes.values()) if (node.isLinked) node.resend(order);
      arrived = arrives;
      await clock.advance(settleMs);
    },
    /** What nodes still keep comes at last. */
    async arrive() {
      for (const node of nodes.values()) node.resend((all) => all);
      arrived = true;
      await clock.advance(20_000);
    },
    async end() {
      await this.kill();
      for (const { watching } of nodes.values()) watching[Symbol.dispose]();
      expect(clock.pending).toBe(0);
    },
  };
}
