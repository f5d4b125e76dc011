import type Database from 'better-sqlite3';
import { hourMs } from '#kernel/units.ts';
import { DueTimes } from './due-times.ts';

/**
 * When each target had rounds that are not sealed yet. Their results lie in order of time with those of all other targets between
 * them: who knows when they were due finds them without a look at the others.
 */
export interface RecentRounds {
  /** From when on all rounds are known here, in milliseconds since the epoch. */
  readonly since: number;
  add(targetId: number, dueAt: number): void;
  /** Whether all that is stored of a target, votes that came late too, was due before this moment, for sure. */
  isBefore(targetId: number, dueAt: number): boolean;
  /** Those that were due from `from` until before `to`, in order. */
  of(targetId: number, from: number, to: number): readonly number[];
  /** Forgets those that were due before `at`. */
  dropBefore(at: number): void;
  /** Reads the file anew, which was changed beneath. */
  reread(): void;
}

// What an hour with its grace needs; the rest is an older file's, on its way to be sealed.
const reachMs = 2 * hourMs;

/** Reads the newest results that are not due after `now`, in one query. */
export function readRecentRounds(
  database: Database.Database,
  sealedUntil: () => number,
  now: () => number,
): RecentRounds {
  const newest = database.prepare<[number], { at: number | null }>(
    'SELECT max(due_at) AS at FROM results WHERE due_at <= ?',
  );
  let since = 0;
  const dues = new Map<number, DueTimes>();
  const rows = database
    .prepare<[number], readonly [targetId: number, dueAt: number]>(
      'SELECT target_id, due_at FROM results WHERE due_at >= ? ORDER BY due_at',
    )
    .raw();
  reread();

  function reread(): void {
    since = Math.max(sealedUntil(), (newest.get(now())?.at ?? 0) - reachMs);
    dues.clear();
    for (const [targetId, dueAt] of rows.iterate(since)) add(targetId, dueAt);
  }

  function add(targetId: number, dueAt: number): void {
    if (dueAt < since) return;
    let own = dues.get(targetId);
    if (own === undefined) dues.set(targetId, (own = new DueTimes()));
    own.add(dueAt);
  }

  return {
    get since() {
      return since;
    },
    add,
    isBefore: (targetId, dueAt) => dueAt >= since && dueAt > (dues.get(targetId)?.last ?? Number.NEGATIVE_INFINITY),
    of: (targetId, from, to) => dues.get(targetId)?.between(from, to) ?? [],
    dropBefore(at) {
      if (at <= since) return;
      since = at;
      for (const [targetId, own] of dues) {
        own.dropBefore(at);
        if (own.last < at) dues.delete(targetId);
      }
    },
    reread,
  };
}
