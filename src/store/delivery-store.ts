import type { Clock } from '#kernel/clock.ts';
import type { DeliveryStore } from '#monitor/notify/delivery-store.ts';
import {
  readChannels,
  readCounts,
  readDeliveries,
  readDue,
  readNextDeliveryAt,
  readSentMessages,
  readNotifiedAndOpen,
  retryDeliveries,
} from './deliveries.ts';
import type { BetterSQLite3Database } from './drizzle.ts';
import type { CommitQueue } from './queue.ts';

export interface DeliveryDependencies {
  readonly database: BetterSQLite3Database;
  readonly queue: Pick<CommitQueue, 'storeOutcomes' | 'waitingOutcomes'>;
  readonly clock: Clock;
  /** Gives whatever the database throws its way out. */
  readonly guard: <Result>(action: () => Result) => Result;
}

/** The outbox's part of the store. */
export function createDeliveryStore({ database, queue, clock, guard }: DeliveryDependencies) {
  const channels = new Set(readChannels(database));
  const store: DeliveryStore = {
    dueDeliveries: (now, limit) => guard(() => readDue(database, queue.waitingOutcomes(), now, limit)),
    nextDeliveryAt: (now) => guard(() => readNextDeliveryAt(database, queue.waitingOutcomes(), now)),
    claim: (message, ids) => queue.storeOutcomes(ids.map((id) => ({ id, state: 'claimed', message }))),
    storeOutcomes: (outcomes) => queue.storeOutcomes(outcomes),
    notifiedAndOpen: (channel) => guard(() => readNotifiedAndOpen(database, channel)),
    sentMessages: (since) => guard(() => readSentMessages(database, since)),
    deliveryCounts: () => guard(() => readCounts(database, channels, clock.now())),
    listDeliveries: (options) => guard(() => readDeliveries(database, options)),
    retryDeliveries: (ids) => guard(() => retryDeliveries(database, ids, clock.now())),
  };
  return {
    store,
    /** Channels that had something to send: they are counted from then on, also while nothing is pending. */
    note: (used: Iterable<{ readonly channel: string }>) => {
      for (const { channel } of used) channels.add(channel);
    },
  };
}
