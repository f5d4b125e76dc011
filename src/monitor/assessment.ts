import type { NodeInfo } from '#checks/index.ts';
import { formatTime } from '#kernel/zoned-time.ts';
import { type Connectivity, createConnectivity } from './doubt/connectivity.ts';
import { closureOf, reversed } from './doubt/dependencies.ts';
import { createMaintenanceAt, type Maintenance } from './doubt/maintenance.ts';
import { createOwnIncidents, ownConnectivity, type OwnIncidents, suspectedNodeOf } from './doubt/own-incidents.ts';
import { createQuarantine, type Quarantine } from './doubt/quarantine.ts';
import { type Silence, silenceAt } from './doubt/silence.ts';
import { decide, type Decision, type Memory, type Round } from './judge/decide.ts';
import type { Held, Incident } from './judge/incident.ts';
import { createRecentTimes, type RecentTimes, windowMsOf } from './judge/recent-times.ts';
import type { RoundRecord } from './judge/round-record.ts';
import { isOutage } from './judge/rules/index.ts';
import { mergeRecipients, type Recipient } from './judge/recipient.ts';
import type { Target } from './judge/target.ts';

/** What follows from a round, for its own target and beyond. */
export interface Assessment {
  readonly decision: Decision;
  readonly inMaintenance: boolean;
  /** What has to be stored about ourselves. */
  readonly records: readonly RoundRecord[];
  /** Targets that are to have a round at once, because what they see now would help. */
  readonly ask: readonly string[];
}

/** What is known about all targets together, and what that means for each: who is believed, and what is held back. */
export interface Assessor {
  readonly recentTimes: RecentTimes;
  readonly own: OwnIncidents;
  readonly silences: Map<string, Silence>;
  /** All targets there are from now on, with what is remembered about them. */
  setTargets(
    targets: readonly Target[],
    memoryOf: (target: string) => Memory,
    maintenance: readonly Maintenance[],
  ): void;
  /** What was seen of a target counts no more: it is another one now. */
  forget(target: string): void;
  assess(target: Target, memory: Memory, round: Round): Assessment;
  /** Who could tell whether connectivity is lost, while that is in doubt: ask them until it is not. */
  witnesses(): readonly string[];
  /** Names of the targets of which something is held back, for any reason or for this one. */
  held(by?: Held['by']): readonly string[];
  /** Ends what is told of nodes that are not among these any more. */
  dropNodesBut(nodes: readonly NodeInfo[], now: number): void;
  /** When what holds back a target ends by itself, or null. */
  heldUntil(target: string, now: number): number | null;
}

interface Standing {
  /** Seen down, perhaps not for long enough to be told. */
  readonly failing: boolean;
  /** When the last round was due that had a verdict. */
  readonly seenAt: number;
}

// Nobody's mail waits longer than this for a look at what it depends on.
const longestWaitMs = 120_000;

