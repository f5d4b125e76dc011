import { expect } from 'vitest';
import { CheckSpec, type NodeInfo, type NodeSelection, type Outcome } from '#checks/index.ts';
import { sleep } from '#kernel/clock.ts';
import { WatchpostError } from '#kernel/errors.ts';
import { type Audit, startAudit } from '#monitor/audit.ts';
import type { Maintenance } from '#monitor/suppress/maintenance.ts';
import { Rule } from '#monitor/judge/rule.ts';
import type { NamedRule, Target } from '#monitor/judge/target.ts';
import type { Vote } from '#monitor/judge/vote.ts';
import { type Monitor, type MonitorSettings, startMonitor } from '#monitor/monitor.ts';
import { createOutbox, type Outbox, type OutboxOptions } from '#monitor/notify/outbox.ts';
import { createUnstored } from '#monitor/notify/unstored.ts';
import { watchByRuns } from '#monitor/watch/by-runs.ts';
import type { RunRequest } from '#monitor/watch/runner.ts';
import { FakeClock } from './fake-clock.ts';
import { type LogLine, memoryLog } from './memory-log.ts';
import { MemoryStore } from './memory-store.ts';
import { alone } from './policies.ts';
import { accepted, RecordingChannel } from './recording-channel.ts';
import { seededRandom } from './seeded-random.ts';
import { down, nodeInfo, unknown, up } from './votes.ts';

/**
 * The whole monitor with a fake clock, an in-memory store, nodes that see what the test says, and a channel that keeps what it
 * is given: a day in a second.
 */

/** What one node sees of one target: a sign, or what it answers. */
export type Sight = Outcome | ((at: number) => Outcome);

/**
 * What the nodes see of a target, a sign for each node in their order: `u` up, `d` down, `x` unknown, `1` to `9` up after as many
 * tenths of a second. One sign alone stands for all nodes.
 */
export type Signs = string;

export interface Row {
  /** Minutes since the start, at which what the row says begins to hold. */
  readonly minute: number;
  /** What the nodes see from now on, by target; `*` is every target that was not named in a row yet. */
  readonly see?: Readonly<Record<string, Signs | Sight>>;
  /** What else happens at this time. */
  readonly also?: (scenario: Scenario) => void | Promise<void>;
  /** What people must be told until the next row: `DOWN shop`, `RESOLVED shop`; once, however many recipients. */
  readonly tell?: readonly string[];
  /** The subjects of the mails that must have been accepted until the next row. Not compared where it is left out. */
  readonly mails?: readonly string[];
}

export interface ScenarioOptions {
  /** Names of the nodes. Default: de1, us1, jp1. */
  readonly nodes?: readonly string[];
  readonly targets: readonly Target[];
  readonly maintenance?: readonly Maintenance[];
  /** The wall time at the start. */
  readonly start?: string;
  /** The URL of the service that runs the checks, where that is somebody else's. */
  readonly service?: string;
  /** How long a check takes that finds its target down, in milliseconds. Default: no time. */
  readonly downTakesMs?: number;
  /** How long the oldest result has waited to be read, in milliseconds. Default: 0. */
  readonly waitedMs?: () => number;
  readonly outbox?: Partial<OutboxOptions>;
  /** Names of targets whose incidents nobody is notified of, by the test's own doing: of all others the audit has to find nothing. */
  readonly unreported?: readonly string[];
}

export interface Scenario extends AsyncDisposable {
  readonly clock: FakeClock;
  readonly store: MemoryStore;
  readonly channel: RecordingChannel;
  readonly log: readonly LogLine[];
  readonly monitor: Monitor;
  /** The nodes there are. */
  readonly nodes: NodeInfo[];
  readonly runs: readonly { readonly at: number; readonly target: string; readonly nodes: readonly string[] }[];
  see(target: string, what: Signs | Sight): void;
  /** No message gets through any more, as where our own uplink is gone; or they do again. */
  cutOff(isCut: boolean): void;
  /** Plays the rows in order, each until the next one's minute, and compares what people were told. The last row is the end. */
  play(rows: readonly Row[]): Promise<void>;
  /** Ends the program and starts it again on what the store has. */
  restart(settings?: Partial<MonitorSettings>): Promise<void>;
  /** Has the running program watch by another settings. */
  apply(settings: Partial<MonitorSettings>): Promise<void>;
}

