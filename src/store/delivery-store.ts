import type { Clock } from '#kernel/clock.ts';
import type { DeliveryStore } from '#monitor/notify/delivery-store.ts';
import {
  readChannels,
  readCounts,
  readDeliveries,
  readDue,
  readNextDeliveryAt,
  readSentMessages,
  readToldAndOpen,
  retryDeliveries,
} from './deliveries.ts';
import type { BetterSQLite3Database } from './drizzle.ts';
import type { CommitQueue } from './queue.ts';

export interface DeliveryDependencies {
  readonly database: BetterSQLite3Database;
  readonly queue: Pick<CommitQueue, 'settle' | 'waitingSettlements'>;
  readonly clock: Clock;
  /** Gives whatever the database throws its way out. */
  readonly guard: <Result>(action: () => Result) => Result;
}

/** The outbox's part of the store. */
export function createDeliveryStore({ database, queue, clock, guard }: DeliveryDependencies) {
  const channels = new Set(readChannels(database));
  const store: DeliveryStore = {
    dueDeliveries: (now, limit) => guard(() => readDue(database, queue.waitingSettlements(), now, limit)),
    nextDeliveryAt: (now) => guard(() => readNextDeliveryAt(database, queue.waitingSettlements(), now)),
    claim: (message, ids) => queue.settle(ids.map((id) => ({ id, state: 'claimed', message }))),
    settle: (settlements) => queue.settle(settlements),
    toldAndOpen: (channel) => guard(() => readToldAndOpen(database, channel)),
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
