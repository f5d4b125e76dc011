import type { Clock } from '#kernel/clock.ts';
import { messageOf } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import {
  type ProtocolRange,
  protocolRange,
  type Report,
  type StatusList,
  type WelcomeMessage,
} from '#protocol/nodes.ts';
import type { NodeStatus } from '#service/ports.ts';
import { createArrivals } from './arrivals.ts';
import { createPresence, type Presence } from './presence.ts';

type PresentNode = NodeStatus['info'];

/** A node that is away for long, or is back. */
export interface NodeAbsence {
  readonly node: PresentNode;
  /** When the node went away, in milliseconds since the epoch. */
  readonly since: number;
  /** Why it is away; null when it is back. */
  readonly reason: string | null;
}

export interface RosterOptions {
  /** The nodes that are enrolled; null if they are the same as when it was last asked. Asked every second. */
  readonly enrolled: () => Promise<readonly PresentNode[] | null>;
  /** Called once when a node has been away for `absentAfterMs`, and once when such a node is back. */
  readonly onAbsence: (absence: NodeAbsence) => void;
  readonly absentAfterMs: number;
  /** Called when a process of a node is gone, or (`process` is null) all of them with the node's rights. */
  readonly onLost: (node: string, process: string | null, reason: string) => void;
  /** Called when the list is another one: nodes that were strangers until now may report again. */
  readonly onListed: () => void;
  /** For how long after a new connection a command waits for its node to report. */
  readonly arrivalMs: number;
  /**
   * For how long a node had not been heard elsewhere in this process, in milliseconds; a living one reports every few seconds. It is asked
   * about nodes that have not reported here. Default: that is not known.
   */
  readonly silentMs?: (node: string) => number;
  /** Whether this is a node of this process, which gets its targets and hands in its results without NATS; default: none is. */
  readonly isHere?: (process: string) => boolean;
  /** The versions of the protocol that a node must speak to be used; default: all that this program speaks. */
  readonly range?: ProtocolRange;
  readonly clock: Clock;
  readonly log: Log;
}

/** Which nodes there are, and how each of them is. */
export interface Roster {
  has(node: string): boolean;
  /** Whether all online nodes have sent what they hold; one that has not reported yet has some time for that. */
  hasAllSent(): boolean;
  /** How old the connection to NATS is, in milliseconds; 0 without one. */
  connectedMs(): number;
  /** Resolves once the list was read: before, every node would be a stranger. */
  readonly listed: Promise<void>;
  readonly statuses: readonly NodeStatus[];
  readonly summaries: StatusList['nodes'];
  /** For how long a node has not been heard over the connection that there is, in milliseconds; 0 without one. */
  silentMs(node: string): number;
  /** What is known about a node, or null if it is not enrolled. */
  find(node: string): Presence | null;
  /** Takes a report in, and gives the answer to it. */
  hear(node: string, report: Report): WelcomeMessage;
  /** A process turned out not to be there. */
  lose(node: string, process: string, reason: string): void;
  /** A process takes no commands; false if it was heard since it was `sentAt`, and is only slow. */
  mute(node: string, process: string, sentAt: number, reason: string): boolean;
  /** Waits a moment for a node that has not reported on this connection yet. Rejects with the signal's reason. */
  arrival(node: string, signal: AbortSignal): Promise<void>;
  /** Reports that came until now say nothing of what nodes hold; `reportsAwaited` tells from when on they do. */
  awaitReports(): void;
  reportsAwaited(): void;
  /** The hub has a new connection to NATS. */
  connected(): void;
  /** The hub has lost its connection. */
  disconnected(reason: string): void;
  close(): Promise<void>;
}

interface RosterEntry {
  readonly presence: Presence;
  /** Since when it is away: by the wall clock, and by the monotonic one. */
  away: { readonly since: number; readonly began: number } | null;
  isReported: boolean;
}

const tickMs = 1_000;
// A node that lost its connection at the same time tries for it no later.
const reportWithinMs = 15_000;
// All nodes answer a greeting in less, and one that has been silent for longer than this was gone before.
const greetedMs = 2_000;
const goneMs = 9_000;