const defaultRecipient = {
  notify: 'ops',
  channel: 'email',
  recipient: 'ops@example.com',
  severities: ['critical', 'warning', 'info'],
} as const;

/** A target that is checked every minute on all nodes with the rule `down`, changed as asked. */
export function target(name: string, changes: Partial<Target> = {}): Target {
  return {
    name,
    spec: CheckSpec.parse({ type: 'tcp', host: `${name}.example.com:443` }),
    schedule: { kind: 'every', everyMs: 60_000 },
    nodes: { kind: 'all' },
    rules: [rule('down')],
    recipients: [defaultRecipient],
    labels: {},
    dependsOn: [],
    objective: null,
    ...changes,
  };
}

/** A rule as it is written in a configuration. */
export function rule(name: string, written: Parameters<typeof Rule.parse>[0] = {}): NamedRule {
  return { name, rule: Rule.parse(written) };
}

export async function startScenario(options: ScenarioOptions): Promise<Scenario> {
  const clock = new FakeClock(options.start);
  const startedAt = clock.now();
  const store = new MemoryStore();
  const channel = new RecordingChannel();
  const log = memoryLog();
  const nodes = (options.nodes ?? ['de1', 'us1', 'jp1']).map((name) => nodeInfo(name));
  const sights = new Map<string, Signs | Sight>([['*', 'u']]);
  const runs: { at: number; target: string; nodes: readonly string[] }[] = [];
  const targets = new Map<string, string>();

  async function run(
    { spec, nodes: selection }: RunRequest,
    signal: AbortSignal,
  ): Promise<{ votes: readonly Vote[]; reportUrl: null }> {
    const name = targets.get(spec.host) ?? spec.host;
    const chosen = choose(nodes, selection);
    if (chosen.length === 0) throw new WatchpostError('no_nodes', 'no node can run this check');
    runs.push({ at: clock.now(), target: name, nodes: chosen.map((node) => node.name) });
    const sight = sights.get(name) ?? sights.get('*') ?? 'u';
    const votes = chosen.map((node) => ({ node, outcome: look(sight, nodes.indexOf(node), clock.now()) }));
    if (votes.some(({ outcome }) => outcome.status === 'down') && options.downTakesMs !== undefined)
      await sleep(clock, options.downTakesMs, signal);
    return { votes, reportUrl: null };
  }

  let settings: MonitorSettings = { targets: options.targets, maintenance: options.maintenance ?? [] };
  let running = launch();

  function launch(): { monitor: Monitor; outbox: Outbox; audit: Audit } {
    const asked = { nodes: () => nodes, run, ...(options.service === undefined ? {} : { url: options.service }) };
    const runner = { ...watchByRuns(asked, clock, log.log), waitedMs: options.waitedMs ?? (() => 0) };
    const unstored = createUnstored({ store, log: log.log });
    const outbox = createOutbox({
      store: unstored,
      channels: [channel],
      clock,
      random: seededRandom(1),
      log: log.log,
      policyOf: () => alone,
      linkTo: () => null,
      ...options.outbox,
    });
    name(settings.targets);
    const events = { roundAwaited() {}, roundSkipped() {}, roundDone() {}, recorded() {}, unwatched() {} };
    const wakeOutbox = () => outbox.wake();
    const monitor = startMonitor(settings, {
      runner,
      store,
      clock,
      log: log.log,
      events,
      wakeOutbox,
      onUnstored: (record) => unstored.add(record),
      isCutOff: () => outbox.isCutOff(300_000),
    });
    outbox.start();
    const deliveriesOf = (id: string) =>
      store.deliveries.filter(({ incidentId, kind }) => incidentId === id && kind === 'opened').length;
    const audit = startAudit({ monitor, deliveriesOf, doubtLimitMs: () => 300_000, clock, log: log.log });
    return { monitor, outbox, audit };
  }

  function name(watched: readonly Target[]): void {
    for (const { name, spec } of watched) targets.set(spec.host, name);
  }

  async function end(): Promise<void> {
    running.audit[Symbol.dispose]();
    const stopped = running.monitor.stop(0);
    await clock.advance(0);
    await stopped;
    await running.outbox.stop();
    const found = log.lines.flatMap(({ msg, target: of }) =>
      msg.startsWith('found an unreported') ? [String(of)] : [],
    );
    expect(found.toSorted(), 'the audit found unreported incidents').toEqual(options.unreported ?? []);
  }

  const scenario: Scenario = {
    clock,
    store,
    channel,
    log: log.lines,
    nodes,
    runs,
    get monitor() {
      return running.monitor;
    },
    see: (of, what) => void sights.set(of, what),
    cutOff: (isCut) =>
      void (channel.answer = () => (isCut ? { kind: 'retry', reason: 'connect ETIMEDOUT' } : accepted)),
    async play(rows) {
      const seen: Row[] = [];
      for (const [index, row] of rows.entries()) {
        await clock.advance(Math.max(0, startedAt + row.minute * 60_000 - clock.now()));
        const [told, mailed] = [store.deliveries.length, channel.attempts.length];
        for (const [of, what] of Object.entries(row.see ?? {})) sights.set(of, what);
        await row.also?.(scenario);
        const next = rows[index + 1];
        await clock.advance(next === undefined ? 0 : (next.minute - row.minute) * 60_000);
        seen.push({
          minute: row.minute,
          tell: toldSince(store, told),
          ...(row.mails === undefined ? {} : { mails: channel.subjects.slice(mailed) }),
        });
      }
      expect(seen).toEqual(
        rows.map(({ minute, tell = [], mails }) => ({
          minute,
          tell: [...tell].sort(),
          ...(mails === undefined ? {} : { mails }),
        })),
      );
    },
    async restart(changes = {}) {
      await end();
      settings = { ...settings, ...changes };
      running = launch();
      await clock.advance(0);
    },
    async apply(changes) {
      settings = { ...settings, ...changes };
      name(settings.targets);
      running.monitor.apply(settings);
      await clock.advance(0);
    },
    [Symbol.asyncDispose]: end,
  };
  return scenario;
}

