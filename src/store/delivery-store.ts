import type { Clock } from '#kernel/clock.ts';
import type { DeliveryStore } from '#monitor/notify/delivery-store.ts';
import {
  readChannels,
  readCounts,
  readDeliveries,
  readDue,
  readNextDeliveryAt,
  readNotifiedAndOpen,
} from './deliveries.ts';
import { readSentMessages } from './sent-messages.ts';
import { retryable, retryDeliveries } from './retried-deliveries.ts';
import type { BetterSQLite3Database } from './drizzle.ts';
import type { WriteQueue } from './queue.ts';
import type { SharedWriting } from './shared-store.ts';

export interface DeliveryDependencies {
  readonly database: BetterSQLite3Database;
  readonly queue: Pick<WriteQueue, 'storeOutcomes' | 'waitingOutcomes'>;
  /** Set if several hubs share the history. */
  readonly sharing: SharedWriting | null;
  readonly clock: Clock;
  /** Gives whatever the database throws its way out. */
  readonly guard: <Result>(action: () => Result) => Result;
}

/** The outbox's part of the store. */
export function createDeliveryStore({ database, queue, sharing, clock, guard }: DeliveryDependencies) {
  const channels = new Set(readChannels(database));
  const store: DeliveryStore = {
    dueDeliveries: (now, limit) => guard(() => readDue(database, queue.waitingOutcomes(), now, limit)),
    nextDeliveryAt: (now) => guard(() => readNextDeliveryAt(database, queue.waitingOutcomes(), now)),
    ...(sharing !== null && { claimsRepeats: true }),
    claim(message, ids) {
      const claims = ids.map((id) => ({ id, state: 'claimed', message }) as const);
      return sharing === null ? queue.storeOutcomes(claims) : sharing.claimed(claims);
    },
    storeOutcomes: (outcomes) => queue.storeOutcomes(outcomes),
    notifiedAndOpen: (channel) => guard(() => readNotifiedAndOpen(database, channel)),
    sentMessages: (since) => guard(() => readSentMessages(database, since)),
    deliveryCounts: () => guard(() => readCounts(database, channels, clock.now())),
    listDeliveries: (options) => guard(() => readDeliveries(database, queue.waitingOutcomes(), options)),
    retryDeliveries: (ids) =>
      guard(() =>
        sharing === null ? retryDeliveries(database, ids, clock.now()) : sharing.retry(retryable(database, ids)),
      ),
  };
  return {
    store,
    /** Channels that had something to send: they are counted from then on, also while nothing is pending. */
    note: (used: Iterable<{ readonly channel: string }>) => {
      for (const { channel } of used) channels.add(channel);
    },
  };
}
