import type { Clock } from '#kernel/clock.ts';
import {
  agree,
  isCheckType,
  type ProtocolRange,
  protocolRange,
  type Report,
  reportEveryMs,
  reportsMissed,
  type StatusList,
} from '#protocol/nodes.ts';
import { watchingSince } from '#protocol/watching.ts';
import type { NodeStatus } from '#service/ports.ts';
import type { WindowProcess } from './windows.ts';

type PresentNode = NodeStatus['info'];

/** What is known about one enrolled node, which may be several processes. */
export interface Presence {
  readonly status: NodeStatus;
  readonly summary: StatusList['nodes'][number];
  /** Why no command should be sent, or null. */
  readonly obstacle: string | null;
  /**
   * Whether each of its processes has sent all that it kept. The first report since it was asked may be from before: it counts if nothing
   * was kept.
   */
  readonly hasSentAll: boolean;
  /** When it last reported, by the monotonic clock. */
  readonly reportedAt: number;
  /** True until the first report of a connection to NATS. */
  readonly unheard: boolean;
  rename(info: PresentNode): void;
  /** Takes a report in; the reason if the process cannot be used, else null. `isHere`: what that one keeps comes without NATS. */
  hear(report: Report, isHere?: boolean): string | null;
  /** Its processes are asked for what they keep. */
  ask(): void;
  /** The processes that commands can be sent to. */
  readonly recipients: readonly WindowProcess[];
  /** Anything at all came from a process. */
  heard(process: string): void;
  /** So many of its results were refused. */
  refuse(results: number): void;
  /** A process is gone, until it reports again. */
  lose(process: string, reason: string): void;
  /**
   * A process is to be sent nothing until it is heard again. False, and without effect, if it was heard since `sentAt`
   * (by the monotonic clock).
   */
  mute(process: string, sentAt: number, reason: string): boolean;
  /** The hub itself lost its connection: reports are to be awaited anew. */
  disconnect(reason: string): void;
  /** To be called every second: forgets processes that fell silent, and names them. */
  forgetSilent(): readonly string[];
}

interface ProcessPresence {
  readonly report: Report;
  /** Whether `report` says what it has sent since it was asked for all. */
  readonly isAnswer: boolean;
  /** Whether it was asked for all and has not reported since. */
  isAsked: boolean;
  heardAt: number;
  /** How often it was looked for since without being heard: time in which the hub itself was held up is not counted. */
  looks: number;
  isMute: boolean;
}

const looksBeforeSilent = (reportEveryMs * reportsMissed) / 1_000;
// What a process that does not tell is taken to hold: the default of this program's nodes.
const usualCapacity = 5_500;
// One that was killed is known for fifteen seconds more.
const mostProcesses = 16;

export function createPresence(enrolled: PresentNode, clock: Clock, range: ProtocolRange = protocolRange): Presence {
  const processes = new Map<string, ProcessPresence>();
  let info = enrolled;
  let reason: string | null = 'it has not reported since the hub started';
  let unheard = true;
  // Until its first report, which is where an older version says otherwise: what it is to watch is ready for it then.
  let keepsTime = true;
  let refusedResults = 0;
  let reportedAt = Number.NEGATIVE_INFINITY;

  const reports = () => [...processes.values()].map(({ report }) => report);
  const speaking = () => [...processes.values()].some(({ isMute }) => !isMute);

  return {
    get status() {
      return { ...statusOf(info, reason, reports()), keepsTime, refusedResults };
    },
    get summary() {
      return summaryOf(info, reason, reports());
    },
    get obstacle() {
      return reason;
    },
    get hasSentAll() {
      return [...processes.values()].every(hasSent);
    },
    get unheard() {
      return unheard;
    },
    get reportedAt() {
      return reportedAt;
    },
    rename(next) {
      info = next;
    },
    ask() {
      for (const seen of processes.values()) seen.isAsked = true;
    },
    hear(report, isHere = false) {
      const agreed = agree(range, report.protocol);
      if (typeof agreed === 'string') {
        processes.delete(report.process);
        unheard = false;
        reportedAt = clock.elapsed();
        if (processes.size === 0) reason = `watchpost ${report.version} on it is ${agreed}`;
        return agreed;
      }
      if (!processes.has(report.process) && processes.size >= mostProcesses)
        return `${mostProcesses} processes serve this node already`;
      if (report.phase === 'joining') return null;
      unheard = false;
      reportedAt = clock.elapsed();
      const isAnswer = isHere || processes.get(report.process)?.isAsked === false;
      processes.delete(report.process);
      if (report.phase === 'serving') {
        keepsTime = report.protocol[1] >= watchingSince;
        const seen = { report, isAnswer, isAsked: false, heardAt: clock.elapsed(), looks: 0, isMute: false };
        processes.set(report.process, seen);
      }
      if (processes.size === 0) reason = 'it was stopped';
      else if (speaking()) reason = null;
      return null;
    },
    get recipients() {
      return [...processes]
        .filter(([, { isMute }]) => !isMute)
        .map(([process, { report }]) => ({ process, capacity: report.capacity ?? usualCapacity }));
    },
    heard(process) {
      const seen = processes.get(process);
      if (seen === undefined) return;
      seen.heardAt = clock.elapsed();
      seen.looks = 0;
      seen.isMute = false;
      reason = null;
    },
    mute(process, sentAt, why) {
      const seen = processes.get(process);
      if (seen === undefined || seen.heardAt >= sentAt) return seen === undefined;
      seen.isMute = true;
      if (!speaking()) reason = why;
      return true;
    },
    refuse: (results) => void (refusedResults += results),
    lose(process, why) {
      processes.delete(process);
      if (processes.size === 0) reason = why;
    },
    disconnect(why) {
      processes.clear();
      unheard = true;
      reason = why;
    },
    forgetSilent() {
      for (const seen of processes.values()) seen.looks += 1;
      const silent = [...processes].filter(([, { looks }]) => looks > looksBeforeSilent).map(([name]) => name);
      for (const name of silent) processes.delete(name);
      if (silent.length > 0 && processes.size === 0) reason = `it has not reported for ${looksBeforeSilent} s`;
      return silent;
    },
  };
}

