import { clockJitterMs } from '#kernel/clock.ts';
import type Database from 'better-sqlite3';
import type { PackedResult } from '#history/pack.ts';
import { dayMs, hourMs } from '#kernel/units.ts';
import { statusNumber } from '../rows.ts';
import type { MarkName, SealingMarks } from './marks.ts';
import type { TargetNodePair, SealedRows } from './sealed-rows.ts';

const units = [
  ['hours_until', hourMs],
  ['days_until', dayMs],
  ['results_from', hourMs],
  ['hours_from', dayMs],
  ['days_from', dayMs],
  ['periods_from', dayMs],
] as const satisfies readonly (readonly [MarkName, number])[];

/** What was stored under a clock that was ahead: all that is due at `from` or later, by so many milliseconds. */
export interface TimeAhead {
  readonly from: number;
  readonly byMs: number;
}

interface ClippedFile {
  readonly database: Database.Database;
  readonly rows: SealedRows;
  readonly marks: SealingMarks;
}

/**
 * Makes the file fit a clock that was ahead once: marks go back to `now`, verdict periods that begin after it are dropped and one that
 * goes on beyond it ends there, and hours that are not over are results again. If it is known what was stored while the clock was
 * ahead, that goes to the time at which it happened; otherwise results stay, also those that are due in the future.
 * Does nothing in a file that is not ahead. Returns whether it changed anything.
 */
export function clipFuture({ database, rows, marks }: ClippedFile, now: number, ahead: TimeAhead | null): boolean {
  const statements = prepare(database);

  function unseal(pair: TargetNodePair, hour: number): void {
    for (const result of rows.results(pair, hour) ?? []) statements.insert.run(...valuesOf(pair, result));
    statements.deletePack.run(pair.targetId, pair.nodeId, hour / hourMs);
    statements.deleteHour.run(pair.targetId, pair.nodeId, hour / hourMs);
  }

  function unsealFrom(from: number, to: number): void {
    for (let pair = rows.pairAfter('hours', null); pair !== null; pair = rows.pairAfter('hours', pair))
      for (const { at } of rows.sums('hours', pair, from, to)) unseal(pair, at);
  }

  return database
    .transaction(() => {
      const latest = now + clockJitterMs;
      // What the clock has caught up with cannot be told from what is stored since.
      const moved = ahead !== null && ahead.from > latest ? ahead : null;
      let changes = moved === null ? 0 : statements.movePeriods.run(moved).changes;
      changes +=
        statements.dropPeriods.run(latest).changes +
        statements.dropMeasured.run(Math.floor(latest / hourMs)).changes +
        statements.endPeriods.run({ now, latest }).changes;
      const sealedUntil = marks.get('hours_until');
      // Hours that were sealed while the clock was ahead lack what moves into them.
      const until = moved === null ? now : moved.from - moved.byMs;
      const hour = Math.floor(until / hourMs) * hourMs;
      if (sealedUntil > hour) unsealFrom(hour, sealedUntil);
      if (moved !== null) changes += statements.moveResults.run(moved).changes;
      for (const [name, unit] of units) {
        const at = Math.floor(until / unit) * unit;
        changes += statements.clipMark.run({ name, at }).changes;
      }
      marks.forget();
      return changes > 0;
    })
    .immediate();
}

type ResultTuple = [number, number, number, number, number | null, string | null, number | null];

function valuesOf(
  { targetId, nodeId }: TargetNodePair,
  { dueAt, status, durationUs, failure, lateAt }: PackedResult,
): ResultTuple {
  return [dueAt, targetId, nodeId, statusNumber(status), durationUs, failure, lateAt];
}

function prepare(database: Database.Database) {
  return {
    dropMeasured: database.prepare<[number]>('DELETE FROM measured_hours WHERE hour > ?'),
    dropPeriods: database.prepare<[number]>('DELETE FROM verdict_periods WHERE from_at > ?'),
    endPeriods: database.prepare<[{ now: number; latest: number }]>(
      'UPDATE verdict_periods SET last_at = max(from_at, :now) WHERE last_at > :latest',
    ),
    movePeriods: database.prepare<[TimeAhead]>(
      'UPDATE OR IGNORE verdict_periods SET from_at = from_at - :byMs, last_at = last_at - :byMs WHERE from_at >= :from',
    ),
    moveResults: database.prepare<[TimeAhead]>(
      'UPDATE OR IGNORE results SET due_at = due_at - :byMs WHERE due_at >= :from',
    ),
    clipMark: database.prepare<[{ name: MarkName; at: number }]>(
      'UPDATE marks SET value = :at WHERE name = :name AND value > :at',
    ),
    insert: database.prepare<ResultTuple>(
      `INSERT OR IGNORE INTO results (due_at, target_id, node_id, status, duration_us, failure, late_at)
       VALUES (?, ?, ?, ?, ?, ?, ?)`,
    ),
    deletePack: database.prepare<[number, number, number]>(
      `DELETE FROM packs WHERE id = (SELECT pack_id FROM sealed_hours WHERE target_id = ? AND node_id = ? AND hour = ?)`,
    ),
    deleteHour: database.prepare<[number, number, number]>(
      'DELETE FROM sealed_hours WHERE target_id = ? AND node_id = ? AND hour = ?',
    ),
  };
}
