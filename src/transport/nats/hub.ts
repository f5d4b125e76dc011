import type { Msg, NatsConnection } from '@nats-io/transport-node';
import { type Clock, orAbort } from '#kernel/clock.ts';
import type { Log } from '#kernel/log.ts';
import type { Random } from '#kernel/random.ts';
import { shareOfApi } from '#node/ports.ts';
import { readJson } from '#kernel/json.ts';
import { type HubGreeting, Report, sharedSubjects } from '#protocol/nodes.ts';
import { nodeGoneOutcome, type Transport } from '#service/ports.ts';
import { createCommandIds } from './command-ids.ts';
import { type Account, connectionTimes, type ConnectionTimes, keepConnected } from './connection.ts';
import { createDispatch } from './dispatch.ts';
import { listenToNodes } from './listen.ts';
import { createHubWatching } from './hub-watching.ts';
import { createNodeBudgets } from './node-budgets.ts';
import { createOpenRuns } from './open-runs.ts';
import { createResults, type LateResult } from './results.ts';
import { createRoster, type Roster, type RosterOptions } from './roster.ts';
import { serveStatus } from './status.ts';
import type { WindowProcess } from './windows.ts';

export interface NatsTransportOptions extends Pick<
  RosterOptions,
  'enrolled' | 'onAbsence' | 'absentAfterMs' | 'silentMs' | 'isHere'
