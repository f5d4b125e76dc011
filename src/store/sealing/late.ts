import type Database from 'better-sqlite3';
import type { PackedResult } from '#history/pack.ts';
import { dayMs, hourMs } from '#kernel/units.ts';
import { packedOf, type ResultRow } from '../rows.ts';
import type { SealingMarks } from './marks.ts';
import type { TargetNodePair, SealedRows } from './sealed-rows.ts';

/** What a node saw, with its number. */
export type NodeVote = Pick<PackedResult, 'status' | 'durationUs' | 'failure' | 'lateAt'> & { readonly nodeId: number };

/** Results that came when their hour was sealed already. They wait beside it until they are sealed into it. */
export interface LateResults {
  /** True if a result that was due so long ago belongs here. */
  isSealed(dueAt: number): boolean;
  /** Takes one in, inside a transaction; false if there is one already that is not just a missing answer, or where it is forgotten. */
  add(pair: TargetNodePair, result: PackedResult): boolean;
  /** What nodes saw of a target in the round that was due then; nothing if there was none. */
  round(targetId: number, dueAt: number): readonly NodeVote[];
  /** Those of a pair that were due from `from` until before `to`, in order. */
  of(pair: TargetNodePair, from: number, to: number): readonly PackedResult[];
  /** Seals the next ones into their hour, in one transaction; false if none wait. */
  seal(): boolean;
}

export function createLateResults(database: Database.Database, rows: SealedRows, marks: SealingMarks): LateResults {
  const statements = prepare(database);

  function known({ targetId, nodeId }: TargetNodePair, dueAt: number): PackedResult | undefined {
    const waiting = statements.at.get(targetId, nodeId, dueAt);
    if (waiting !== undefined) return packedOf(waiting);
    return rows.results({ targetId, nodeId }, hourOf(dueAt))?.find((result) => result.dueAt === dueAt);
  }

  const sealNext = database.transaction(() => {
    const first = statements.first.get();
    if (first === undefined) return false;
    const { targetId, nodeId, dueAt } = first;
    const pair = { targetId, nodeId };
    const hour = hourOf(dueAt);
    if (hour >= marks.get('results_from')) {
      const late = statements.within.all(targetId, nodeId, hour, hour + hourMs).map(packedOf);
      rows.putHour(pair, hour, withLate(rows.results(pair, hour) ?? [], late));
      const day = Math.floor(hour / dayMs) * dayMs;
      if (day < marks.get('days_until')) rows.putDay(pair, day);
    }
    statements.remove.run(targetId, nodeId, hour, hour + hourMs);
    return true;
  });

  return {
    isSealed: (dueAt) => dueAt < marks.get('hours_until'),
    add(pair, { dueAt, status, durationUs, failure, lateAt }) {
      if (hourOf(dueAt) < marks.get('results_from')) return false;
      const before = known(pair, dueAt);
      if (before !== undefined && !isMissing(before)) return false;
      statements.put.run(pair.targetId, pair.nodeId, dueAt, statusNumbers[status], durationUs, failure, lateAt);
      return true;
    },
    round: (targetId, dueAt) =>
      statements.nodes.all().flatMap(({ nodeId }) => {
        const result = known({ targetId, nodeId }, dueAt);
        if (result === undefined) return [];
        const { status, durationUs, failure, lateAt } = result;
        return [{ nodeId, status, durationUs, failure, lateAt }];
      }),
    of: ({ targetId, nodeId }, from, to) => statements.within.all(targetId, nodeId, from, to).map(packedOf),
    seal: () => sealNext.immediate(),
  };
}

const statusNumbers = { up: 0, down: 1, unknown: 2 } as const;

const hourOf = (dueAt: number) => Math.floor(dueAt / hourMs) * hourMs;

/** The word that there was no answer, which an answer that comes late replaces. */
function isMissing({ status, lateAt }: PackedResult): boolean {
  return status === 'unknown' && lateAt === null;
}

/** Results with those that came late among them, in order of time. */
export function withLate(results: readonly PackedResult[], late: readonly PackedResult[]): readonly PackedResult[] {
  if (late.length === 0) return results;
  const all = new Map(results.map((result) => [result.dueAt, result]));
  for (const result of late) {
    const before = all.get(result.dueAt);
    if (before === undefined || isMissing(before)) all.set(result.dueAt, result);
  }
  return [...all.values()].toSorted((a, b) => a.dueAt - b.dueAt);
}

/** Results with one put in the place of what was due at the same time, in order of time. */
export function withReplaced(results: readonly PackedResult[], one: PackedResult): readonly PackedResult[] {
  const others = results.filter(({ dueAt }) => dueAt !== one.dueAt);
  return [...others, one].toSorted((a, b) => a.dueAt - b.dueAt);
}

function prepare(database: Database.Database) {
  const columns = 'due_at AS dueAt, status, duration_us AS durationUs, failure, late_at AS lateAt';
  return {
    first: database.prepare<[], TargetNodePair & { dueAt: number }>(
      'SELECT target_id AS targetId, node_id AS nodeId, due_at AS dueAt FROM late_results LIMIT 1',
    ),
    nodes: database.prepare<[], { nodeId: number }>('SELECT id AS nodeId FROM nodes'),
    at: database.prepare<[number, number, number], ResultRow>(
      `SELECT ${columns} FROM late_results WHERE target_id = ? AND node_id = ? AND due_at = ?`,
    ),
    within: database.prepare<[number, number, number, number], ResultRow>(
      `SELECT ${columns} FROM late_results WHERE target_id = ? AND node_id = ? AND due_at >= ? AND due_at < ? ORDER BY due_at`,
    ),
    remove: database.prepare<[number, number, number, number]>(
      'DELETE FROM late_results WHERE target_id = ? AND node_id = ? AND due_at >= ? AND due_at < ?',
    ),
    put: database.prepare<[number, number, number, number, number | null, string | null, number | null]>(
      `INSERT OR REPLACE INTO late_results (target_id, node_id, due_at, status, duration_us, failure, late_at)
       VALUES (?, ?, ?, ?, ?, ?, ?)`,
    ),
  };
}
