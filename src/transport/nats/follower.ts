import type { Msg, NatsConnection } from '@nats-io/transport-node';
import { type Clock, orAbort } from '#kernel/clock.ts';
import { readJson } from '#kernel/json.ts';
import type { Log } from '#kernel/log.ts';
import type { Random } from '#kernel/random.ts';
import { shareOfApi } from '#node/ports.ts';
import { followersSince, protocolRange, Report, sharedSubjects } from '#protocol/nodes.ts';
import { nodeGoneOutcome, type Transport } from '#service/ports.ts';
import { createCommandIds } from './command-ids.ts';
import { type Account, connectionTimes, type ConnectionTimes } from './connection.ts';
import { createDispatch } from './dispatch.ts';
import { listenToNodes } from './listen.ts';
import { createNodeBudgets } from './node-budgets.ts';
import { createOpenRuns } from './open-runs.ts';
import { createResults } from './results.ts';
import { createRoster, type RosterOptions } from './roster.ts';

export interface FollowerTransportOptions extends Pick<RosterOptions, 'enrolled'> {
  /** The name of this hub. */
  readonly hub: string;
  readonly account: Pick<Account, 'seed'>;
  readonly connection: () => NatsConnection | null;
  readonly times?: ConnectionTimes;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** Nodes on other machines for the checks of a hub that does not lead. They belong to the hub that leads: this one only reads their reports. */
export interface FollowerTransport extends Pick<Transport, 'nodes' | 'run' | 'close'> {
  /** For how long a node has not been heard, in milliseconds; 0 without a connection. */
  silentMs(node: string): number;
  /** To be called with each new connection, and once it is lost. */
  up(connection: NatsConnection): void;
  down(): void;
}

export function createFollowerTransport(options: FollowerTransportOptions): FollowerTransport {
  const { hub, account, connection, times = connectionTimes, clock, random } = options;
  // The hub that leads says what becomes of nodes.
  const log = options.log.child({}, { level: 'silent' });
  const commandIds = createCommandIds(account.seed, clock, random);
  const openRuns = createOpenRuns(clock);
  const members = {
    isEnrolled: (name: string) => roster.has(name),
    heard: (name: string, process: string) => roster.find(name)?.heard(process),
    lose: (name: string, process: string, reason: string) => roster.lose(name, process, reason),
  };
  const dispatch = createDispatch({
    ...members,
    hub,
    commandIds,
    answerMs: times.answerMs,
    recipients: (name) => roster.find(name)?.recipients ?? [],
    mute: (name, process, sentAt, reason) => roster.mute(name, process, sentAt, reason),
    elapsed: () => clock.elapsed(),
  });
  const roster = createRoster({
    enrolled: options.enrolled,
    onAbsence: () => {},
    absentAfterMs: Number.POSITIVE_INFINITY,
    onLost: (name, process, reason) => dispatch.lost(name, process, reason),
    onListed: () => {},
    arrivalMs: times.arrivalMs,
    range: [followersSince, protocolRange[1]],
    clock,
    log,
  });
  const onLate = async () => {
    throw new Error('only the hub that leads stores results of nodes');
  };
  const results = createResults({ ...members, commandIds, openRuns, clock, log: options.log, dispatch, onLate });
  const budgets = createNodeBudgets(clock, options.log);

  function hearReport(name: string, message: Msg): void {
    const report = readJson(Report, message.string());
    if (report !== null) roster.hear(name, report);
  }

  const loadOf = (name: string) => {
    const capacity = (roster.find(name)?.recipients ?? []).reduce((sum, one) => sum + one.capacity, 0);
    return capacity === 0 ? 1 : dispatch.pending(name) / (capacity * shareOfApi);
  };

  return {
    up(connection) {
      roster.connected();
      listenToNodes(connection, sharedSubjects.reports, budgets.ofReports(hearReport), log);
      const take = budgets.ofResults((name, message) => results.take(name, message));
      listenToNodes(connection, sharedSubjects.resultsFor(hub), take, log);
    },
    down: () => roster.disconnected('this hub has no connection to NATS'),
    nodes: () => roster.statuses.map((status) => ({ ...status, load: loadOf(status.info.name) })),
    async run(name, command, signal, listener) {
      signal.throwIfAborted();
      await orAbort(roster.listed, signal);
      await roster.arrival(name, signal);
      const current = connection();
      const presence = roster.find(name);
      const obstacle = presence === null ? 'it is not enrolled at this hub' : presence.obstacle;
      if (obstacle !== null) return nodeGoneOutcome(`the node is offline: ${obstacle}`);
      if (current === null) return nodeGoneOutcome('the node cannot be reached: the hub has no connection to NATS');
      return dispatch.run(current, name, command, signal, listener);
    },
    silentMs: (node) => roster.silentMs(node),
    async close() {
      await roster.close();
      openRuns.close();
      dispatch.close();
    },
  };
}
