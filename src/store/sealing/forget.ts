import type Database from 'better-sqlite3';
import { dayMs, hourMs } from '#kernel/units.ts';
import type { MarkName, SealingMarks } from './marks.ts';
import type { TargetNodePair, SealedRows } from './sealed-rows.ts';

/** How long things are kept, in milliseconds; null is for ever. */
export interface Retention {
  readonly rawMs: number;
  readonly hoursMs: number;
  readonly daysMs: number | null;
  readonly verdictsMs: number | null;
  readonly incidentsMs: number | null;
}

export const keptByDefault: Retention = {
  rawMs: 90 * dayMs,
  hoursMs: 730 * dayMs,
  daysMs: null,
  verdictsMs: null,
  incidentsMs: null,
};

/** Forgets what is older than it is kept, in short pieces. */
export interface RetentionTask {
  /** Deletes results that are sealed by now; false if none are left. */
  stepSealed(): boolean;
  /** Does a piece of work; false if nothing is left to be forgotten. */
  step(now: number): boolean;
}

const resultsAtOnce = 1_000;
const packsAtOnce = 200;
const measuredAtOnce = 100;
const rowsAtOnce = 1_000;
// Finding a pair costs as much as deleting so many rows of it.
const rowsOfLook = 10;
const incidentsAtOnce = 100;
const freeShareKept = 1 / 8;
const pagesFreedAtOnce = 512;

export function createForgetting(
  database: Database.Database,
  rows: SealedRows,
  marks: SealingMarks,
  retention: Retention,
): RetentionTask {
  const statements = prepare(database);
  // The pairs that are done; undefined while none are to be deleted.
  const walked: { hours?: TargetNodePair | null; days?: TargetNodePair | null; periods?: number } = {};
  const number = (pragma: string) => Number(database.pragma(pragma, { simple: true }));

  // Cut between rounds; they are not read any more.
  function sealedResults(): boolean {
    const until = marks.get('hours_until');
    const first = statements.firstResult.get()?.at ?? null;
    if (first === null || first >= until) return false;
    const end = statements.resultAfter.get(until, resultsAtOnce)?.at ?? until;
    statements.deleteResults.run(Math.max(end, first + 1));
    return true;
  }

  function packs(now: number): boolean {
    const limit = Math.floor((now - retention.rawMs) / hourMs) * hourMs;
    if (limit > marks.get('results_from')) marks.set('results_from', limit);
    const old = statements.oldestPacks.all(packsAtOnce).filter(({ hour }) => hour * hourMs < limit);
    const last = old.at(-1);
    if (last === undefined) return false;
    statements.deletePacks.run(last.id, limit / hourMs);
    return true;
  }

  // As long as single results.
  const measurements = (now: number) =>
    statements.deleteMeasured.run(Math.floor((now - retention.rawMs) / hourMs), measuredAtOnce).changes > 0;

  // Sums of hours and days lie by their pair: each pair is asked in turn, once for each new limit.
  function sums(of: 'hours' | 'days', keepMs: number, now: number): boolean {
    const mark = of === 'hours' ? 'hours_from' : 'days_from';
    const before = Math.floor((now - keepMs) / dayMs) * dayMs;
    const limit = of === 'hours' ? Math.min(before, marks.get('days_until')) : before;
    if (walked[of] === undefined && limit <= marks.get(mark)) return false;
    walkOn.immediate(of, mark, Math.max(limit, marks.get(mark)));
    return true;
  }

  const walkOn = database.transaction((of: 'hours' | 'days', mark: MarkName, limit: number) => {
    marks.set(mark, limit);
    for (let left = rowsAtOnce; left > 0;) {
      const pair = rows.pairAfter(of, (walked[of] ??= null));
      if (pair === null) {
        delete walked[of];
        return;
      }
      const gone = statements[of].run({ ...pair, before: limit / (of === 'hours' ? hourMs : dayMs), left }).changes;
      if (gone < left) walked[of] = pair;
      left -= Math.max(gone, rowsOfLook);
    }
  });

  // Target by target, once for each new day. The one that goes on over the limit stays, and so does the newest.
  function periods(keepMs: number, now: number): boolean {
    const limit = Math.floor((now - keepMs) / dayMs) * dayMs;
    if (walked.periods === undefined && limit <= marks.get('periods_from')) return false;
    walkPeriods.immediate(Math.max(limit, marks.get('periods_from')));
    return true;
  }

  const walkPeriods = database.transaction((limit: number) => {
    marks.set('periods_from', limit);
    for (let left = rowsAtOnce; left > 0;) {
      const targetId = statements.targetAfter.get((walked.periods ??= 0))?.id;
      if (targetId === undefined) {
        delete walked.periods;
        return;
      }
      const gone = statements.deletePeriods.run({ targetId, limit, left }).changes;
      if (gone < left) walked.periods = targetId;
      left -= Math.max(gone, rowsOfLook);
    }
  });

  function incidents(before: number): boolean {
    const old = statements.oldIncidents.all(before, before, incidentsAtOnce);
    if (old.length > 0) dropIncidents.immediate(old);
    return old.length > 0;
  }

  const dropIncidents = database.transaction((old: readonly { readonly id: string }[]) => {
    for (const { id } of old) {
      statements.deleteDeliveries.run(id);
      statements.deleteEvidence.run(id);
      statements.deleteIncident.run(id);
    }
  });

  function releasePages(): boolean {
    const free = Math.ceil(number('freelist_count') - number('page_count') * freeShareKept);
    if (free <= 0) return false;
    database.pragma(`incremental_vacuum(${Math.min(free, pagesFreedAtOnce)})`);
    return true;
  }

  return {
    stepSealed: sealedResults,
    step(now) {
      const { hoursMs, daysMs, verdictsMs, incidentsMs } = retention;
      if (packs(now) || measurements(now)) return true;
      if (sums('hours', hoursMs, now)) return true;
      if (daysMs !== null && sums('days', daysMs, now)) return true;
      if (verdictsMs !== null && periods(verdictsMs, now)) return true;
      if (incidentsMs !== null && incidents(now - incidentsMs)) return true;
      return releasePages();
    },
  };
}

