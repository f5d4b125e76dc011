import { type BetterSQLite3Database, sql } from './drizzle.ts';

/** Writes the reminder that follows a delivery, if its incident is open by now. */
export function writeReminder(database: BetterSQLite3Database, after: number, at: number): void {
  database.run(sql`
    INSERT INTO deliveries
      (incident_id, kind, number, channel, recipient, state, created_at, next_attempt_at, attempts)
    SELECT incident_id, 'reminder', CASE kind WHEN 'reminder' THEN number + 1 ELSE 1 END,
      channel, recipient, 'pending', ${at}, ${at}, 0
    FROM deliveries JOIN incidents ON incidents.id = incident_id
    WHERE deliveries.id = ${after} AND ended_at IS NULL
    ON CONFLICT DO NOTHING`);
}

/** Notifies the other recipients of the incident at once of the one that cannot be reached. */
export function remindOthers(database: BetterSQLite3Database, unreached: number, at: number): void {
  const others = sql`
    FROM deliveries AS notified JOIN deliveries AS lost ON lost.incident_id = notified.incident_id
      JOIN incidents ON incidents.id = notified.incident_id
    WHERE lost.id = ${unreached} AND notified.kind = 'opened' AND notified.state = 'sent' AND incidents.ended_at IS NULL
      AND (notified.channel, notified.recipient) <> (lost.channel, lost.recipient)`;
  database.run(sql`
    UPDATE deliveries SET created_at = min(created_at, ${at}), next_attempt_at = min(next_attempt_at, ${at})
    WHERE kind = 'reminder' AND state = 'pending'
      AND (incident_id, channel, recipient) IN (SELECT notified.incident_id, notified.channel, notified.recipient ${others})`);
  database.run(sql`
    INSERT INTO deliveries
      (incident_id, kind, number, channel, recipient, state, created_at, next_attempt_at, attempts)
    SELECT notified.incident_id, 'reminder',
      1 + coalesce((SELECT max(number) FROM deliveries AS earlier WHERE earlier.incident_id = notified.incident_id
        AND earlier.kind = 'reminder' AND earlier.channel = notified.channel AND earlier.recipient = notified.recipient), 0),
      notified.channel, notified.recipient, 'pending', ${at}, ${at}, 0
    ${others}
      AND NOT EXISTS (SELECT 1 FROM deliveries AS waiting WHERE waiting.incident_id = notified.incident_id
        AND waiting.kind = 'reminder' AND waiting.state = 'pending'
        AND waiting.channel = notified.channel AND waiting.recipient = notified.recipient)
    ON CONFLICT DO NOTHING`);
}
