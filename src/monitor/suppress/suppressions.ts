import { checkOf } from '#checks/index.ts';
import { plainlyBetween } from '#kernel/clock-steps.ts';
import { formatTime } from '#kernel/zoned-time.ts';
import type { Memory } from '../judge/decide.ts';
import type { Suppression, Incident } from '../judge/incident.ts';
import { isOutage } from '../judge/rules/index.ts';
import type { Target } from '../judge/target.ts';
import type { Verdict } from '../judge/verdict.ts';
import type { Connectivity } from './connectivity.ts';
import { closureOf, reversed } from './dependencies.ts';
import { createStandings } from './standings.ts';
import { createMaintenanceAt, type Maintenance } from './maintenance.ts';
import { createSilences, type Silences } from './silence.ts';

/** The targets whose incidents are not notified when they begin, and why. */
export interface Suppressions {
  readonly silences: Silences;
  /** All targets there are from now on, with what is remembered about them. */
  setTargets(
    targets: readonly Target[],
    memoryOf: (target: string) => Memory,
    maintenance: readonly Maintenance[],
  ): void;
  /** Why an incident of the target that began at `startedAt` is not notified at `now`, or null. */
  heldBy(target: string, startedAt: number, now: number): Suppression | null;
  /** The reason that held at a moment in the past, or null; it is known for a month, or for as long as the program runs. */
  heldAt(target: string, moment: number): Suppression | null;
  /** What suppresses all notifications at `now`, or null. */
  heldForAll(now: number): Suppression | null;
  /**
   * Whether more than a doubt about ourselves suppresses an incident at `now`: maintenance, a silence, or an outage that was
   * notified, of what it depends on or of the target itself.
   */
  isExplained(incident: Incident, now: number): boolean;
  /** Takes what became of a target's incidents without a round. */
  incidentsChanged(target: Target, memory: Memory): void;
  /** Takes what a round did to its target. */
  remember(target: Target, memory: Memory, verdict: Verdict, dueAt: number, now: number): void;
  isInMaintenance(target: string, now: number): boolean;
  /** When the suppression of a target ends by itself, or null. */
  heldUntil(target: string, now: number): number | null;
  /** Names of the targets with a suppressed incident, for any reason or for this one. */
  held(by?: Suppression['by']): readonly string[];
  /** Targets that were suppressed for this one, or until it was checked, and are not any more. */
  freedBy(target: string): readonly string[];
  /** Dependencies of the target that were not checked since it began to fail in a way that may have to be notified. */
  unseenAbove(target: Target, memory: Memory): readonly string[];
  /** The clock was set back to `now`. */
  setBack(now: number): void;
  /** What each target depends on, directly and through others. */
  readonly ancestors: ReadonlyMap<string, readonly string[]>;
}

// No mail waits longer than this for a check of a dependency.
const longestWaitMs = 120_000;

type DoubtView = Pick<Connectivity, 'doubtAbout' | 'returnedAt'>;

