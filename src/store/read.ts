import type { DeliveryCount, PendingDelivery, StoredSuccess, StoredTarget } from '#monitor/ports.ts';
import {
  type BetterSQLite3Database,
  alias,
  and,
  asc,
  eq,
  exists,
  gte,
  isNotNull,
  isNull,
  lte,
  min,
  sql,
} from './drizzle.ts';
import { deliveryOf, incidentOf, resultOf, stateOf, statusNumber } from './rows.ts';
import type { Incident, RuleState, Settlement, StoredResult } from './rows.ts';
import { deliveries, incidents, nodes, results, ruleStates, targets } from './schema.ts';

/** What every target left behind: its rule states and the incidents that are open. */
export function readTargets(database: BetterSQLite3Database): readonly StoredTarget[] {
  const found = new Map<string, { target: string; states: RuleState[]; openIncidents: Incident[] }>();
  const entry = (target: string) => {
    const known = found.get(target) ?? { target, states: [], openIncidents: [] };
    found.set(target, known);
    return known;
  };
  const states = database
    .select({ target: targets.name, rule: ruleStates.rule, state: ruleStates.state })
    .from(ruleStates)
    .innerJoin(targets, eq(targets.id, ruleStates.targetId))
    .orderBy(asc(targets.name), asc(ruleStates.rule));
  for (const { target, ...row } of states.all()) entry(target).states.push(stateOf(target, row));
  const open = database
    .select({ target: targets.name, row: incidents })
    .from(incidents)
    .innerJoin(targets, eq(targets.id, incidents.targetId))
    .where(isNull(incidents.endedAt))
    .orderBy(asc(incidents.startedAt));
  for (const { target, row } of open.all()) entry(target).openIncidents.push(incidentOf(target, row));
  return [...found.values()];
}

/**
 * Pending deliveries that are due, oldest first, and with each of them all other pending ones of its thread (incident, channel,
 * recipient). Settlements that wait for the database count as if they were in it, so that a mail which was sent while the disk
 * was full is not sent again.
 */
export function readDue(
  database: BetterSQLite3Database,
  waiting: readonly Settlement[],
  now: number,
  limit: number,
): readonly PendingDelivery[] {
  const due = alias(deliveries, 'due');
  const dueInThread = database
    .select({ id: due.id })
    .from(due)
    .where(
      and(
        eq(due.state, sql`'pending'`),
        lte(due.nextAttemptAt, now),
        eq(due.incidentId, deliveries.incidentId),
        eq(due.channel, deliveries.channel),
        eq(due.recipient, deliveries.recipient),
      ),
    );
  const rows = database
    .select({ target: targets.name, incident: incidents, delivery: deliveries })
    .from(deliveries)
    .innerJoin(incidents, eq(incidents.id, deliveries.incidentId))
    .innerJoin(targets, eq(targets.id, incidents.targetId))
    .where(and(eq(deliveries.state, sql`'pending'`), exists(dueInThread)))
    .orderBy(asc(deliveries.createdAt), asc(deliveries.id))
    .limit(limit + waiting.length);
  const latest = byDelivery(waiting);
  const dueAt = ({ id, nextAttemptAt }: DeliveryRow) => dueAtOf(latest.get(id)) ?? nextAttemptAt;
  const left = rows.all().filter(({ delivery }) => dueAt(delivery) !== Number.POSITIVE_INFINITY);
  const dueThreads = new Set(left.flatMap(({ delivery }) => (dueAt(delivery) <= now ? [threadOf(delivery)] : [])));
  return left
    .filter(({ delivery }) => dueThreads.has(threadOf(delivery)))
    .slice(0, limit)
    .map(({ target, incident, delivery }) => ({
      delivery: deliveryOf(delivery),
      incident: incidentOf(target, incident),
    }));
}

type DeliveryRow = typeof deliveries.$inferSelect;

function threadOf({ incidentId, channel, recipient }: DeliveryRow): string {
  return JSON.stringify([incidentId, channel, recipient]);
}

/** When the next pending delivery is due, with waiting settlements counted as in `readDue`. */
export function readNextDeliveryAt(database: BetterSQLite3Database, waiting: readonly Settlement[]): number | null {
  const latest = byDelivery(waiting);
  const rows = database
    .select({ id: deliveries.id, at: deliveries.nextAttemptAt })
    .from(deliveries)
    .where(eq(deliveries.state, sql`'pending'`))
    .orderBy(asc(deliveries.nextAttemptAt))
    .limit(latest.size + 1);
  const times = rows.all().map(({ id, at }) => dueAtOf(latest.get(id)) ?? at);
  const next = Math.min(...times);
  return Number.isFinite(next) ? next : null;
}

/** Pending deliveries of each of the channels, which need not have any. */
export function readCounts(database: BetterSQLite3Database, channels: ReadonlySet<string>): readonly DeliveryCount[] {
  const rows = database
    .select({ channel: deliveries.channel, pending: sql<number>`count(*)`, oldestAt: min(deliveries.createdAt) })
    .from(deliveries)
    .where(eq(deliveries.state, sql`'pending'`))
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

/** The results of a target that were due at `since` or later, in order. */
export function readResults(database: BetterSQLite3Database, target: string, since: number): readonly StoredResult[] {
  const rows = database
    .select({
      dueAt: results.dueAt,
      node: nodes.name,
      status: results.status,
      durationUs: results.durationUs,
      failure: results.failure,
    })
    .from(results)
    .innerJoin(targets, eq(targets.id, results.targetId))
    .innerJoin(nodes, eq(nodes.id, results.nodeId))
    .where(and(eq(targets.name, target), gte(results.dueAt, since)))
    .orderBy(asc(results.dueAt), asc(nodes.name));
  return rows.all().map(resultOf);
}

/** The good results of these targets that were due at `since` or later, in order: one scan, however many targets there are. */
export function readSuccesses(
  database: BetterSQLite3Database,
  since: number,
  wanted: ReadonlySet<string>,
): readonly StoredSuccess[] {
  const rows = database
    .select({ target: targets.name, node: nodes.name, dueAt: results.dueAt, durationUs: results.durationUs })
    .from(results)
    .innerJoin(targets, eq(targets.id, results.targetId))
    .innerJoin(nodes, eq(nodes.id, results.nodeId))
    .where(and(gte(results.dueAt, since), eq(results.status, statusNumber('up')), isNotNull(results.durationUs)))
    .orderBy(asc(results.dueAt));
  return rows
    .all()
    .filter(({ target }) => wanted.has(target))
    .map(({ durationUs, ...row }) => ({ ...row, seconds: (durationUs ?? 0) / 1e6 }));
}

function byDelivery(waiting: readonly Settlement[]): ReadonlyMap<number, Settlement> {
  return new Map(waiting.map((settlement) => [settlement.id, settlement]));
}

// Never again for a delivery that is settled; undefined where nothing about it waits.
function dueAtOf(settlement: Settlement | undefined): number | undefined {
  if (settlement === undefined) return undefined;
  return settlement.state === 'pending' ? settlement.nextAttemptAt : Number.POSITIVE_INFINITY;
}
