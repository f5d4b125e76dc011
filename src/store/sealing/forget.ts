import type Database from 'better-sqlite3';
import { dayMs, hourMs } from '#history/span.ts';
import type { MarkName, Marks } from './marks.ts';
import type { Pair, SealedRows } from './sealed-rows.ts';

/** How long things are kept, in milliseconds; null is for ever. */
export interface Retention {
  readonly rawMs: number;
  readonly hoursMs: number;
  readonly daysMs: number | null;
  readonly incidentsMs: number | null;
}

export const keptByDefault: Retention = {
  rawMs: 90 * dayMs,
  hoursMs: 730 * dayMs,
  daysMs: null,
  incidentsMs: null,
};

/** Forgets what is older than it is kept, in short pieces. */
export interface Forgetting {
  /** Deletes results that are sealed by now; false where none are left. */
  stepSealed(): boolean;
  /** Does a piece of work; false where nothing is left to be forgotten. */
  step(now: number): boolean;
}

const resultsAtOnce = 1_000;
const packsAtOnce = 200;
const pairsAtOnce = 100;
const incidentsAtOnce = 100;
const freeShareKept = 1 / 8;
const pagesFreedAtOnce = 512;

export function createForgetting(
  database: Database.Database,
  rows: SealedRows,
  marks: Marks,
  retention: Retention,
): Forgetting {
  const statements = prepare(database);
  const walks = { hours: null as Pair | null, days: null as Pair | null };
  const number = (pragma: string) => Number(database.pragma(pragma, { simple: true }));

  // Cut between rounds; nobody reads them any more.
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

  // Sums of hours and days lie by their pair: each pair is asked in turn, once for each new limit.
  function sums(of: 'hours' | 'days', keepMs: number, now: number): boolean {
    const mark = of === 'hours' ? 'hours_from' : 'days_from';
    const before = Math.floor((now - keepMs) / dayMs) * dayMs;
    const limit = of === 'hours' ? Math.min(before, marks.get('days_until')) : before;
    if (walks[of] === null && limit <= marks.get(mark)) return false;
    walkOn.immediate(of, mark, Math.max(limit, marks.get(mark)));
    return true;
  }

  const walkOn = database.transaction((of: 'hours' | 'days', mark: MarkName, limit: number) => {
    marks.set(mark, limit);
    for (let count = 0; count < pairsAtOnce; count += 1) {
      const pair = rows.pairAfter(of, walks[of]);
      walks[of] = pair;
      if (pair === null) return;
      statements[of].run(pair.targetId, pair.nodeId, limit / (of === 'hours' ? hourMs : dayMs));
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
      statements.deleteIncident.run(id);
    }
  });

  function giveBack(): boolean {
    const free = Math.ceil(number('freelist_count') - number('page_count') * freeShareKept);
    if (free <= 0) return false;
    database.pragma(`incremental_vacuum(${Math.min(free, pagesFreedAtOnce)})`);
    return true;
  }

  return {
    stepSealed: sealedResults,
    step(now) {
      const { hoursMs, daysMs, incidentsMs } = retention;
      if (packs(now)) return true;
      if (sums('hours', hoursMs, now)) return true;
      if (daysMs !== null && sums('days', daysMs, now)) return true;
      if (incidentsMs !== null && incidents(now - incidentsMs)) return true;
      return giveBack();
    },
  };
}

function prepare(database: Database.Database) {
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
    hours: database.prepare<[number, number, number]>(
      'DELETE FROM sealed_hours WHERE target_id = ? AND node_id = ? AND hour < ?',
    ),
    days: database.prepare<[number, number, number]>(
      'DELETE FROM sealed_days WHERE target_id = ? AND node_id = ? AND day < ?',
    ),
    oldIncidents: database.prepare<[number, number, number], { id: string }>(
      'SELECT id FROM incidents WHERE started_at < ? AND ended_at < ? ORDER BY started_at LIMIT ?',
    ),
    deleteDeliveries: database.prepare<[string]>('DELETE FROM deliveries WHERE incident_id = ?'),
    deleteIncident: database.prepare<[string]>('DELETE FROM incidents WHERE id = ?'),
  };
}