/** Keeps the list of enrolled nodes, detects every second which ones stopped reporting, and reports long absences. */
export function createRoster(options: RosterOptions): Roster {
  const { clock, log, onLost } = options;
  const remotes = new Map<string, RosterEntry>();
  const arrivals = createArrivals(clock, options.arrivalMs, (name) => remotes.get(name)?.presence.unheard === true);
  const { promise: listed, resolve: listRead } = Promise.withResolvers<void>();
  const list = createList(options, remotes);
  // When the connection that there is was made, by the monotonic clock; nodes that are asked again are reached anew.
  let connectedAt: number | null = null;
  let reachedAt = 0;
  let isClosing = false;

  function look(): void {
    for (const [name, remote] of remotes) {
      const { presence } = remote;
      for (const process of presence.forgetSilent()) {
        log.warn({ node: name, process, reason: presence.obstacle }, 'node stopped reporting');
        onLost(name, process, 'the node stopped reporting');
      }
      reportAbsence(remote, connectedAt, options);
    }
  }

  let ticking = Promise.resolve();
  let timer: Disposable | null = null;
  function tick(): void {
    look();
    ticking = list.refresh().then((isRead) => {
      if (isRead) listRead();
      if (!isClosing) timer = clock.after(tickMs, tick);
    });
  }
  tick();

  return {
    listed,
    hasAllSent() {
      const waitedMs = clock.elapsed() - reachedAt;
      const hadTime = (node: string) =>
        waitedMs >= reportWithinMs || (waitedMs >= greetedMs && (options.silentMs?.(node) ?? 0) >= goneMs);
      const hasSent = ([node, { presence }]: [string, RosterEntry]) =>
        presence.reportedAt < reachedAt ? hadTime(node) : presence.hasSentAll;
      return connectedAt !== null && [...remotes].every(hasSent);
    },
    connectedMs: () => (connectedAt === null ? 0 : clock.elapsed() - connectedAt),
    has: (name) => remotes.has(name),
    silentMs(name) {
      const reportedAt = remotes.get(name)?.presence.reportedAt ?? Number.NEGATIVE_INFINITY;
      return connectedAt === null ? 0 : clock.elapsed() - Math.max(reportedAt, reachedAt);
    },
    find: (name) => remotes.get(name)?.presence ?? null,
    get statuses() {
      return [...remotes.values()].map(({ presence }) => presence.status);
    },
    get summaries() {
      return [...remotes.values()].map(({ presence }) => presence.summary);
    },
    hear(name, report) {
      const welcome = (state: WelcomeMessage['state'], reason: string | null): WelcomeMessage => {
        return { protocol: [...protocolRange], state, reason, now: clock.now() };
      };
      const presence = remotes.get(name)?.presence;
      if (presence === undefined) return welcome('stranger', `no node "${name}" is enrolled at this hub`);
      const wasOnline = presence.obstacle === null;
      const outdated = presence.hear(report, options.isHere?.(report.process) === true);
      if (report.phase === 'leaving') onLost(name, report.process, 'the node was stopped');
      const { obstacle } = presence;
      if (!wasOnline && obstacle === null) log.info({ node: name, version: report.version }, 'node is online');
      if (wasOnline && obstacle !== null) log.warn({ node: name, reason: obstacle }, 'node is offline');
      arrivals.look();
      return outdated === null ? welcome('welcome', null) : welcome('outdated', outdated);
    },
    lose(name, process, reason) {
      log.warn({ node: name, process, reason }, 'node is lost');
      remotes.get(name)?.presence.lose(process, reason);
      onLost(name, process, `the node was lost: ${reason}`);
    },
    mute(name, process, sentAt, reason) {
      const isMute = remotes.get(name)?.presence.mute(process, sentAt, reason) ?? true;
      if (isMute) log.warn({ node: name, process, reason }, 'node is paused until it reports again');
      else log.debug({ node: name, process, reason }, 'node is slow');
      return isMute;
    },
    arrival: async (name, signal) => arrivals.wait(name, signal),
    awaitReports: () => void (reachedAt = Number.POSITIVE_INFINITY),
    reportsAwaited() {
      reachedAt = clock.elapsed();
      for (const { presence } of remotes.values()) presence.ask();
    },
    connected() {
      connectedAt = clock.elapsed();
      reachedAt = connectedAt;
      arrivals.begin();
    },
    disconnected(reason) {
      connectedAt = null;
      for (const { presence } of remotes.values()) presence.disconnect(reason);
    },
    async close() {
      isClosing = true;
      timer?.[Symbol.dispose]();
      await ticking;
    },
  };
}

function createList(
  { enrolled, onLost, onListed, range, clock, log }: RosterOptions,
  remotes: Map<string, RosterEntry>,
) {
  let trouble: string | null = null;

  function take(infos: readonly PresentNode[]): void {
    const names = new Set(infos.map(({ name }) => name));
    for (const name of remotes.keys()) {
      if (names.has(name)) continue;
      log.warn({ node: name }, 'node was revoked');
      remotes.delete(name);
      onLost(name, null, 'the node was revoked');
    }
    for (const info of infos) {
      const known = remotes.get(info.name);
      known?.presence.rename(info);
      if (known === undefined) {
        remotes.set(info.name, {
          presence: createPresence(info, clock, range),
          away: { since: clock.now(), began: clock.elapsed() },
          isReported: false,
        });
      }
    }
    onListed();
  }

  return {
    /** False if the list cannot be read: the last one holds. */
    async refresh(): Promise<boolean> {
      try {
        const infos = await enrolled();
        if (infos !== null) take(infos);
        trouble = null;
        return true;
      } catch (error) {
        if (trouble !== messageOf(error))
          log.error({ err: error }, 'cannot read the list of nodes; keeping the last one');
        trouble = messageOf(error);
        return false;
      }
    },
  };
}

// While the hub itself is cut off, and until its nodes had time to be heard since then, it is not they who are away.
function reportAbsence(
  remote: RosterEntry,
  connectedAt: number | null,
  { onAbsence, absentAfterMs, clock }: RosterOptions,
): void {
  const { info, online, reason } = remote.presence.status;
  const { since, began } = (remote.away ??= { since: clock.now(), began: clock.elapsed() });
  if (online) {
    if (remote.isReported) onAbsence({ node: info, since, reason: null });
    remote.isReported = false;
    remote.away = null;
  } else if (
    connectedAt !== null &&
    !remote.isReported &&
    clock.elapsed() - Math.max(began, connectedAt) >= absentAfterMs
  ) {
    remote.isReported = true;
    onAbsence({ node: info, since, reason });
  }
}
