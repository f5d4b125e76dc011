import type Database from 'better-sqlite3';
import type { IncidentDetail, PastIncident } from '#history/incidents.ts';
import type { IncidentQuery } from '#history/source.ts';
import { and, asc, type BetterSQLite3Database, eq, gt, isNull, lt, or } from './drizzle.ts';
import { createExclusionReader } from './exclusions.ts';
import { readEvidence } from './evidence.ts';
import { type IncidentInput, incidentOf, listedDeliveryOf } from './rows.ts';
import { type deliveries, incidents, targets } from './schema.ts';

type IncidentRow = typeof incidents.$inferSelect & { readonly target: string };

const columns = `incidents.id, target_id AS targetId, rule, started_at AS startedAt, opened_at AS openedAt, ended_at AS endedAt,
  story, name AS target FROM incidents JOIN targets ON targets.id = target_id`;

/** The incidents that a query asks for, the newest first. */
export function readIncidents(
  database: Database.Database,
  { from, to, target, isOpen, severity, isHeld, after, limit }: IncidentQuery,
): readonly PastIncident[] {
  const rows = database
    .prepare<[object], IncidentRow>(
      `SELECT ${columns}
       WHERE started_at < :to AND (ended_at IS NULL OR ended_at > :from)
         ${target === null ? '' : 'AND target_id = (SELECT id FROM targets WHERE name = :target)'}
         ${isOpen === null ? '' : isOpen ? 'AND ended_at IS NULL' : 'AND ended_at IS NOT NULL'}
         ${severity === undefined ? '' : "AND story ->> 'severity' = :severity"}
         ${isHeld === undefined ? '' : `AND story ->> 'held' IS ${isHeld ? 'NOT NULL' : 'NULL'}`}
         ${after === null ? '' : 'AND (started_at, incidents.id) < (:startedAt, :id)'}
       ORDER BY started_at DESC, incidents.id DESC LIMIT :limit`,
    )
    .all({ from, to, limit, target, severity, ...after });
  return rows.map(({ target: name, ...row }) => pastOf(incidentOf(name, row)));
}

export function readIncident(database: Database.Database, id: string): IncidentDetail | null {
  const row = database.prepare<[string], IncidentRow>(`SELECT ${columns} WHERE incidents.id = ?`).get(id);
  if (row === undefined) return null;
  const { target, ...own } = row;
  const incident = incidentOf(target, own);
  const { votes, closingVotes, timeline, wording } = incident;
  const laterCauses = incident.laterCauses.map(({ at, cause }) => ({ at, cause }));
  return {
    ...pastOf(incident),
    wording: { is: wording.is, was: wording.was },
    votes,
    closingVotes,
    laterCauses,
    timeline,
    evidence: readEvidence(database, id),
    exclusions: createExclusionReader(database)(target, {
      from: incident.startedAt,
      to: incident.endedAt ?? Number.MAX_SAFE_INTEGER,
    }),
    deliveries: readDeliveries(database, target, id),
  };
}

function readDeliveries(database: Database.Database, target: string, incident: string): IncidentDetail['deliveries'] {
  const rows = database
    .prepare<[string], typeof deliveries.$inferSelect>(
      `SELECT id, incident_id AS incidentId, kind, number, channel, recipient, state, created_at AS createdAt,
         next_attempt_at AS nextAttemptAt, attempts, last_error AS lastError, settled_at AS settledAt, message
       FROM deliveries WHERE incident_id = ? ORDER BY id`,
    )
    .all(incident);
  return rows.map((row) => listedDeliveryOf(target, row));
}

function pastOf({ wording, held, ...incident }: IncidentInput): PastIncident {
  const { id, target, rule, severity, subject, condition, cause, startedAt, openedAt, endedAt, closing } = incident;
  const { acknowledged } = incident;
  return {
    id,
    target,
    rule,
    severity,
    word: wording.word,
    subject,
    condition,
    cause,
    startedAt,
    openedAt,
    endedAt,
    closing,
    held: held?.why ?? null,
    acknowledged,
  };
}

/** The incidents that were open for a part of the time from `from` until before `to`, as they are by now, the oldest first. */
export function readIncidentsBetween(
  database: BetterSQLite3Database,
  from: number,
  to: number,
): readonly IncidentInput[] {
  return database
    .select({ target: targets.name, row: incidents })
    .from(incidents)
    .innerJoin(targets, eq(targets.id, incidents.targetId))
    .where(and(lt(incidents.startedAt, to), or(isNull(incidents.endedAt), gt(incidents.endedAt, from))))
    .orderBy(asc(incidents.startedAt))
    .all()
    .map(({ target, row }) => incidentOf(target, row));
}
