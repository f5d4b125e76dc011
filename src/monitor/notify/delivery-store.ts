import type {
  DeliveryCount,
  DeliveryOutcome,
  ListedDelivery,
  PendingDelivery,
  SentMessage,
  NotifiedIncident,
} from '../judge/delivery.ts';

/** Pending deliveries and their outcomes. Every method that writes is one transaction. */
export interface DeliveryStore {
  /**
   * What there is to tell the recipients who have something due at `now`: all their unsettled deliveries, due or not, oldest first,
   * with the incidents as they are by now, so that one message can tell them all.
   */
  dueDeliveries(now: number, limit: number): readonly PendingDelivery[];
  /** The earliest time after `now` that an unsettled delivery is due, or null. */
  nextDeliveryAt(now: number): number | null;
  /**
   * Records, before it is sent, which message covers these deliveries: after a crash it is repeated unchanged. If several hubs share
   * the store, it resolves when the message may be sent, and rejects if another hub sends it.
   */
  claim(message: string, ids: readonly number[]): void | Promise<void>;
  /** Whether a message is claimed anew each time that it is sent. */
  readonly claimsRepeats?: boolean;
  /**
   * Ends attempts, in one transaction with the reminders they ask for. Every outcome but a merge adds one to the delivery's
   * `attempts`; an `error` becomes its `lastError`.
   */
  storeOutcomes(outcomes: readonly DeliveryOutcome[]): void;
  /** The messages that went out at `since` or later, oldest first. */
  sentMessages(since: number): readonly SentMessage[];
  /** The open incidents whose beginning was notified through this channel, with the recipients. */
  notifiedAndOpen(channel: string): readonly NotifiedIncident[];
  /** Deliveries of a state, the newest first; of all states without one. */
  listDeliveries(options: {
    readonly state?: ListedDelivery['state'];
    /** Those of one incident only. */
    readonly incident?: string;
    readonly limit: number;
  }): readonly ListedDelivery[];
  /** Makes dead and waiting deliveries due at once, as if they had never been tried. Returns how many; without ids, all dead ones. */
  retryDeliveries(ids: readonly number[] | null): number;
  deliveryCounts(): readonly DeliveryCount[];
}