export function createAssessor(open: readonly Incident[]): Assessor {
  const recentTimes = createRecentTimes();
  const quarantine: Quarantine = createQuarantine();
  const connectivity: Connectivity = createConnectivity();
  const silences = new Map<string, Silence>();
  const standings = new Map<string, Standing>();
  const held = new Map<string, ReadonlySet<Held['by']>>();
  let ancestors: ReadonlyMap<string, readonly string[]> = new Map();
  let dependants: ReadonlyMap<string, readonly string[]> = new Map();
  let maintenanceAt: (target: string, at: number) => number | null = () => null;
  let everybody: readonly Recipient[] = [];
  const own = createOwnIncidents({ open, recipients: () => everybody, heldBy: (now) => heldByTime('', now) });
  for (const incident of open) {
    const node = suspectedNodeOf(incident);
    if (node !== null) quarantine.restore(node);
    if (incident.target === ownConnectivity) connectivity.restore();
  }

  // A target without a name stands for what concerns all.
  function heldByTime(target: string, now: number): Held | null {
    const end = maintenanceAt(target, now);
    if (end !== null) return { by: 'maintenance', why: `maintenance until ${formatTime(end, 'UTC')}` };
    const silence = silenceAt(silences.values(), target, now);
    if (silence === null) return null;
    return { by: 'silence', why: `silenced until ${formatTime(silence.until, 'UTC')}: ${silence.why}` };
  }

  function heldBy(target: string, startedAt: number, now: number): Held | null {
    const byTime = heldByTime(target, now);
    if (byTime !== null) return byTime;
    const above = ancestors.get(target) ?? [];
    const down = above.find((name) => standings.get(name)?.failing === true);
    if (down !== undefined) return { by: 'dependency', why: `depends on ${down}, which is down` };
    const doubt = connectivity.doubtAbout(target, now);
    if (doubt === 'lost') return { by: 'connectivity', why: 'our own connectivity is lost' };
    if (doubt === 'unsure') return { by: 'connectivity', why: 'no other target was looked at since' };
    const unseen = now - startedAt < longestWaitMs ? unseenSince(above, startedAt) : [];
    if (unseen.length > 0) return { by: 'dependency', why: `depends on ${unseen[0]}, not looked at since` };
    return null;
  }

  function unseenSince(names: readonly string[], since: number): readonly string[] {
    return names.filter((name) => (standings.get(name)?.seenAt ?? 0) < since);
  }

  function remember(target: Target, { memory, verdict }: Decision, dueAt: number): void {
    const before = standings.get(target.name);
    const seenAt = verdict.failing === null ? (before?.seenAt ?? 0) : dueAt;
    standings.set(target.name, { failing: isFailing(target, memory, verdict.failing), seenAt });
    rememberHeld(target.name, memory);
  }

  function rememberHeld(target: string, memory: Memory): void {
    const reasons = [...memory.openIncidents.values()].flatMap(({ held, acknowledged }) =>
      held === null || acknowledged !== null ? [] : [held.by],
    );
    if (reasons.length === 0) held.delete(target);
    else held.set(target, new Set(reasons));
  }

  // Targets that were held back for this one, or for want of a look at it, and are not any more.
  function freed(target: string): readonly string[] {
    if (held.size === 0) return [];
    const isDown = (name: string) => standings.get(name)?.failing === true;
    return (dependants.get(target) ?? []).filter(
      (name) => held.get(name)?.has('dependency') === true && !(ancestors.get(name) ?? []).some(isDown),
    );
  }

  function forget(target: string): void {
    recentTimes.forget(target);
    quarantine.forget(target);
  }

  function heldNames(by?: Held['by']): readonly string[] {
    return [...held].filter(([, reasons]) => by === undefined || reasons.has(by)).map(([name]) => name);
  }

  return {
    recentTimes,
    own,
    silences,
    setTargets(targets, memoryOf, maintenance) {
      const edges = new Map(targets.map(({ name, dependsOn }) => [name, dependsOn]));
      ancestors = closureOf(edges);
      dependants = closureOf(reversed(edges));
      maintenanceAt = createMaintenanceAt(maintenance);
      everybody = mergeRecipients(targets.flatMap(({ recipients }) => recipients));
      const failing = new Set<string>();
      for (const target of targets) {
        const memory = memoryOf(target.name);
        recentTimes.keep(target.name, windowMsOf(target));
        rememberHeld(target.name, memory);
        if (isFailing(target, memory, null)) failing.add(target.name);
        if (standings.has(target.name)) continue;
        standings.set(target.name, { failing: failing.has(target.name), seenAt: 0 });
      }
      for (const name of standings.keys()) {
        if (edges.has(name)) continue;
        for (const known of [standings, held]) known.delete(name);
        forget(name);
      }
      connectivity.targetsChanged(witnessesOf(targets, ancestors), failing);
    },
    forget,
    assess(target, memory, round) {
      const { name, spec } = target;
      const { dueAt, now, votes } = round;
      for (const { node, outcome } of votes) {
        if (outcome.status === 'up') recentTimes.add(name, node.name, { at: dueAt, seconds: outcome.seconds });
      }
      const observed = { target: name, host: hostOf(spec.host), dueAt, votes };
      for (const change of quarantine.observe(observed)) own.nodeChanged(change, now);
      own.nodesAnswered(votes, now);
      const wasUncertain = connectivity.isUncertain;
      const change = connectivity.observe(observed, now);
      if (change !== null) own.connectivityChanged(change, now);
      const decision = decide(target, memory, round, {
        suspected: quarantine.suspected,
        recentTimesOf: (node, since) => recentTimes.of(name, node, since),
        heldBy: (startedAt) => heldBy(name, startedAt, now),
      });
      remember(target, decision, dueAt);
      const ask = new Set<string>();
      if (wasUncertain && !connectivity.isUncertain) for (const one of heldNames('connectivity')) ask.add(one);
      const since = failingSince(target, decision.memory);
      if (since !== null) for (const one of unseenSince(ancestors.get(name) ?? [], since)) ask.add(one);
      for (const one of freed(name)) ask.add(one);
      ask.delete(name);
      return {
        decision,
        inMaintenance: maintenanceAt(name, now) !== null,
        records: own.review(now),
        ask: [...ask],
      };
    },
    held: heldNames,
    dropNodesBut(nodes, now) {
      const names = new Set(nodes.map((node) => node.name));
      for (const node of own.open.map(suspectedNodeOf)) if (node !== null && !names.has(node)) own.nodeGone(node, now);
    },
    witnesses: () => connectivity.witnesses(),
    heldUntil(target, now) {
      if (!held.has(target)) return null;
      return maintenanceAt(target, now) ?? silenceAt(silences.values(), target, now)?.until ?? null;
    },
  };
}