const hasSent = ({ report: { unsent = 0, spooled }, isAnswer, isAsked }: ProcessPresence) =>
  unsent === 0 && !isAsked && (isAnswer || spooled === 0);

function statusOf(info: PresentNode, reason: string | null, reports: readonly Report[]): NodeStatus {
  return {
    info,
    online: reason === null,
    reason,
    capabilities: commonCapabilities(reports),
    running: sum(reports, ({ running }) => running),
    queued: sum(reports, ({ queued }) => queued),
    lagSeconds: Math.max(0, ...reports.map(({ lagSeconds }) => lagSeconds)),
    clockOffsetSeconds: toSeconds(reports.at(-1)?.clockOffsetMs ?? null),
    roundTripSeconds: toSeconds(reports.at(-1)?.roundTripMs ?? null),
    version: reports.at(-1)?.version ?? null,
    spooled: sum(reports, ({ spooled }) => spooled),
    losses: lossesOf(reports),
    newestDroppedAt: reports.reduce<number | null>(
      (newest, { newestDroppedAt: at = null }) => (at === null ? newest : Math.max(at, newest ?? at)),
      null,
    ),
  };
}

function lossesOf(reports: readonly Report[]): NodeStatus['losses'] {
  if (reports.every(({ losses }) => losses === undefined)) return undefined;
  return {
    dropped: sum(reports, ({ losses }) => losses?.dropped ?? 0),
    refused: sum(reports, ({ losses }) => losses?.refused ?? 0),
    skipped: sum(reports, ({ losses }) => losses?.skipped ?? 0),
    hub_overload: sum(reports, ({ losses }) => losses?.hub_overload ?? 0),
  };
}

function summaryOf(info: PresentNode, reason: string | null, reports: readonly Report[]): Presence['summary'] {
  const newest = reports.at(-1);
  return {
    name: info.name,
    online: reason === null,
    reason,
    version: newest?.version ?? null,
    processes: reports.length,
    spooled: sum(reports, ({ spooled }) => spooled),
    clockOffsetMs: newest?.clockOffsetMs ?? null,
    roundTripMs: newest?.roundTripMs ?? null,
    losses: lossesOf(reports),
    plugins: pluginsOf(commonCapabilities(reports)),
  };
}

function pluginsOf({ plugin }: NodeCapabilities): string[] {
  return plugin?.able === true ? [...(plugin.has ?? [])] : [];
}

type NodeCapabilities = NodeStatus['capabilities'];

// A command may get to any of the processes: what one of them cannot do, the node cannot.
function commonCapabilities(reports: readonly Report[]): NodeCapabilities {
  let common: NodeCapabilities = {};
  for (const { capabilities } of reports) {
    const unable = Object.fromEntries(Object.entries(common).filter(([, { able }]) => !able));
    common = { ...common, ...capabilities, ...narrowed(common, capabilities), ...unable };
  }
  return common;
}

// What each of the processes has.
function narrowed(common: NodeCapabilities, capabilities: NodeCapabilities): NodeCapabilities {
  const both = Object.entries(capabilities).flatMap(([type, capability]) => {
    const other = isCheckType(type) ? common[type] : undefined;
    if (!capability.able || other?.able !== true || capability.has === undefined) return [];
    return [[type, { able: true, has: capability.has.filter((name) => other.has?.includes(name) === true) }]];
  });
  return Object.fromEntries(both);
}

function sum(reports: readonly Report[], figure: (report: Report) => number): number {
  return reports.reduce((total, report) => total + figure(report), 0);
}

const toSeconds = (ms: number | null) => (ms === null ? null : ms / 1_000);
