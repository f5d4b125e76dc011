import type Database from 'better-sqlite3';
import type { Clock } from '#kernel/clock.ts';
import type { SealingMarks } from './marks.ts';

/**
 * The time that retention goes by: that of the wall clock, but it never gets ahead of it and gains on it by no more than the time
 * that really passes. A clock that is set years ahead for an hour therefore deletes what would have been deleted two hours later;
 * after a long absence, retention catches up in as much time as the absence took.
 */
export interface DeletionTime {
  /** Milliseconds since the epoch; never after the wall clock. */
  now(): number;
}

const speed = 2;
// Kept in the file so often: what a restart loses of it only delays what is deleted.
const keptEveryMs = 600_000;

export function createDeletionTime(
  database: Database.Database,
  marks: SealingMarks,
  clock: Pick<Clock, 'now' | 'elapsed'>,
): DeletionTime {
  const statements = prepare(database);
  let at = marks.get('deletion_at');
  let looked = clock.elapsed();
  // A file of an earlier version has no mark: its newest data tells until when its clock was believed.
  if (at === 0) at = Math.min(statements.newest.get()?.at ?? 0, clock.now());

  return {
    now() {
      const now = clock.now();
      const passed = clock.elapsed() - looked;
      looked += passed;
      // Nothing is older than the oldest that is kept, so nothing is lost by going on from there.
      const from = Math.max(at, statements.oldest.get()?.at ?? 0);
      if (from < now) at = Math.min(now, from + speed * passed);
      if (at >= marks.get('deletion_at') + keptEveryMs) marks.set('deletion_at', Math.floor(at));
      return Math.min(at, now);
    },
  };
}

function prepare(database: Database.Database) {
  return {
    newest: database.prepare<[], { at: number | null }>(
      `SELECT max(coalesce((SELECT max(due_at) FROM results), 0),
         coalesce((SELECT hour * 3600000 FROM packs ORDER BY id DESC LIMIT 1), 0)) AS at`,
    ),
    oldest: database.prepare<[], { at: number | null }>(
      `SELECT min(at) AS at FROM (
         SELECT min(due_at) AS at FROM results
         UNION ALL SELECT * FROM (SELECT hour * 3600000 FROM packs ORDER BY id LIMIT 1)
         UNION ALL SELECT * FROM (SELECT created_at FROM runs ORDER BY key LIMIT 1)
         UNION ALL SELECT min(started_at) FROM incidents)`,
    ),
  };
}
