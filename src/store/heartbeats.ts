import type { HeartbeatState } from '#monitor/judge/heard.ts';
import { type BetterSQLite3Database, eq, sql } from './drizzle.ts';
import { heardOf } from './rows.ts';
import { heartbeats, targets } from './schema.ts';

/** Writes what is known of a target that calls, inside the transaction of its caller; null to forget it. */
export type WriteHeard = (targetId: number, heard: HeartbeatState | null) => void;

export function createHeardWriter(database: BetterSQLite3Database): WriteHeard {
  const hole = sql.placeholder;
  const upsert = database
    .insert(heartbeats)
    .values({ targetId: hole('targetId'), heard: hole('heard') })
    .onConflictDoUpdate({ target: heartbeats.targetId, set: { heard: sql`excluded.heard` } })
    .prepare();
  const forget = database
    .delete(heartbeats)
    .where(eq(heartbeats.targetId, hole('targetId')))
    .prepare();
  return (targetId, heard) => {
    if (heard === null) forget.run({ targetId });
    else upsert.run({ targetId, heard: JSON.stringify(heard) });
  };
}

/** The heartbeat state of each target that pings. */
export function readHeard(
  database: BetterSQLite3Database,
): readonly (readonly [target: string, heard: HeartbeatState])[] {
  return database
    .select({ target: targets.name, heard: heartbeats.heard })
    .from(heartbeats)
    .innerJoin(targets, eq(targets.id, heartbeats.targetId))
    .all()
    .map(({ target, heard }) => [target, heardOf(target, heard)] as const);
}
