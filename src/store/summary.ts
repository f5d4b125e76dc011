import type { Incident } from '#monitor/judge/incident.ts';
import { and, asc, type BetterSQLite3Database, eq, gt, isNull, lt, or } from './drizzle.ts';
import { incidentOf } from './rows.ts';
import { incidents, targets } from './schema.ts';

/** The incidents that were open for a part of the time from `from` until before `to`, as they are by now, the oldest first. */
export function readIncidentsBetween(database: BetterSQLite3Database, from: number, to: number): readonly Incident[] {
  return database
    .select({ target: targets.name, row: incidents })
    .from(incidents)
    .innerJoin(targets, eq(targets.id, incidents.targetId))
    .where(and(lt(incidents.startedAt, to), or(isNull(incidents.endedAt), gt(incidents.endedAt, from))))
    .orderBy(asc(incidents.startedAt))
    .all()
    .map(({ target, row }) => incidentOf(target, row));
}
