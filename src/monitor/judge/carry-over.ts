import { isDeepStrictEqual } from 'node:util';
import { checkOf } from '#checks/index.ts';
import type { Memory } from './decide.ts';
import { announceToOthers, type Consequence, unwatch } from './incident-life.ts';
import type { RoundRecord } from './round-record.ts';
import { newRuleState, type RuleState } from './rule-state.ts';
import { kindOf } from './rules/index.ts';
import type { Target } from './target.ts';

/** How a target was watched, if that is known, and how it is from now on: not at all if `next` is null. */
export interface TargetSuccession {
  readonly last: Target | null;
  readonly next: Target | null;
  /** Whether what was seen of it before says nothing about it any more. */
  readonly isAnother: boolean;
}

export interface CarryOver {
  readonly memory: Memory;
  /** What has to be stored of it, or null if nothing changes. */
  readonly record: RoundRecord | null;
}

/**
 * What is left of a target's memory when it is to be watched as `next` from now on: incidents
 * that no rule looks after any more are closed, and states that mean nothing any more begin anew. An open incident that no state knows of is adopted by its rule, or closed;
 * new recipients of an open one are notified of it. Pure.
 */
export function carryOver(
  name: string,
  memory: Memory,
  { last, next, isAnother }: TargetSuccession,
  now: number,
): CarryOver {
  const wordOf = (rule: string) => {
    const found = next?.rules.find((named) => named.name === rule);
    return found === undefined ? null : kindOf(found.rule.kind).wording.word;
  };
  const recipients = (last ?? next)?.recipients ?? [];
  const adopted = adopt(name, memory);
  const ended: Consequence[] = [...memory.openIncidents.values()]
    .filter(({ id, rule, wording }) => wordOf(rule) !== wording.word || adopted.get(rule)?.incidentId !== id)
    .map((incident) => unwatch(incident, recipients, now, next === null ? 'unwatched' : 'rule_removed'));
  const gone = new Set(ended.map(({ incident }) => incident.id));
  const isJob = next !== null && checkOf(next.spec.type).heard !== null;

  const change = (state: RuleState): RuleState => {
    const kept = next?.rules.find((named) => named.name === state.rule);
    const before = last?.rules.find((named) => named.name === state.rule);
    const isOther = kept === undefined || (before !== undefined && before.rule.kind !== kept.rule.kind);
    const changed =
      isOther || (state.incidentId !== null && gone.has(state.incidentId)) ? newRuleState(name, state.rule) : state;
    // A job has run as often, whatever is expected of it from now on.
    const result = isAnother && !isJob ? withoutRounds(changed) : changed;
    return isDeepStrictEqual(result, state) ? state : result;
  };

  const states = [...adopted].map(([rule, state]) => [rule, memory.states.get(rule), change(state)] as const);
  const changed = states.filter(([, before, after]) => before !== after).map(([, , after]) => after);
  const kept = [...memory.openIncidents.values()].filter(({ id }) => !gone.has(id));
  const announced = kept.flatMap((incident) => announceToOthers(incident, next?.recipients ?? [], now) ?? []);
  const news = [...ended, ...announced];
  const incidents = news.map(({ incident }) => incident);
  const changedIncidents = new Map(announced.map(({ incident }) => [incident.id, incident]));
  const open = kept.map((incident) => [incident.id, changedIncidents.get(incident.id) ?? incident] as const);
  return {
    memory: {
      states: mapOf(states.map(([rule, , after]) => [rule, after])),
      openIncidents: mapOf(open),
    },
    record:
      changed.length + incidents.length === 0
        ? null
        : {
            target: name,
            dueAt: now,
            votes: [],
            states: changed,
            incidents,
            deliveries: news.flatMap(({ deliveries }) => deliveries),
          },
  };
}

// What was seen of another host neither opens an incident nor closes one.
function withoutRounds(state: RuleState): RuleState {
  return { ...newRuleState(state.target, state.rule), incidentId: state.incidentId };
}

// Of most targets there is nothing: they share one map.
const nothing: ReadonlyMap<string, never> = new Map<string, never>();
const mapOf = <Value>(entries: readonly (readonly [string, Value])[]): ReadonlyMap<string, Value> =>
  entries.length === 0 ? nothing : new Map(entries);

/**
 * The states of a target's rules, if an open incident that no state knows of is that of its rule: the newest, if there are
 * several. What opened it was stored, or it would not be there; what became of it since is seen by the next rounds.
 */
function adopt(target: string, { states, openIncidents }: Memory): ReadonlyMap<string, RuleState> {
  const adopted = new Map(states);
  for (const { id, rule } of [...openIncidents.values()].toSorted((a, b) => b.openedAt - a.openedAt)) {
    const state = adopted.get(rule) ?? newRuleState(target, rule);
    const knows = state.incidentId !== null && openIncidents.has(state.incidentId);
    if (!knows) adopted.set(rule, { ...newRuleState(target, rule), noted: state.noted, incidentId: id });
  }
  return adopted;
}
