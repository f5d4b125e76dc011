import type { SummaryFacts } from '#monitor/tell/summary-facts.ts';
import { and, asc, type BetterSQLite3Database, eq, gt, gte, isNull, lt, or, sql } from './drizzle.ts';
import { incidentOf } from './rows.ts';
import { incidents, results, targets } from './schema.ts';

const countOf = (status: number) => sql<number>`sum(${results.status} = ${status})`;
const duration = sql`CASE WHEN ${results.status} = 0 THEN ${results.durationUs} END`;

/** What happened from `from` until before `to`. */
export function readSummary(database: BetterSQLite3Database, from: number, to: number): SummaryFacts {
  const perTarget = database
    .select({
      target: targets.name,
      up: countOf(0),
      down: countOf(1),
      unknown: countOf(2),
      meanUs: sql<number | null>`avg(${duration})`,
      longestUs: sql<number | null>`max(${duration})`,
    })
    .from(results)
    .innerJoin(targets, eq(targets.id, results.targetId))
    .where(and(gte(results.dueAt, from), lt(results.dueAt, to)))
    .groupBy(targets.name)
    .orderBy(asc(targets.name))
    .all();
  const found = database
    .select({ target: targets.name, row: incidents })
    .from(incidents)
    .innerJoin(targets, eq(targets.id, incidents.targetId))
    .where(and(lt(incidents.startedAt, to), or(isNull(incidents.endedAt), gt(incidents.endedAt, from))))
    .orderBy(asc(incidents.startedAt))
    .all();
  return {
    from,
    to,
    targets: perTarget.map(({ meanUs, longestUs, ...counts }) => ({
      ...counts,
      meanSeconds: meanUs === null ? null : meanUs / 1e6,
      longestSeconds: longestUs === null ? null : longestUs / 1e6,
    })),
    incidents: found.map(({ target, row }) => incidentOf(target, row)),
  };
}
