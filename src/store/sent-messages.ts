import type { SentMessage } from '#monitor/judge/delivery.ts';
import { severities } from '#monitor/judge/rules/kind.ts';
import { alias, and, type BetterSQLite3Database, eq, gte, inArray, sql } from './drizzle.ts';
import { sentMessageOf } from './rows.ts';
import { deliveries, incidents } from './schema.ts';

/** The messages that went out at `since` or later, oldest first. */
export function readSentMessages(database: BetterSQLite3Database, since: number): readonly SentMessage[] {
  const end = alias(deliveries, 'end');
  // One about a beginning that covers the end as well told that it is over.
  const kind = sql`CASE WHEN ${deliveries.kind} = 'closed' OR ${end.id} IS NOT NULL THEN 'resolved' ELSE ${deliveries.kind} END`;
  const severityRank = sql.join(severities.map((one, rank) => sql`WHEN ${one} THEN ${rank}`));
  const rows = database
    .select({
      channel: deliveries.channel,
      recipient: deliveries.recipient,
      kind: sql<string>`CASE count(DISTINCT ${kind}) WHEN 1 THEN min(${kind}) ELSE 'digest' END`,
      severity: sql<number | null>`min(CASE ${incidents.story} ->> 'severity' ${severityRank} END)`,
      at: sql<number>`max(${deliveries.settledAt})`,
    })
    .from(deliveries)
    .innerJoin(incidents, eq(incidents.id, deliveries.incidentId))
    .leftJoin(
      end,
      and(
        eq(end.incidentId, deliveries.incidentId),
        inArray(end.kind, ['resolved', 'closed']),
        eq(end.channel, deliveries.channel),
        eq(end.recipient, deliveries.recipient),
        eq(end.state, sql`'merged'`),
        eq(end.message, deliveries.message),
      ),
    )
    .where(and(eq(deliveries.state, sql`'sent'`), gte(deliveries.settledAt, since)))
    .groupBy(deliveries.channel, deliveries.recipient, sql`coalesce(${deliveries.message}, ${deliveries.id})`)
    .orderBy(sql`5`);
  return rows.all().map(({ severity, ...row }) => sentMessageOf({ ...row, severity: severities[severity ?? -1] }));
}
