import type { Memory } from '../judge/decide.ts';
import type { Suppression } from '../judge/incident.ts';
import { isOutage } from '../judge/rules/index.ts';
import type { Target } from '../judge/target.ts';
import type { Verdict } from '../judge/verdict.ts';

/** How each target stands, for those that depend on it. */
export interface TargetStandings {
  of(target: string): TargetStanding;
  /** Takes what a round did to its target. */
  remember(target: Target, memory: Memory, verdict: Verdict, dueAt: number, now: number): void;
  /** Takes what became of a target's incidents without a round. */
  changed(target: Target, memory: Memory): void;
  /** All targets there are from now on. Gives the names of those that are gone. */
  keep(targets: readonly Target[], memoryOf: (target: string) => Memory): readonly string[];
  /** The clock was set back to `now`: no target was seen well again after that. */
  setBack(now: number): void;
}

export interface TargetStanding {
  /** Seen down, perhaps not for long enough to be notified. */
  readonly failing: boolean;
  /** When the last round was due that had a verdict. */
  readonly seenAt: number;
  /** Since when it has not been failing; 0 if it never was. */
  readonly goodSince: number;
  /** Whether its outage was notified or acknowledged. */
  readonly reported: boolean;
}

// Written over with each round: what lived from one to the next would be garbage that is dear to collect.
type MutableStanding = { -readonly [Field in keyof TargetStanding]: TargetStanding[Field] };

const unseen: TargetStanding = { failing: false, seenAt: 0, goodSince: 0, reported: false };

export function createStandings(): TargetStandings {
  const standings = new Map<string, MutableStanding>();
  const of = (target: string): TargetStanding => standings.get(target) ?? unseen;

  return {
    of,
    remember(target, memory, verdict, dueAt, now) {
      let known = standings.get(target.name);
      if (known === undefined) standings.set(target.name, (known = { ...unseen }));
      const failing = isFailing(target, memory, verdict.failing);
      if (verdict.failing !== null) known.seenAt = dueAt;
      if (known.failing && !failing) known.goodSince = now;
      known.failing = failing;
      known.reported = isReported(target, memory);
    },
    changed(target, memory) {
      standings.set(target.name, { ...of(target.name), reported: isReported(target, memory) });
    },
    keep(targets, memoryOf) {
      const names = new Set(targets.map(({ name }) => name));
      for (const target of targets) {
        if (standings.has(target.name)) continue;
        const memory = memoryOf(target.name);
        const failing = isFailing(target, memory, null);
        standings.set(target.name, { ...unseen, failing, reported: isReported(target, memory) });
      }
      const gone = [...standings.keys()].filter((name) => !names.has(name));
      for (const name of gone) standings.delete(name);
      return gone;
    },
    setBack(now) {
      for (const known of standings.values()) known.goodSince = Math.min(known.goodSince, now);
    },
  };
}

// Whether its outage was notified, acknowledged or silenced.
function isReported({ rules }: Target, { openIncidents }: Memory): boolean {
  if (openIncidents.size === 0) return false;
  const outages = new Set(rules.filter(({ rule }) => isOutage(rule)).map(({ name }) => name));
  return [...openIncidents.values()].some(
    ({ rule, held, notified, acknowledged }) =>
      outages.has(rule) && (acknowledged !== null || (held === null ? notified?.length !== 0 : isWanted(held))),
  );
}

const isWanted = ({ by }: Suppression) => by === 'maintenance' || by === 'silence';

/** By its rules; a target without a rule that says so is down when a majority of the nodes sees it down. */
export function isFailing(target: Target, { states }: Memory, seenFailing: boolean | null): boolean {
  const rules = target.rules.filter(({ rule }) => isOutage(rule));
  if (rules.length === 0) return seenFailing === true;
  return rules.some(({ name }) => {
    const state = states.get(name);
    return state !== undefined && (state.incidentId !== null || state.window.length > 0);
  });
}
