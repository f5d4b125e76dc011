import type { PastResult } from '#history/source.ts';
import type { HeartbeatState } from '#monitor/judge/heard.ts';
import type { StoredSuccess, StoredTarget } from '#monitor/judge/round-record.ts';
import { and, asc, type BetterSQLite3Database, eq, gte, isNotNull, isNull } from './drizzle.ts';
import { readHeard } from './heartbeats.ts';
import {
  type IncidentInput,
  incidentOf,
  type RuleStateInput,
  stateOf,
  type StoredResult,
  statusNumber,
} from './rows.ts';
import { incidents, nodes, results, ruleStates, targets } from './schema.ts';

/** What every target left behind: its rule states and the incidents that are open. */
export function readTargets(database: BetterSQLite3Database): readonly StoredTarget[] {
  const found = new Map<
    string,
    { target: string; states: RuleStateInput[]; openIncidents: IncidentInput[]; heard: HeartbeatState | null }
  >();
  const entry = (target: string) => {
    const known = found.get(target) ?? { target, states: [], openIncidents: [], heard: null };
    found.set(target, known);
    return known;
  };
  const states = database
    .select({ target: targets.name, rule: ruleStates.rule, state: ruleStates.state })
    .from(ruleStates)
    .innerJoin(targets, eq(targets.id, ruleStates.targetId))
    .orderBy(asc(targets.name), asc(ruleStates.rule));
  for (const { target, ...row } of states.all()) entry(target).states.push(stateOf(target, row));
  const open = database
    .select({ target: targets.name, row: incidents })
    .from(incidents)
    .innerJoin(targets, eq(targets.id, incidents.targetId))
    .where(isNull(incidents.endedAt))
    .orderBy(asc(incidents.startedAt));
  for (const { target, row } of open.all()) entry(target).openIncidents.push(incidentOf(target, row));
  for (const [target, heard] of readHeard(database)) entry(target).heard = heard;
  return [...found.values()];
}

/** A digest of the spec by which each of these targets was checked last, if it is known. */
export function readCheckedSpecs(
  database: BetterSQLite3Database,
  wanted: ReadonlySet<string>,
): ReadonlyMap<string, string> {
  const rows = database.select({ name: targets.name, spec: targets.spec }).from(targets).where(isNotNull(targets.spec));
  return new Map(
    rows.all().flatMap(({ name, spec }) => (spec === null || !wanted.has(name) ? [] : [[name, spec] as const])),
  );
}

/** The good results of these targets that are not sealed and were due at `since` or later, in order: one scan for all targets. */
export function readSuccesses(
  database: BetterSQLite3Database,
  since: number,
  wanted: ReadonlySet<string>,
): readonly StoredSuccess[] {
  const rows = database
    .select({ target: targets.name, node: nodes.name, dueAt: results.dueAt, durationUs: results.durationUs })
    .from(results)
    .innerJoin(targets, eq(targets.id, results.targetId))
    .innerJoin(nodes, eq(nodes.id, results.nodeId))
    .where(and(gte(results.dueAt, since), eq(results.status, statusNumber('up')), isNotNull(results.durationUs)))
    .orderBy(asc(results.dueAt));
  return rows
    .all()
    .filter(({ target }) => wanted.has(target))
    .map(({ durationUs, ...row }) => ({ ...row, seconds: (durationUs ?? 0) / 1e6 }));
}

/** What is kept of a result of the history. */
export function storedOf({ dueAt, node, status, durationUs, failure }: PastResult): StoredResult {
  return { dueAt, node, status, seconds: durationUs === null ? null : durationUs / 1e6, failure };
}
