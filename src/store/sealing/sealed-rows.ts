import type Database from 'better-sqlite3';
import { pack, type PackedResult, unpack } from '#history/pack.ts';
import { type Sums, Tally } from '#history/tally.ts';
import { dayMs, hourMs } from '#kernel/units.ts';

/** A target at a node, by their numbers. */
export interface TargetNodePair {
  readonly targetId: number;
  readonly nodeId: number;
}

export interface SumsRow extends Sums {
  readonly nodeId: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** The rows of sealed hours and days. Hours and days are named by the moment they begin at, in milliseconds since the epoch. */
export interface SealedRows {
  /** Stores the results of an hour, in place of what was sealed of it before. To be called inside a transaction. */
  putHour(pair: TargetNodePair, hour: number, results: readonly PackedResult[]): void;
  /** Stores the sums of a day out of those of its hours; nothing if it has none. To be called inside a transaction. */
  putDay(pair: TargetNodePair, day: number): void;
  /** The results of a sealed hour; null if none are kept. */
  results(pair: TargetNodePair, hour: number): readonly PackedResult[] | null;
  /** What began from `from` until before `to`, in order. */
  sums(of: 'hours' | 'days', pair: TargetNodePair, from: number, to: number): readonly SumsRow[];
  /** The pair after one, of those that have sealed hours or days; null at the end. */
  pairAfter(of: 'hours' | 'days', pair: TargetNodePair | null): TargetNodePair | null;
}

interface SumsInput {
  readonly nodeId: number;
  readonly at: number;
  readonly up: number;
  readonly down: number;
  readonly unknown: number;
  readonly late: number;
  readonly sumUs: number;
  readonly minUs: number | null;
  readonly maxUs: number | null;
  readonly sketch: Uint8Array;
}

const tables = { hours: ['sealed_hours', 'hour', hourMs], days: ['sealed_days', 'day', dayMs] } as const;
const lastPlace = 2 ** 53;
const sumColumns = 'up, down, unknown, late, sum_us, min_us, max_us, sketch';
const setSums = sumColumns
  .split(', ')
  .map((column) => `${column} = excluded.${column}`)
  .join(', ');

export function createSealedRows(database: Database.Database): SealedRows {
  const statements = prepare(database);

  function put(
    of: 'hours' | 'days',
    { targetId, nodeId }: TargetNodePair,
    at: number,
    sums: Sums,
    packId: number | null,
  ): void {
    const { up, down, unknown, late, sumUs, minUs, maxUs, sketch } = sums;
    const place = at / tables[of][2];
    const values = [targetId, nodeId, place, up, down, unknown, late, sumUs, minUs, maxUs, Buffer.from(sketch)];
    statements[of].put.run(...values, ...(packId === null ? [] : [packId]));
  }

  return {
    putHour(pair, hour, results) {
      const tally = new Tally();
      for (const result of results) tally.addResult(result);
      const packed = Buffer.from(pack(results, hour));
      const known = statements.packId.get(pair.targetId, pair.nodeId, hour / hourMs)?.packId;
      const isKept = known !== undefined && statements.updatePack.run(packed, known).changes > 0;
      const packId = isKept ? known : Number(statements.insertPack.run(hour / hourMs, packed).lastInsertRowid);
      put('hours', pair, hour, tally.sums, packId);
    },
    putDay(pair, day) {
      const hours = this.sums('hours', pair, day, day + dayMs);
      if (hours.length === 0) return;
      const tally = new Tally();
      for (const hour of hours) tally.addSums(hour);
      put('days', pair, day, tally.sums, null);
    },
    results({ targetId, nodeId }, hour) {
      const row = statements.pack.get(targetId, nodeId, hour / hourMs);
      return row === undefined ? null : unpack(row.results, hour);
    },
    sums(of, { targetId, nodeId }, from, to) {
      const unit = tables[of][2];
      return statements[of].sums.all(targetId, nodeId, Math.ceil(from / unit), Math.ceil(to / unit));
    },
    pairAfter(of, pair) {
      return statements[of].pairAfter.get(pair?.targetId ?? -1, pair?.nodeId ?? -1) ?? null;
    },
  };
}

function prepare(database: Database.Database) {
  const of = (which: 'hours' | 'days') => {
    const [table, column, unit] = tables[which];
    const pack = which === 'hours' ? [', pack_id', ', ?', ', pack_id = excluded.pack_id'] : ['', '', ''];
    return {
      put: database.prepare(
        `INSERT INTO ${table} (target_id, node_id, ${column}, ${sumColumns}${pack[0]})
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?${pack[1]}) ON CONFLICT DO UPDATE SET ${setSums}${pack[2]}`,
      ),
      sums: database.prepare<[number, number, number, number], SumsInput>(
        `SELECT node_id AS nodeId, ${column} * ${unit} AS at, up, down, unknown, late, sum_us AS sumUs, min_us AS minUs, max_us AS maxUs, sketch
         FROM ${table} WHERE target_id = ? AND node_id = ? AND ${column} >= ? AND ${column} < ? ORDER BY ${column}`,
      ),
      // The key after the last that a pair can have. Without its third part SQLite goes through all rows of the pair, of which there
      // may be many thousands.
      pairAfter: database.prepare<[number, number], TargetNodePair>(
        `SELECT target_id AS targetId, node_id AS nodeId FROM ${table}
         WHERE (target_id, node_id, ${column}) > (?, ?, ${lastPlace}) ORDER BY target_id, node_id, ${column} LIMIT 1`,
      ),
    };
  };
  return {
    hours: of('hours'),
    days: of('days'),
    packId: database.prepare<[number, number, number], { packId: number }>(
      'SELECT pack_id AS packId FROM sealed_hours WHERE target_id = ? AND node_id = ? AND hour = ?',
    ),
    pack: database.prepare<[number, number, number], { results: Uint8Array }>(
      `SELECT results FROM sealed_hours JOIN packs ON packs.id = pack_id
       WHERE target_id = ? AND node_id = ? AND sealed_hours.hour = ?`,
    ),
    updatePack: database.prepare<[Buffer, number]>('UPDATE packs SET results = ? WHERE id = ?'),
    insertPack: database.prepare<[number, Buffer]>('INSERT INTO packs (hour, results) VALUES (?, ?)'),
  };
}
