import { pino } from 'pino';
import { expect, onTestFinished, type RunnerTestCase, TestRunner } from 'vitest';
import type { Outcome } from '#checks/index.ts';
import { systemClock } from '#kernel/clock.ts';
import { systemRandom } from '#kernel/random.ts';
import type { Spool } from '#node/ports.ts';
import { openSpool } from '#node/spool.ts';
import type { Assignment, Observation } from '#protocol/watching.ts';
import type { NodeCommand, NodeListener, Transport } from '#service/ports.ts';
import type { ConnectionTimes } from '#transport/nats/connection.ts';
import { createNatsTransport, type NatsTransport, type NatsTransportOptions } from '#transport/nats/hub.ts';
import { type RemoteNode, type RemoteNodeOptions, startRemoteNode } from '#transport/nats/node.ts';
import type { LateResult } from '#transport/nats/results.ts';
import type { NodeAbsence } from '#transport/nats/roster.ts';
import type { NatsServer } from './nats-server.ts';
import { eventually } from './program.ts';
import { nodeInfo } from './votes.ts';

export const quiet = pino({ level: 'silent' });

/** Quick enough for tests, otherwise like the real ones. */
export const quickTimes: ConnectionTimes = {
  pingEveryMs: 5_000,
  connectMs: 10_000,
  firstRetryMs: 20,
  longestRetryMs: 200,
  answerMs: 5_000,
  arrivalMs: 30_000,
};

export const measured: Outcome = {
  status: 'up',
  seconds: 0.001,
  address: '192.0.2.1',
  phases: {},
  facts: {},
  detail: { timed_by: null, clock_seconds: null, answer: null, tls: null },
};

/** A node in this process whose checks do as their host says, without any network. */
export interface ScriptedNode extends Transport {
  readonly commands: NodeCommand[];
  readonly aborted: number;
  /** What it was told to watch. */
  readonly assignments: Assignment[];
  /** How far it takes its clock to be ahead. */
  readonly aheadMs: number;
  retime(aheadMs: number): void;
  /** Has seen something of what it watches. */
  see(observations: readonly Observation[], isNews?: boolean): void;
  /** Ends the checks that hang, with an outcome. */
  finish(): void;
}

export function scriptedNode(name: string): ScriptedNode {
  const commands: NodeCommand[] = [];
  let hanging: (() => void)[] = [];
  let aborted = 0;
  const assignments: Assignment[] = [];
  let listener: NodeListener | null = null;
  let ahead = 0;
  return {
    commands,
    get aborted() {
      return aborted;
    },
    finish() {
      for (const end of hanging) end();
      hanging = [];
    },
    nodes: () => [
      {
        info: nodeInfo(name),
        online: true,
        reason: null,
        capabilities: { tcp: { able: true }, ping: { able: false, reason: 'no right to send pings' } },
        running: hanging.length,
        queued: 0,
        lagSeconds: 0.002,
      },
    ],
    async run(_, command, signal) {
      commands.push(command);
      const { host } = command.spec;
      if (host === 'speaks-long:1') return { ...measured, address: null, detail: { answer: 'x'.repeat(70_000) } };
      if (host === 'speaks-nonsense:1') return { ...measured, seconds: -1 };
      if (host !== 'hangs:1' && host !== 'is-silent:1') return measured;
      return new Promise((resolve, reject) => {
        hanging.push(() => resolve(measured));
        signal.addEventListener('abort', () => {
          aborted += 1;
          reject(signal.reason instanceof Error ? signal.reason : new Error('aborted'));
        });
      });
    },
    assign(_, assignment) {
      assignments.push(assignment);
      listener?.watching(name, assignment.number, systemClock.now());
    },
    listen(next) {
      listener = next;
    },
    retime(aheadMs) {
      ahead = aheadMs;
    },
    see: (observations, isNews) => listener?.seen(name, observations, null, isNews),
    assignments,
    get aheadMs() {
      return ahead;
    },
    close: async () => {},
  };
}

export interface Hub extends AsyncDisposable {
  readonly transport: NatsTransport;
  readonly late: LateResult[];
  readonly absences: NodeAbsence[];
  /** Changes the list of nodes. */
  list(...names: readonly string[]): void;
}

// Of concurrent tests the current one may be another: its end would close hubs and nodes of others. There `await using` alone ends them.
function endWithTest(end: () => Promise<void>): void {
  const current = TestRunner.getCurrentTest<RunnerTestCase | undefined>();
  if (current !== undefined && current.concurrent !== true) onTestFinished(end);
}

/** Ends with its test at the latest: one that a test left behind would take the commands and results of the next. */
export async function startHub(
  server: NatsServer,
  options: Partial<NatsTransportOptions> = {},
  listener: NodeListener | null = null,
): Promise<Hub> {
  const late: LateResult[] = [];
  const absences: NodeAbsence[] = [];
  let listed: readonly string[] | null = [...server.nodes.keys()];
  const transport = createNatsTransport({
    account: server.account(),
    enrolled: async () => {
      const names = listed;
      listed = null;
      return names === null ? null : names.map((name) => nodeInfo(name));
    },
    onLate: async (result) => void late.push(result),
    onAbsence: (absence) => absences.push(absence),
    absentAfterMs: 300_000,
    times: quickTimes,
    clock: systemClock,
    random: systemRandom,
    log: quiet,
    ...options,
  });
  endWithTest(async () => transport.close());
  if (listener !== null) transport.listen(listener);
  await eventually(30_000, () => expect(transport.connected).toBe(true));
  return {
    transport,
    late,
    absences,
    list(...names) {
      listed = names;
    },
    [Symbol.asyncDispose]: () => transport.close(),
  };
}

export interface TestNode extends AsyncDisposable {
  readonly node: RemoteNode;
  readonly local: ScriptedNode;
  readonly spool: Spool;
}

export function memorySpool(most = 1_000): Spool {
  return openSpool({ path: ':memory:', longestMs: 86_400_000, most, clock: systemClock, log: quiet });
}

/** Ends with its test at the latest. */
export function startNode(server: NatsServer, name: string, options: Partial<RemoteNodeOptions> = {}): TestNode {
  const local = scriptedNode(name);
  const spool = options.spool ?? memorySpool();
  const node = startRemoteNode({
    name,
    account: server.account(name),
    local,
    spool,
    limit: 1_000,
    version: '1.2.3',
    refusedMs: 600_000,
    times: quickTimes,
    clock: systemClock,
    random: systemRandom,
    log: quiet,
    ...options,
  });
  endWithTest(async () => node.stop(0));
  return { node, local, spool, [Symbol.asyncDispose]: () => node.stop(0) };
}
