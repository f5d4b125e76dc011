import type { DeliveryCount, ListedDelivery, PendingDelivery, NotifiedIncident } from '#monitor/judge/delivery.ts';
import { withinLimit } from '#monitor/notify/delivery-limit.ts';
import {
  alias,
  and,
  asc,
  type BetterSQLite3Database,
  desc,
  eq,
  gt,
  inArray,
  isNull,
  lte,
  min,
  sql,
} from './drizzle.ts';
import { latestOf } from './waiting-outcomes.ts';
import { deliveryOf, incidentOf, listedDeliveryOf, type OutcomeInput } from './rows.ts';
import { deliveries, incidents, targets } from './schema.ts';

type DeliveryRow = typeof deliveries.$inferSelect;

const isPending = eq(deliveries.state, sql`'pending'`);

/**
 * Everything that is pending for the recipients who have something due, oldest first; beyond the limit of each recipient as much as of
 * the others, and never a part of what there is to tell about an incident. Outcomes that wait for the database count as if they were in
 * it, so that a mail which was sent while the disk was full is not sent again.
 */
export function readDue(
  database: BetterSQLite3Database,
  waiting: readonly OutcomeInput[],
  now: number,
  limit: number,
): readonly PendingDelivery[] {
  const due = database
    .selectDistinct({ channel: deliveries.channel, recipient: deliveries.recipient })
    .from(deliveries)
    .where(and(isPending, lte(deliveries.nextAttemptAt, now)))
    .as('due');
  const pending = database
    .select({
      id: deliveries.id,
      channel: deliveries.channel,
      recipient: deliveries.recipient,
      incidentId: deliveries.incidentId,
      nextAttemptAt: deliveries.nextAttemptAt,
      message: deliveries.message,
    })
    .from(deliveries)
    .innerJoin(due, and(eq(due.channel, deliveries.channel), eq(due.recipient, deliveries.recipient)))
    .where(isPending)
    .orderBy(asc(deliveries.createdAt), asc(deliveries.id))
    .all();
  const latest = latestOf(waiting);
  const left = pending.flatMap((row) => {
    const known = latest.get(row.id);
    const dueAt = known?.dueAt ?? row.nextAttemptAt;
    const { message } = known ?? row;
    return dueAt === Number.POSITIVE_INFINITY ? [] : [{ ...row, message, dueAt }];
  });
  const dueAddresses = new Set(left.flatMap((row) => (row.dueAt <= now ? [addressOf(row)] : [])));
  const ofDue = left.filter((row) => dueAddresses.has(addressOf(row)));
  const selected = withinLimit(ofDue, limit, (row) => row);
  const whole = readWhole(
    database,
    selected.map(({ id }) => id),
  );
  const othersOf = createOthers(database, [...new Set(selected.map(({ incidentId }) => incidentId))]);
  return selected.flatMap(({ id, message, dueAt }) => {
    const row = whole.get(id);
    if (row === undefined) return [];
    const root = latest.get(row.beginning?.id ?? 0) ?? row.beginning;
    return {
      delivery: { ...deliveryOf(row.delivery), nextAttemptAt: dueAt },
      incident: incidentOf(row.target, row.incident),
      message,
      root: root?.message ?? null,
      rootReference: root?.reference ?? null,
      ...othersOf(row.delivery),
    };
  });
}

/** Deliveries with their incidents, and how the recipient was notified of the beginning. */
function readWhole(database: BetterSQLite3Database, ids: readonly number[]) {
  const beginning = alias(deliveries, 'beginning');
  const rows = inParts(ids).flatMap((some) =>
    database
      .select({
        target: targets.name,
        incident: incidents,
        delivery: deliveries,
        beginning: { id: beginning.id, message: beginning.message, reference: beginning.reference },
      })
      .from(deliveries)
      .innerJoin(incidents, eq(incidents.id, deliveries.incidentId))
      .innerJoin(targets, eq(targets.id, incidents.targetId))
      .leftJoin(
        beginning,
        and(
          eq(beginning.incidentId, deliveries.incidentId),
          eq(beginning.kind, sql`'opened'`),
          eq(beginning.number, sql`1`),
          eq(beginning.channel, deliveries.channel),
          eq(beginning.recipient, deliveries.recipient),
        ),
      )
      .where(inArray(deliveries.id, some))
      .all(),
  );
  return new Map(rows.map((row) => [row.delivery.id, row]));
}

type PeerDeliveries = Pick<PendingDelivery, 'unreached' | 'isKnownToOthers'>;
const nobodyElse: PeerDeliveries = { unreached: [], isKnownToOthers: false };

// The outcomes for all recipients of these incidents; an incident has few recipients.
function createOthers(
  database: BetterSQLite3Database,
  ids: readonly string[],
): (delivery: DeliveryRow) => PeerDeliveries {
  const beginnings = new Map<string, DeliveryRow[]>();
  for (const some of inParts(ids)) {
    const rows = database
      .select()
      .from(deliveries)
      .where(and(inArray(deliveries.incidentId, some), eq(deliveries.kind, sql`'opened'`)))
      .all();
    for (const row of rows) {
      const known = beginnings.get(row.incidentId);
      if (known === undefined) beginnings.set(row.incidentId, [row]);
      else known.push(row);
    }
  }
  return (delivery) => {
    const others = (beginnings.get(delivery.incidentId) ?? []).filter((one) => addressOf(one) !== addressOf(delivery));
    if (others.length === 0) return nobodyElse;
    return {
      unreached: others.flatMap(({ state, channel, recipient, lastError: reason }) =>
        reason === null || (state !== 'pending' && state !== 'dead') ? [] : [{ channel, recipient, reason }],
      ),
      isKnownToOthers: others.some(({ state }) => state === 'sent'),
    };
  };
}