function toldSince(store: MemoryStore, from: number): readonly string[] {
  const told = store.deliveries.slice(from).map(({ kind, incidentId }) => {
    const incident = store.incidents.get(incidentId);
    return `${kind === 'opened' ? incident?.wording.word : kind.toUpperCase()} ${incident?.target ?? incidentId}`;
  });
  return [...new Set(told)].sort();
}

function choose(nodes: readonly NodeInfo[], selection: NodeSelection): readonly NodeInfo[] {
  switch (selection.kind) {
    case 'all':
      return nodes;
    case 'named':
      return nodes.filter((node) => selection.names.includes(node.name));
    case 'count': {
      const avoided = (node: NodeInfo) => selection.avoid.includes(node.name);
      return [...nodes.filter((node) => !avoided(node)), ...nodes.filter(avoided)].slice(0, selection.count);
    }
  }
}

function look(sight: Signs | Sight, index: number, at: number): Outcome {
  if (typeof sight === 'function') return sight(at);
  if (typeof sight !== 'string') return sight;
  const sign = sight.length === 1 ? sight : sight[index];
  if (sign === 'u') return up();
  if (sign === 'd') return down();
  if (sign === 'x') return unknown();
  if (sign !== undefined && /\d/.test(sign)) return up(Number(sign) / 10);
  throw new Error(`"${sight}" says nothing about node ${index + 1}`);
}