export function createSuppressions(connectivity: DoubtView, elapsedBetween = plainlyBetween): Suppressions {
  const silences = createSilences();
  const standings = createStandings();
  const held = new Map<string, ReadonlySet<Suppression['by']>>();
  let ancestors: ReadonlyMap<string, readonly string[]> = new Map();
  let dependants: ReadonlyMap<string, readonly string[]> = new Map();
  /** Jobs that ping: no check shows more of them than their last ping. */
  let pinging: ReadonlySet<string> = new Set();
  let maintenanceAt: (target: string, at: number) => number | null = () => null;

  // A target without a name stands for what concerns all.
  function heldByTime(target: string, now: number): Suppression | null {
    const end = maintenanceAt(target, now);
    if (end !== null) return { by: 'maintenance', why: `maintenance until ${formatTime(end, 'UTC')}` };
    const silence = silences.at(target, now);
    if (silence === null) return null;
    return { by: 'silence', why: `silenced until ${formatTime(silence.until, 'UTC')}: ${silence.why}` };
  }

  const aboveOf = (target: string) => ancestors.get(target) ?? [];
  const isFailingNow = (name: string) => standings.of(name).failing;
  const isReportedNow = (name: string) => standings.of(name).reported;
  const unseenSince = (names: readonly string[], since: number) =>
    names.filter((name) => standings.of(name).seenAt < since && !pinging.has(name));

  function heldBy(target: string, startedAt: number, now: number): Suppression | null {
    const byTime = heldByTime(target, now);
    if (byTime !== null) return byTime;
    const down = aboveOf(target).find(isFailingNow);
    if (down !== undefined) return { by: 'dependency', why: `depends on ${down}, which is down` };
    switch (connectivity.doubtAbout(target, now)) {
      case 'lost':
        return { by: 'connectivity', why: 'our own connectivity is lost' };
      case 'returning':
        return { by: 'connectivity', why: 'our own connectivity has just come back' };
      case 'unsure':
        return { by: 'connectivity', why: 'no other target has been checked since it began to fail', untilLook: true };
      case 'none':
        break;
    }
    const [unseen] = elapsedBetween(startedAt, now) < longestWaitMs ? unseenSince(aboveOf(target), startedAt) : [];
    if (unseen === undefined) return null;
    return { by: 'dependency', why: `waiting for a check of ${unseen}, which it depends on`, untilLook: true };
  }

  function heldAt(target: string, moment: number): Suppression | null {
    if (moment < connectivity.returnedAt) return { by: 'connectivity', why: 'our own connectivity was lost' };
    const above = aboveOf(target).find((name) => moment < standings.of(name).goodSince);
    if (above !== undefined) return { by: 'dependency', why: `depends on ${above}, which was down` };
    return heldByTime(target, moment);
  }

  function rememberHeld(target: string, memory: Memory): void {
    const reasons = reasonsOf(memory);
    if (reasons.size === 0) held.delete(target);
    else held.set(target, reasons);
  }

  return {
    silences,
    setTargets(targets, memoryOf, maintenance) {
      const edges = new Map(targets.map(({ name, dependsOn }) => [name, dependsOn]));
      ancestors = closureOf(edges);
      dependants = closureOf(reversed(edges));
      pinging = new Set(targets.filter(({ spec }) => checkOf(spec.type).heard !== null).map(({ name }) => name));
      maintenanceAt = createMaintenanceAt(maintenance);
      for (const target of targets) rememberHeld(target.name, memoryOf(target.name));
      for (const name of standings.keep(targets, memoryOf)) held.delete(name);
    },
    heldBy,
    heldAt,
    heldForAll: (now) => heldByTime('', now),
    isExplained({ target, held }, now) {
      if (heldByTime(target, now) !== null) return true;
      if (held?.by === 'outage' && isReportedNow(target)) return true;
      return aboveOf(target).some((name) => isFailingNow(name) && isReportedNow(name));
    },
    incidentsChanged(target, memory) {
      standings.changed(target, memory);
      rememberHeld(target.name, memory);
    },
    remember(target, memory, verdict, dueAt, now) {
      standings.remember(target, memory, verdict, dueAt, now);
      rememberHeld(target.name, memory);
    },
    isInMaintenance: (target, now) => maintenanceAt(target, now) !== null,
    heldUntil(target, now) {
      if (!held.has(target)) return null;
      const end = maintenanceAt(target, now) ?? silences.at(target, now)?.until ?? null;
      return end ?? (connectivity.doubtAbout(target, now) === 'returning' ? connectivity.returnedAt : null);
    },
    held: (by) => [...held].filter(([, reasons]) => by === undefined || reasons.has(by)).map(([name]) => name),
    freedBy(target) {
      if (held.size === 0) return [];
      return (dependants.get(target) ?? []).filter(
        (name) => held.get(name)?.has('dependency') === true && !aboveOf(name).some(isFailingNow),
      );
    },
    unseenAbove(target, memory) {
      const since = failingSince(target, memory);
      return since === null ? [] : unseenSince(aboveOf(target.name), since);
    },
    setBack: (now) => standings.setBack(now),
    get ancestors() {
      return ancestors;
    },
  };
}

// The suppressed incidents of a target that have recipients.
function reasonsOf({ openIncidents }: Memory): ReadonlySet<Suppression['by']> {
  const waiting = [...openIncidents.values()].filter(({ acknowledged }) => acknowledged === null);
  return new Set(waiting.flatMap(({ held }) => (held === null ? [] : [held.by])));
}

/** The first failing round of an incident that may still have to be notified, or null. */
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