> {
  readonly account: Account;
  /** Keeps a result that came after its run; the node sends it again unless this resolves. */
  readonly onLate: (late: LateResult) => Promise<void>;
  readonly times?: ConnectionTimes;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

// The whole reason names hosts of ours: it is for the log and for operators, and this is for readers of nodes and results.
const unlinked = 'the hub has no connection to NATS';

/** Nodes on other machines, reached through NATS. */
export interface NatsTransport extends Transport {
  /** To be called once the results of a run are committed: from then on the nodes may forget them. */
  stored(run: string): void;
  /** Takes the result of a command in, as if it had come over NATS, once it is known who is enrolled. */
  takeResult: ReturnType<typeof createResults>['take'];
  readonly connected: boolean;
  /** Why there is no connection to NATS, or null. */
  trouble(): string | null;
  /** Which nodes send more than the hub reads, and what, or null. */
  excess(): string | null;
  /** Whether the nodes have sent everything that they hold, as far as is known. */
  hasAllSent(): boolean;
  /** How old the connection to NATS is, in milliseconds; 0 without one. */
  connectedMs(): number;
  /** Asks the nodes to report and to send again what is not confirmed; `hasAllSent` is false until they have. */
  askForAll(): void;
}

// What the server had for us before comes first: reports of that time say nothing. A new connection begins anew by itself.
function askForAll(
  roster: Pick<Roster, 'awaitReports' | 'reportsAwaited'>,
  connection: () => NatsConnection | null,
  greeting: () => string,
  log: Log,
): void {
  roster.awaitReports();
  const asked = connection();
  asked?.flush().then(
    () => {
      if (asked !== connection()) return;
      roster.reportsAwaited();
      asked.publish(sharedSubjects.hub, greeting());
    },
    (error: unknown) => log.debug({ err: error }, 'connection closed before nodes were queried'),
  );
}

// Together they do not send more than a report each millisecond.
const greetingFor = (nodes: number): HubGreeting => ({ spreadMs: Math.min(nodes, longestSpreadMs) });
const longestSpreadMs = 500;

function loadFor(pending: number, recipients: readonly WindowProcess[]): number {
  const capacity = recipients.reduce((sum, one) => sum + one.capacity, 0);
  return capacity === 0 ? 1 : pending / (capacity * shareOfApi);
}

/** The hub's side: sends commands, takes results and reports in. */
export function createNatsTransport(options: NatsTransportOptions): NatsTransport {
  const { account, times = connectionTimes, clock, random, log } = options;
  const commandIds = createCommandIds(account.seed, clock, random);
  const openRuns = createOpenRuns(clock);
  const members = {
    isEnrolled: (name: string) => roster.has(name),
    heard: (name: string, process: string) => roster.find(name)?.heard(process),
    refused: (name: string, count: number) => roster.find(name)?.refuse(count),
    lose: (name: string, process: string, reason: string) => roster.lose(name, process, reason),
  };
  const dispatch = createDispatch({
    ...members,
    commandIds,
    answerMs: times.answerMs,
    recipients: (name) => roster.find(name)?.recipients ?? [],
    mute: (name, process, sentAt, reason) => roster.mute(name, process, sentAt, reason),
    elapsed: () => clock.elapsed(),
  });
  const roster = createRoster({
    ...options,
    arrivalMs: times.arrivalMs,
    onLost(name, process, reason) {
      dispatch.lost(name, process, reason);
      watching.lost(name, process);
    },
    onListed: () => connection.current?.publish(sharedSubjects.hub, greeting()),
  });
  const results = createResults({ ...members, commandIds, openRuns, clock, log, dispatch, onLate: options.onLate });
  const watching = createHubWatching({ ...options, ...members, connection: () => connection.current, times });
  let serving: NatsConnection | null = null;
  const greeting = () => JSON.stringify(greetingFor(roster.statuses.length));

  const budgets = createNodeBudgets(clock, log);

  function hearReport(name: string, message: Msg): void {
    const report = readJson(Report, message.string());
    if (report === null) return log.warn({ node: name }, 'node sent an unreadable report');
    const welcome = roster.hear(name, report);
    message.respond(JSON.stringify(welcome));
    if (welcome.state === 'welcome' && options.isHere?.(report.process) !== true) watching.heardReport(name, report);
  }

  function openOn(connection: NatsConnection): void {
    roster.connected();
    listenToNodes(connection, sharedSubjects.reports, budgets.ofReports(hearReport), log);
    const take = budgets.ofResults((name, message) => watching.take(name, message) || results.take(name, message));
    listenToNodes(connection, sharedSubjects.results, take, log);
    serveStatus(connection, () => budgets.marked(roster.summaries), log);
    connection.publish(sharedSubjects.hub, greeting());
    void connection.flush().then(
      () => (serving = connection),
      (error: unknown) => log.debug({ err: error }, 'connection closed during setup'),
    );
  }

  const connection = keepConnected({
    account,
    times,
    clock,
    random,
    log,
    onUp: (up) => void roster.listed.then(() => up.isClosed() || openOn(up)),
    onDown() {
      for (const { info } of roster.statuses) watching.lost(info.name, null);
      roster.disconnected(unlinked);
    },
    onRefused: () => {},
  });

  const loadOf = (name: string) => loadFor(dispatch.pending(name), roster.find(name)?.recipients ?? []);

  return {
    get connected() {
      return serving !== null && serving === connection.current;
    },
    trouble: () => (connection.current === null ? connection.reason : null),
    excess: () => budgets.exceeded(),
    hasAllSent: () => roster.hasAllSent(),
    connectedMs: () => roster.connectedMs(),
    askForAll: () => askForAll(roster, () => connection.current, greeting, log),
    nodes: () => roster.statuses.map((status) => ({ ...status, load: loadOf(status.info.name) })),
    async run(name, command, signal, listener) {
      signal.throwIfAborted();
      await orAbort(roster.listed, signal);
      if (!roster.has(name)) return nodeGoneOutcome(`there is no node "${name}"`);
      if (command.run !== undefined) openRuns.begin(command.run);
      await roster.arrival(name, signal);
      const obstacle = roster.find(name)?.obstacle ?? null;
      if (obstacle !== null) return nodeGoneOutcome(`the node is offline: ${obstacle}`);
      if (connection.current === null) return nodeGoneOutcome(`the node cannot be reached: ${unlinked}`);
      return dispatch.run(connection.current, name, command, signal, listener);
    },
    assign: (name, assignment) => watching.assign(name, assignment),
    listen: (listener) => watching.listen(listener),
    stored: (run) => openRuns.stored(run),
    takeResult: (node, message) => void roster.listed.then(() => results.take(node, message)),
    async close() {
      watching[Symbol.dispose]();
      await roster.close();
      openRuns.close();
      dispatch.close();
      await connection.close();
    },
  };
}
