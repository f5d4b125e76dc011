import { and, type BetterSQLite3Database, eq, inArray } from './drizzle.ts';
import { deliveries } from './schema.ts';

const isRetryable = (ids: readonly number[] | null) =>
  ids === null
    ? eq(deliveries.state, 'dead')
    : and(inArray(deliveries.id, [...ids]), inArray(deliveries.state, ['dead', 'pending']));

/** The dead and pending deliveries of these; without ids, all dead ones. */
export function retryable(database: BetterSQLite3Database, ids: readonly number[] | null): readonly number[] {
  const rows = database.select({ id: deliveries.id }).from(deliveries).where(isRetryable(ids)).all();
  return rows.map(({ id }) => id);
}

/** Makes dead and pending deliveries due at `now`, as if they had never been tried; without ids, all dead ones. */
export function retryDeliveries(database: BetterSQLite3Database, ids: readonly number[] | null, now: number): number {
  const { changes } = database
    .update(deliveries)
    .set({ state: 'pending', nextAttemptAt: now, attempts: 0, settledAt: null })
    .where(isRetryable(ids))
    .run();
  return changes;
}