function prepare(database: Database.Database) {
  // The oldest `left` of those before `before`.
  const deleteSums = (table: 'sealed_hours' | 'sealed_days', column: 'hour' | 'day') =>
    database.prepare<[TargetNodePair & { before: number; left: number }]>(
      `DELETE FROM ${table} WHERE target_id = :targetId AND node_id = :nodeId AND ${column} < min(:before, coalesce(
         (SELECT ${column} FROM ${table} WHERE target_id = :targetId AND node_id = :nodeId ORDER BY ${column} LIMIT 1 OFFSET :left),
         :before))`,
    );
  return {
    firstResult: database.prepare<[], { at: number | null }>('SELECT min(due_at) AS at FROM results'),
    resultAfter: database.prepare<[number, number], { at: number }>(
      'SELECT due_at AS at FROM results WHERE due_at < ? ORDER BY due_at LIMIT 1 OFFSET ?',
    ),
    deleteResults: database.prepare<[number]>('DELETE FROM results WHERE due_at < ?'),
    oldestPacks: database.prepare<[number], { id: number; hour: number }>(
      'SELECT id, hour FROM packs ORDER BY id LIMIT ?',
    ),
    deletePacks: database.prepare<[number, number]>('DELETE FROM packs WHERE id <= ? AND hour < ?'),
    deleteMeasured: database.prepare<[number, number]>(
      'DELETE FROM measured_hours WHERE id IN (SELECT id FROM measured_hours WHERE hour < ? LIMIT ?)',
    ),
    hours: deleteSums('sealed_hours', 'hour'),
    days: deleteSums('sealed_days', 'day'),
    targetAfter: database.prepare<[number], { id: number }>('SELECT id FROM targets WHERE id > ? ORDER BY id LIMIT 1'),
    deletePeriods: database.prepare<[{ targetId: number; limit: number; left: number }]>(
      `DELETE FROM verdict_periods WHERE target_id = :targetId
         AND from_at < (SELECT max(from_at) FROM verdict_periods WHERE target_id = :targetId AND from_at <= :limit)
         AND from_at < coalesce((SELECT from_at FROM verdict_periods WHERE target_id = :targetId ORDER BY from_at LIMIT 1 OFFSET :left), :limit)`,
    ),
    oldIncidents: database.prepare<[number, number, number], { id: string }>(
      'SELECT id FROM incidents WHERE started_at < ? AND ended_at < ? ORDER BY started_at LIMIT ?',
    ),
    deleteDeliveries: database.prepare<[string]>('DELETE FROM deliveries WHERE incident_id = ?'),
    deleteEvidence: database.prepare<[string]>('DELETE FROM evidence WHERE incident_id = ?'),
    deleteIncident: database.prepare<[string]>('DELETE FROM incidents WHERE id = ?'),
  };
}