const askedAtOnce = 500;

// SQLite limits the values of a statement.
function inParts<Value>(values: readonly Value[]): readonly Value[][] {
  const parts: Value[][] = [];
  for (let from = 0; from < values.length; from += askedAtOnce) parts.push(values.slice(from, from + askedAtOnce));
  return parts;
}

function addressOf({ channel, recipient }: Pick<DeliveryRow, 'channel' | 'recipient'>): string {
  return JSON.stringify([channel, recipient]);
}

/** When the next pending delivery after `now` is due, with waiting outcomes counted as in `readDue`. */
export function readNextDeliveryAt(
  database: BetterSQLite3Database,
  waiting: readonly OutcomeInput[],
  now: number,
): number | null {
  const latest = latestOf(waiting);
  const rows = database
    .select({ id: deliveries.id, at: deliveries.nextAttemptAt })
    .from(deliveries)
    .where(and(isPending, gt(deliveries.nextAttemptAt, now)))
    .orderBy(asc(deliveries.nextAttemptAt))
    .limit(latest.size + 1);
  const stored = rows.all().map(({ id, at }) => latest.get(id)?.dueAt ?? at);
  const waits = [...latest.values()].flatMap(({ dueAt }) => (dueAt === undefined || dueAt <= now ? [] : [dueAt]));
  const next = Math.min(...stored, ...waits);
  return Number.isFinite(next) ? next : null;
}

// A recipient that is notified only if the incident lasts is not late.
const isDue = (now: number) =>
  sql`NOT (${deliveries.kind} = 'opened' AND ${deliveries.attempts} = 0 AND ${deliveries.nextAttemptAt} > ${now})`;

/** Pending deliveries of each of the channels, which need not have any. Deliveries for later are not pending yet. */
export function readCounts(
  database: BetterSQLite3Database,
  channels: ReadonlySet<string>,
  now: number,
): readonly DeliveryCount[] {
  const rows = database
    .select({ channel: deliveries.channel, pending: sql<number>`count(*)`, oldestAt: min(deliveries.createdAt) })
    .from(deliveries)
    .where(and(isPending, sql`NOT (${deliveries.kind} = 'reminder' AND ${deliveries.createdAt} > ${now})`, isDue(now)))
    .groupBy(deliveries.channel)
    .all();
  const idle = [...channels].filter((channel) => !rows.some((row) => row.channel === channel));
  return [...rows, ...idle.map((channel) => ({ channel, pending: 0, oldestAt: null }))];
}

export function readChannels(database: BetterSQLite3Database): readonly string[] {
  return database
    .selectDistinct({ channel: deliveries.channel })
    .from(deliveries)
    .all()
    .map(({ channel }) => channel);
}

/** The open incidents whose beginning was notified through the channel, with the recipients. */
export function readNotifiedAndOpen(database: BetterSQLite3Database, channel: string): readonly NotifiedIncident[] {
  const rows = database
    .select({ target: targets.name, incident: incidents, recipient: deliveries.recipient })
    .from(incidents)
    .innerJoin(targets, eq(targets.id, incidents.targetId))
    .innerJoin(
      deliveries,
      and(
        eq(deliveries.incidentId, incidents.id),
        eq(deliveries.kind, sql`'opened'`),
        eq(deliveries.channel, channel),
        eq(deliveries.state, sql`'sent'`),
      ),
    )
    .where(isNull(incidents.endedAt))
    .orderBy(asc(incidents.openedAt), asc(incidents.id));
  return rows.all().map(({ target, incident, recipient }) => ({ recipient, incident: incidentOf(target, incident) }));
}

/** Deliveries of a state, the newest first; outcomes that wait for the database count as if they were in it. */
export function readDeliveries(
  database: BetterSQLite3Database,
  waiting: readonly OutcomeInput[],
  {
    state,
    incident,
    limit,
  }: { readonly state?: ListedDelivery['state']; readonly incident?: string; readonly limit: number },
): readonly ListedDelivery[] {
  const rows = database
    .select({ target: targets.name, delivery: deliveries })
    .from(deliveries)
    .innerJoin(incidents, eq(incidents.id, deliveries.incidentId))
    .innerJoin(targets, eq(targets.id, incidents.targetId))
    .where(
      and(
        state === undefined ? undefined : eq(deliveries.state, state),
        incident === undefined ? undefined : eq(deliveries.incidentId, incident),
      ),
    )
    .orderBy(desc(deliveries.id))
    .limit(limit);
  const latest = latestOf(waiting);
  return rows
    .all()
    .map(({ target, delivery }) => {
      const stored = listedDeliveryOf(target, delivery);
      const { state: now, message, reference, settledAt } = latest.get(delivery.id) ?? stored;
      return { ...stored, state: now, message, reference, settledAt };
    })
    .filter((one) => state === undefined || one.state === state);
}