// By its rules; a target without a rule that says so is down when a majority of the nodes sees it down.
function isFailing(target: Target, { states }: Memory, seenFailing: boolean | null): boolean {
  const rules = target.rules.filter(({ rule }) => isOutage(rule));
  if (rules.length === 0) return seenFailing === true;
  return rules.some(({ name }) => {
    const state = states.get(name);
    return state !== undefined && (state.incidentId !== null || state.window.length > 0);
  });
}

/** The first failing round of what may still have to be told, or null. */
function failingSince(target: Target, { states, openIncidents }: Memory): number | null {
  const times = target.rules
    .filter(({ rule }) => isOutage(rule))
    .flatMap(({ name }) => {
      const state = states.get(name);
      const incident = openIncidents.get(state?.incidentId ?? '');
      if (incident !== undefined) return incident.held === null ? [] : [incident.startedAt];
      return state?.window.slice(0, 1).map(({ at }) => at) ?? [];
    });
  return times.length === 0 ? null : Math.min(...times);
}

// What lies behind one target fails with it: it is that one's witness, and speaks for its machine.
function witnessesOf(
  targets: readonly Target[],
  ancestors: ReadonlyMap<string, readonly string[]>,
): ReadonlyMap<string, string> {
  const byName = new Map(targets.map((target) => [target.name, target]));
  const rootOf = (name: string) => ancestors.get(name)?.find((one) => byName.get(one)?.dependsOn.length === 0) ?? name;
  return new Map(targets.map(({ name, spec }) => [name, hostOf(byName.get(rootOf(name))?.spec.host ?? spec.host)]));
}

// Several checks of one machine are one witness.
function hostOf(host: string): string {
  const withoutScheme = host.replace(/^[a-z]+:\/\//i, '');
  const authority = withoutScheme.split(/[/?#]/)[0] ?? withoutScheme;
  return authority.replace(/^(?:.*@)?(\[[^\]]*\]|[^:]*)(?::\d+)?$/, '$1').toLowerCase();
}
