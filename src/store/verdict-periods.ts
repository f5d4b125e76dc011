import type Database from 'better-sqlite3';
import { hasVerdictAt, type RoundNeighbours, revisePeriods } from '#history/revise.ts';
import { follow, type RoundVerdict, type VerdictPeriod, type TargetStatus } from '#history/verdict-periods.ts';

export interface VerdictPeriodRow {
  readonly targetId: number;
  readonly fromAt: number;
  readonly lastAt: number;
  readonly holdsMs: number;
  readonly status: number;
  readonly inMaintenance: number;
}

const statuses: readonly TargetStatus[] = ['up', 'down', 'unknown', 'partial'];
/** The number of the status "unknown" in the file. */
export const unknownStatus = statuses.indexOf('unknown');

export function periodOf({
  fromAt,
  lastAt,
  holdsMs,
  status,
  inMaintenance,
}: Omit<VerdictPeriodRow, 'targetId'>): VerdictPeriod {
  return {
    from: fromAt,
    last: lastAt,
    holdsMs,
    status: statuses[status] ?? 'unknown',
    inMaintenance: inMaintenance !== 0,
  };
}

export const periodColumns =
  'target_id AS targetId, from_at AS fromAt, last_at AS lastAt, holds_ms AS holdsMs, status, in_maintenance AS inMaintenance';

/** Writes a verdict period by a statement that takes its columns in their order. Gives how many rows that changed. */
export function putPeriod(
  statement: Database.Statement<[number, number, number, number, number, number]>,
  targetId: number,
  { from, last, holdsMs, status, inMaintenance }: VerdictPeriod,
): number {
  return statement.run(targetId, from, last, holdsMs, statuses.indexOf(status), inMaintenance ? 1 : 0).changes;
}

const periodsAtOnce = 200;

/** Keeps the periods. A round that goes on as before writes nothing; the newest period of each target is in memory. */
export interface VerdictPeriodLog {
  /** Takes in a round, inside the transaction that stores it. */
  note(targetId: number, dueAt: number, verdict: RoundVerdict): void;
  /** Takes in the verdict of a round that ended without one, inside the transaction that stores it. True if that changes anything. */
  revise(targetId: number, round: RoundNeighbours, verdict: RoundVerdict): boolean;
  /** Whether a round that was due then had a verdict when it ended. */
  hasVerdict(targetId: number, dueAt: number): boolean;
  /** To be called when that transaction is over. */
  transactionEnded(outcome: 'committed' | 'rolled back'): void;
  /** Writes how long the newest periods have lasted by now: all, or those whose last round was due before a time. */
  flush(before?: number): void;
  /** Does the same in short pieces, in any transaction; false if all were written that were not when it began. */
  flushSome(): boolean;
  newest(): ReadonlyMap<number, VerdictPeriod>;
  /** Reads the file anew, which was changed beneath. What was not written of periods that go on is lost, as after a crash. */
  reread(): void;
}

