import type { Msg, NatsConnection } from '@nats-io/transport-node';
import { type Clock, orAbort } from '#kernel/clock.ts';
import { messageOf } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import type { Random } from '#kernel/random.ts';
import {
  nodeOfSubject,
  protocolRange,
  readMessage,
  Report,
  sharedSubjects,
  type StatusList,
  type Welcome,
} from '#protocol/nodes.ts';
import { gone, type NodeStatus, type Transport } from '#service/ports.ts';
import { type Account, type Connection, connectionTimes, type ConnectionTimes, keepConnected } from './connection.ts';
import { createDispatch } from './dispatch.ts';
import { createOpenRuns } from './open-runs.ts';
import { createPresence, type Presence } from './presence.ts';
import { createResults, type LateResult } from './results.ts';
import { createTickets } from './ticket.ts';

type NodeInfo = NodeStatus['info'];

export interface NatsTransportOptions {
  readonly account: Account;
  /** The nodes that are enrolled; null where they are the same as when it was last asked. Asked every second. */
  readonly enrolled: () => Promise<readonly NodeInfo[] | null>;
  /** Keeps a result that came after its run; the node sends it again unless this resolves. */
  readonly onLate: (late: LateResult) => Promise<void>;
  /** Called once when a node has been away for `absentAfterMs`, and once when such a node is back (`reason` is null). */
  readonly onAbsence: (absence: Absence) => void;
  readonly absentAfterMs: number;
  readonly times?: ConnectionTimes;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

export interface Absence {
  readonly node: NodeInfo;
  /** When the node went away, in milliseconds since the epoch. */
  readonly since: number;
  readonly reason: string | null;
}

/** Nodes on other machines, reached through NATS. */
export interface NatsTransport extends Transport {
  /** To be called once the results of a run are committed: from then on the nodes may forget them. */
  stored(run: string): void;
  readonly connected: boolean;
}

// How long a run waits for a node to report when the connection to NATS is new.
const arrivalMs = 3_000;
const tickMs = 1_000;

interface Remote {
  readonly presence: Presence;
  awaySince: number | null;
  told: boolean;
}

/** The hub's side: sends commands, takes results and reports in. */
export function createNatsTransport(options: NatsTransportOptions): NatsTransport {
  const { account, times = connectionTimes, clock, random, log } = options;
  const remotes = new Map<string, Remote>();
  const tickets = createTickets(account.seed, clock, random);
  const openRuns = createOpenRuns(clock);
  const arrivals = new Set<() => void>();
  // Before it is read, everybody would be a stranger.
  const { promise: ready, resolve: listRead } = Promise.withResolvers<void>();
  let upAt = clock.elapsed();
  let serving: NatsConnection | null = null;
  let closing = false;

  const dispatch = createDispatch({
    tickets,
    answerMs: times.answerMs,
    next: (name) => remotes.get(name)?.presence.next() ?? null,
    lose,
  });
  const results = createResults({
    isEnrolled: (name) => remotes.has(name),
    tickets,
    openRuns,
    log,
    settle: (ticket, outcome) => dispatch.settle(ticket, outcome),
    onLate: async (late) => options.onLate(late),
  });

  function lose(name: string, process: string, reason: string): void {
    log.warn({ node: name, process, reason }, 'node is lost');
    remotes.get(name)?.presence.lose(process, reason);
    dispatch.processLost(name, process, `the node was lost: ${reason}`);
  }

  function hear(message: Msg): void {
    const name = nodeOfSubject(message.subject);
    const report = readMessage(Report, message.string());
    if (report === null) return log.warn({ node: name }, 'node sent a report that cannot be read');
    message.respond(JSON.stringify(welcome(name, report)));
    for (const wake of arrivals) wake();
  }

  function welcome(name: string, report: Report): Welcome {
    const answer = (state: Welcome['state'], reason: string | null): Welcome => {
      return { protocol: [...protocolRange], state, reason, now: clock.now() };
    };
    const remote = remotes.get(name);
    if (remote === undefined) return answer('stranger', `no node "${name}" is enrolled at this hub`);
    const wasOnline = remote.presence.obstacle === null;
    const outdated = remote.presence.hear(report);
    if (report.phase === 'leaving') dispatch.processLost(name, report.process, 'the node was stopped');
    const { obstacle } = remote.presence;
    if (!wasOnline && obstacle === null) log.info({ node: name, version: report.version }, 'node is online');
    if (wasOnline && obstacle !== null) log.warn({ node: name, reason: obstacle }, 'node is offline');
    return outdated === null ? answer('welcome', null) : answer('outdated', outdated);
  }

  function openOn(connection: NatsConnection): void {
    upAt = clock.elapsed();
    const on = (subject: string, act: (message: Msg) => void) =>
      connection.subscribe(subject, {
        callback: (error, message) => {
          if (error !== null) return log.error({ err: error, subject }, 'NATS subscription ended');
          act(message);
        },
      });
    on(sharedSubjects.reports, hear);
    on(sharedSubjects.results, (message) => results.take(message));
    on(sharedSubjects.status, (message) => {
      const nodes = [...remotes.values()].map(({ presence }) => presence.summary);
      message.respond(JSON.stringify({ nodes } satisfies StatusList));
    });
    connection.publish(sharedSubjects.hub);
    void connection.flush().then(
      () => (serving = connection),
      (error: unknown) => log.debug({ err: error }, 'the connection ended at its beginning'),
    );
  }

  const connection: Connection = keepConnected({
    account,
    times,
    clock,
    random,
    log,
    onUp: (up) => void ready.then(() => up.isClosed() || openOn(up)),
    onDown(reason) {
      for (const { presence } of remotes.values()) presence.disconnect(reason);
    },
    onRefused: () => {},
  });

  async function enrol(): Promise<void> {
    const infos = await options.enrolled();
    if (infos === null) return;
    const names = new Set(infos.map(({ name }) => name));
    for (const name of remotes.keys()) {
      if (names.has(name)) continue;
      log.warn({ node: name }, 'node was revoked');
      remotes.delete(name);
      dispatch.nodeLost(name, 'the node was revoked');
    }
    for (const info of infos) {
      const known = remotes.get(info.name);
      known?.presence.rename(info);
      if (known === undefined) {
        remotes.set(info.name, { presence: createPresence(info, clock), awaySince: clock.now(), told: false });
      }
    }
    // Nodes that were strangers until now report again.
    connection.current?.publish(sharedSubjects.hub);
  }

  let trouble: string | null = null;
  async function refresh(): Promise<void> {
    try {
      await enrol();
      trouble = null;
      listRead();
    } catch (error) {
      if (trouble !== messageOf(error))
        log.error({ err: error }, 'the list of nodes cannot be read; the last one holds');
      trouble = messageOf(error);
    }
  }

  function look(): void {
    for (const [name, remote] of remotes) {
      const { presence } = remote;
      for (const process of presence.forgetSilent()) {
        log.warn({ node: name, process, reason: presence.obstacle }, 'node fell silent');
        dispatch.processLost(name, process, 'the node fell silent');
      }
      tellAbsence(remote, connection.current !== null);
    }
  }

  function tellAbsence(remote: Remote, connected: boolean): void {
    const { info, online, reason } = remote.presence.status;
    const since = (remote.awaySince ??= clock.now());
    if (online) {
      if (remote.told) options.onAbsence({ node: info, since, reason: null });
      remote.told = false;
      remote.awaySince = null;
    } else if (connected && !remote.told && clock.now() - since >= options.absentAfterMs) {
      remote.told = true;
      options.onAbsence({ node: info, since, reason });
    }
  }

  let ticking = Promise.resolve();
  let timer: Disposable | null = null;
  function tick(): void {
    look();
    ticking = refresh().then(() => {
      if (!closing) timer = clock.after(tickMs, tick);
    });
  }

  tick();

  async function arrival(name: string, signal: AbortSignal): Promise<void> {
    const leftMs = upAt + arrivalMs - clock.elapsed();
    if (leftMs <= 0 || remotes.get(name)?.presence.unheard !== true) return;
    await new Promise<void>((resolve) => {
      const done = () => {
        if (remotes.get(name)?.presence.unheard === true && clock.elapsed() < upAt + arrivalMs && !signal.aborted)
          return;
        limit[Symbol.dispose]();
        arrivals.delete(done);
        signal.removeEventListener('abort', done);
        resolve();
      };
      const limit = clock.after(leftMs, done);
      arrivals.add(done);
      signal.addEventListener('abort', done);
    });
    signal.throwIfAborted();
  }

  return {
    get connected() {
      return serving !== null && serving === connection.current;
    },
    nodes: () => [...remotes.values()].map(({ presence }) => presence.status),
    async run(name, command, signal) {
      signal.throwIfAborted();
      await orAbort(ready, signal);
      if (!remotes.has(name)) return gone(`there is no node "${name}"`);
      if (command.run !== undefined) openRuns.begin(command.run);
      await arrival(name, signal);
      const obstacle = remotes.get(name)?.presence.obstacle ?? null;
      if (obstacle !== null) return gone(`the node is offline: ${obstacle}`);
      if (connection.current === null) return gone(`the node cannot be reached: ${connection.reason}`);
      return dispatch.run(connection.current, name, command, signal);
    },
    stored: (run) => openRuns.stored(run),
    async close() {
      closing = true;
      timer?.[Symbol.dispose]();
      await ticking;
      openRuns.close();
      dispatch.close();
      await connection.close();
    },
  };
}
