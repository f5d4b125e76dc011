import { z } from 'zod';
import { dayMs } from '#kernel/units.ts';
import type { MonitorStore } from '#monitor/store.ts';
import { asc, type BetterSQLite3Database, gt, lt } from './drizzle.ts';
import { parseStored } from './rows.ts';
import { silences } from './schema.ts';

type SilenceInput = ReturnType<MonitorStore['silences']>[number];

const Targets = z.union([z.literal('all'), z.array(z.string())]);
const keptMs = 30 * dayMs;

/** The silences that end after `now`, those that end first at the beginning. */
export function readSilences(database: BetterSQLite3Database, now: number): readonly SilenceInput[] {
  const rows = database.select().from(silences).where(gt(silences.endsAt, now)).orderBy(asc(silences.endsAt)).all();
  return rows.map(({ id, targets, why, startsAt, endsAt }) => ({
    id,
    targets: parseStored(Targets, targets, `silence ${id}`),
    why,
    from: startsAt,
    until: endsAt,
  }));
}

/** Stores a silence in place of the one of its id, and forgets those that ended a month before it. */
export function writeSilence(database: BetterSQLite3Database, { id, targets, why, from, until }: SilenceInput): void {
  const row = { targets: JSON.stringify(targets), why, startsAt: from, endsAt: until };
  database.transaction((work) => {
    work
      .insert(silences)
      .values({ id, ...row })
      .onConflictDoUpdate({ target: silences.id, set: row })
      .run();
    work
      .delete(silences)
      .where(lt(silences.endsAt, from - keptMs))
      .run();
  });
}
