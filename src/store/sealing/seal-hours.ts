import type Database from 'better-sqlite3';
import { hourMs } from '#kernel/units.ts';
import { createGatherer, type PairResults, type ResultScan } from './gather.ts';
import { withReplaced } from './late.ts';
import type { SealingMarks } from './marks.ts';
import { packedOf, type ResultRow } from '../rows.ts';
import type { TargetNodePair, SealedRows } from './sealed-rows.ts';

/**
 * Seals hours that are over, one after the other, in short pieces. What it writes of an hour does not count until the hour is whole:
 * then the mark moves, in one step. Wherever it is cut off, it begins the hour anew and writes the same.
 */
export interface HourSealer {
  /** Does a piece of work; false if every hour that began before `before` is sealed. */
  step(before: number): boolean;
  /** To be called for every result that is written of an hour that is not sealed. */
  written(pair: TargetNodePair, dueAt: number): void;
  /** Drops what it has begun: the clock was set back. */
  abandon(): void;
}

export interface HourSealerOptions {
  readonly database: Database.Database;
  readonly rows: SealedRows;
  readonly marks: SealingMarks;
  /** A time that has come for sure, whatever the clock says. */
  readonly sureUntil: () => number;
  /** A short piece of what is to be written before the mark moves; false if that was all. */
  readonly prepareSealed: () => boolean;
  /** To be done in the transaction that moves the mark. */
  readonly onSealed: (until: number) => void;
}

interface HourWork {
  readonly hour: number;
  /** The number after that of the last target of the pass that runs. */
  end: number;
  gathering: ResultScan;
  /** What was gathered and is to be written; null while more is gathered. */
  left: PairResults[] | null;
  isPrepared: boolean;
  /** What was written while the hour was looked through. */
  readonly written: Map<string, TargetNodePair & { readonly dueAt: number }>;
}

const rowsAtOnce = 600;
const pairsAtOnce = 12;
const resultsAtOnce = 1_200;
// Of an hour so many pairs are held in memory at a time.
const pairsOfPass = 1_000;

export function createHourSealing(options: HourSealerOptions): HourSealer {
  const { database, rows, marks, sureUntil, prepareSealed, onSealed } = options;
  const gather = createGatherer(database);
  const firstDue = database.prepare<[number], { at: number | null }>(
    'SELECT min(due_at) AS at FROM results WHERE due_at >= ?',
  );
  const counts = database.prepare<[], { targets: number; nodes: number }>(
    'SELECT coalesce((SELECT max(id) FROM targets), 0) AS targets, (SELECT count(*) FROM nodes) AS nodes',
  );
  const result = database.prepare<[number, number, number], ResultRow>(
    `SELECT due_at AS dueAt, status, duration_us AS durationUs, failure, late_at AS lateAt
     FROM results WHERE due_at = ? AND target_id = ? AND node_id = ?`,
  );
  let work: HourWork | null = null;

  function begin(hour: number): HourWork {
    const width = widthOf();
    const gathering = gather({ from: hour, to: hour + hourMs, first: 0, end: width });
    return { hour, end: width, gathering, left: null, isPrepared: false, written: new Map() };
  }

  const widthOf = () => Math.max(1, Math.floor(pairsOfPass / Math.max(1, counts.get()?.nodes ?? 1)));

  const write = database.transaction((hour: number, pairs: readonly PairResults[]) => {
    for (const pair of pairs) rows.putHour(pair, hour, pair.results());
  });

  // What came while the hour was looked through may be missing in what was written of it.
  const mend = database.transaction((hour: number, late: readonly (TargetNodePair & { readonly dueAt: number })[]) => {
    for (const { dueAt, ...pair } of late) {
      const row = result.get(dueAt, pair.targetId, pair.nodeId);
      if (row === undefined) continue;
      rows.putHour(pair, hour, withReplaced(rows.results(pair, hour) ?? [], packedOf(row)));
    }
  });

  const prepare = database.transaction(prepareSealed);

  const finish = database.transaction((hour: number) => {
    marks.set('hours_until', hour + hourMs);
    onSealed(hour + hourMs);
  });

  function advance(current: HourWork): void {
    const { hour, gathering, left } = current;
    if (left === null) {
      if (!gathering.more(rowsAtOnce)) current.left = [...gathering.pairs.values()];
    } else if (left.length > 0) write.immediate(hour, left.splice(0, howManyOf(left)));
    else if (current.end <= (counts.get()?.targets ?? 0)) {
      const first = current.end;
      current.end = first + widthOf();
      current.gathering = gather({ from: hour, to: hour + hourMs, first, end: current.end });
      current.left = null;
    } else if (current.written.size > 0) {
      const some = [...current.written].slice(0, pairsAtOnce);
      mend.immediate(
        hour,
        some.map(([, one]) => one),
      );
      for (const [key] of some) current.written.delete(key);
    } else if (!current.isPrepared) current.isPrepared = !prepare.immediate();
    else {
      finish.immediate(hour);
      work = null;
    }
  }

  return {
    step(before) {
      const until = marks.get('hours_until');
      if (work === null) {
        const due = firstDue.get(until)?.at ?? null;
        if (due === null || due >= before) {
          // Beyond the data the mark moves by time that really passed: the clock may have been set forward.
          const over = Math.min(before, Math.floor(Math.max(sureUntil(), due ?? 0) / hourMs) * hourMs);
          if (over > until) finish.immediate(over - hourMs);
          return false;
        }
        work = begin(Math.floor(due / hourMs) * hourMs);
      }
      advance(work);
      return true;
    },
    written(pair, dueAt) {
      if (work === null || dueAt < work.hour || dueAt >= work.hour + hourMs) return;
      work.written.set(`${pair.targetId} ${pair.nodeId} ${dueAt}`, { ...pair, dueAt });
    },
    abandon() {
      work = null;
    },
  };
}

// A target that is checked every few seconds has many results in an hour.
function howManyOf(pairs: readonly PairResults[]): number {
  let results = 0;
  const tooMany = pairs.findIndex((pair, index) => {
    results += pair.size;
    return index > 0 && (index === pairsAtOnce || results > resultsAtOnce);
  });
  return tooMany === -1 ? pairs.length : tooMany;
}