export function createVerdictPeriodLog(
  database: Database.Database,
  sealedUntil: () => number,
  now: () => number,
): VerdictPeriodLog {
  const kept = new Map<number, VerdictPeriod>();
  const pending = new Map<number, VerdictPeriod>();
  const unwritten = new Set<number>();
  readAll();
  // What `flushSome` has still to write before it is through once.
  let left: number[] = [];
  const upsert = database.prepare<[number, number, number, number, number, number]>(
    `INSERT INTO verdict_periods (target_id, from_at, last_at, holds_ms, status, in_maintenance) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET last_at = excluded.last_at`,
  );
  const write = (targetId: number, period: VerdictPeriod) => putPeriod(upsert, targetId, period);

  // What only the results tell is to be written like what is noted here: when their hour is sealed, they tell it no more.
  function readAll(): void {
    for (const [targetId, { period, isWritten }] of readNewestPeriods(database, sealedUntil(), now())) {
      kept.set(targetId, period);
      if (!isWritten) unwritten.add(targetId);
    }
  }

  function writeLast(targetId: number): void {
    const period = kept.get(targetId);
    if (period !== undefined) write(targetId, period);
    unwritten.delete(targetId);
  }

  const newestOf = (targetId: number) => pending.get(targetId) ?? kept.get(targetId) ?? null;
  const pastOf = prepareAround(database);
  const remove = database.prepare<[number, number]>('DELETE FROM verdict_periods WHERE target_id = ? AND from_at = ?');

  // The newest one is known better here than in the file.
  function around(targetId: number, dueAt: number) {
    const newest = newestOf(targetId);
    const fresh = (period: VerdictPeriod | null) => (period !== null && period.from === newest?.from ? newest : period);
    const { previous, at, next } = pastOf(targetId, dueAt);
    return { previous: fresh(previous), at: fresh(at), next: fresh(next) };
  }

  return {
    revise(targetId, round, verdict) {
      const known = around(targetId, round.dueAt);
      const periods = revisePeriods(known, round, verdict);
      if (periods === null) return false;
      for (const period of [known.previous, known.at, known.next])
        if (period !== null) remove.run(targetId, period.from);
      for (const period of periods) write(targetId, period);
      const last = periods.at(-1);
      const newest = newestOf(targetId);
      if (last !== undefined && (newest === null || last.last >= newest.last)) pending.set(targetId, last);
      return true;
    },
    hasVerdict: (targetId, dueAt) => hasVerdictAt(around(targetId, dueAt).at, dueAt),
    note(targetId, dueAt, verdict) {
      const newest = newestOf(targetId);
      const next = follow(newest, dueAt, verdict);
      if (next === null) return;
      pending.set(targetId, next);
      if (next.from === newest?.from) return;
      if (newest !== null) write(targetId, newest);
      write(targetId, next);
    },
    transactionEnded(outcome) {
      if (outcome === 'committed') {
        for (const [targetId, period] of pending) {
          kept.set(targetId, period);
          if (period.last > period.from) unwritten.add(targetId);
        }
      }
      pending.clear();
    },
    flush(before = Infinity) {
      for (const targetId of unwritten) if ((kept.get(targetId)?.last ?? 0) < before) writeLast(targetId);
    },
    flushSome() {
      if (left.length === 0) left = [...unwritten];
      for (const targetId of left.splice(-periodsAtOnce)) writeLast(targetId);
      return left.length > 0;
    },
    newest: () => kept,
    reread() {
      kept.clear();
      unwritten.clear();
      left = [];
      readAll();
    },
  };
}

function prepareAround(database: Database.Database) {
  type Query = [targetId: number, at: number];
  const select = `SELECT ${periodColumns} FROM verdict_periods WHERE target_id = ? AND from_at`;
  const upTo = database.prepare<Query, VerdictPeriodRow>(`${select} <= ? ORDER BY from_at DESC LIMIT 2`);
  const after = database.prepare<Query, VerdictPeriodRow>(`${select} > ? ORDER BY from_at LIMIT 1`);
  return (targetId: number, dueAt: number) => {
    const [at = null, previous = null] = upTo.all(targetId, dueAt).map(periodOf);
    const [next = null] = after.all(targetId, dueAt).map(periodOf);
    return { previous, at, next };
  };
}

/** A period as it is known after a start. */
export interface NewestPeriod {
  readonly period: VerdictPeriod;
  /** Whether the file says itself how long it has lasted. */
  readonly isWritten: boolean;
}

/**
 * The newest period of each target. What the file says of its last round is written when its hour is sealed only; the results that are
 * not sealed tell the rest, as no round that was stored after it ended another way.
 */
export function readNewestPeriods(
  database: Database.Database,
  sealedUntil: number,
  now: number,
): ReadonlyMap<number, NewestPeriod> {
  const rows = database
    .prepare<[], VerdictPeriodRow>(
      `SELECT ${periodColumns} FROM targets JOIN verdict_periods ON target_id = targets.id
         AND from_at = (SELECT max(from_at) FROM verdict_periods WHERE target_id = targets.id)`,
    )
    .all();
  if (rows.length === 0) return new Map();
  const since = Math.max(sealedUntil, Math.min(...rows.map(({ lastAt }) => lastAt)));
  const lastDue = new Map(
    database
      .prepare<[number, number], { targetId: number; lastAt: number }>(
        `SELECT target_id AS targetId, max(due_at) AS lastAt FROM results
         WHERE due_at >= ? AND due_at <= ? AND late_at IS NULL GROUP BY target_id`,
      )
      .all(since, now)
      .map(({ targetId, lastAt }) => [targetId, lastAt]),
  );
  return new Map(
    rows.map((row) => {
      const lastAt = Math.max(row.lastAt, lastDue.get(row.targetId) ?? 0);
      return [row.targetId, { period: periodOf({ ...row, lastAt }), isWritten: lastAt === row.lastAt }];
    }),
  );
}
