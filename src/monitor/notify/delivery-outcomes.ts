import type { Clock } from '#kernel/clock.ts';
import { messageOf } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import type { Delivery, DeliveryOutcome } from '../judge/delivery.ts';
import type { DeliveryStore } from './delivery-store.ts';

export interface DeliveryEvent {
  readonly channel: string;
  readonly outcome: 'sent' | 'merged' | 'dead' | 'retry';
  /** From the decision to this outcome. */
  readonly delayMs: number;
}

export interface DeliveryOutcomesOptions {
  readonly store: Pick<DeliveryStore, 'storeOutcomes' | 'claim' | 'claimsRepeats'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly onSettled?: (settled: DeliveryEvent) => void;
}

/** A delivery and how its attempt ended. */
export interface DeliveryWithOutcome {
  readonly delivery: Delivery;
  readonly outcome: DeliveryOutcome;
}

/**
 * Writes down how attempts ended. What the store refuses is kept in memory and written later, so a message is sent again only
 * if the program ended in between; then with the same id.
 */
export interface DeliveryOutcomes {
  /** Records which message is about to cover these deliveries. A promise resolves to whether the message may be sent. */
  claim(message: string, deliveries: readonly Delivery[]): true | Promise<boolean>;
  /** Whether a message is claimed anew each time that it is sent. */
  readonly claimsRepeats: boolean;
  store(settled: readonly DeliveryWithOutcome[]): void;
  storeUnstored(): void;
  readonly hasUnstored: boolean;
  /** Deliveries that the store takes for due although they are not. */
  settledIds(): ReadonlySet<number>;
}

export function createDeliveryOutcomes({ store, clock, log, onSettled }: DeliveryOutcomesOptions): DeliveryOutcomes {
  const unstored = new Map<number, DeliveryOutcome>();

  function write(outcomes: readonly DeliveryOutcome[]): void {
    try {
      store.storeOutcomes(outcomes);
      for (const { id } of outcomes) unstored.delete(id);
    } catch (error) {
      for (const outcome of outcomes) unstored.set(outcome.id, outcome);
      log.error(
        { err: error, deliveries: outcomes.map(({ id }) => id) },
        'cannot store a delivery outcome; keeping it in memory. The message is repeated if the program ends before it is stored',
      );
    }
  }

  async function granted(claimed: Promise<void>, message: string): Promise<boolean> {
    try {
      await claimed;
      return true;
    } catch (error) {
      log.warn({ reason: messageOf(error), message }, 'message not sent: this hub does not lead');
      return false;
    }
  }

  function report({ delivery: { channel, createdAt }, outcome: { state } }: DeliveryWithOutcome): void {
    try {
      const outcome = state === 'pending' ? 'retry' : state;
      onSettled?.({ channel, outcome, delayMs: Math.max(clock.now() - createdAt, 0) });
    } catch (error) {
      log.error({ err: error }, 'cannot report a delivery outcome');
    }
  }

  return {
    claim(message, deliveries) {
      const ids = deliveries.map(({ id }) => id);
      try {
        const claimed = store.claim(message, ids);
        return claimed === undefined ? true : granted(claimed, message);
      } catch (error) {
        log.error({ err: error, message, deliveries: ids }, 'cannot record a message before sending it');
        return true;
      }
    },
    claimsRepeats: store.claimsRepeats === true,
    store(settled) {
      if (settled.length === 0) return;
      write(settled.map(({ outcome }) => outcome));
      settled.forEach(report);
    },
    storeUnstored() {
      if (unstored.size > 0) write([...unstored.values()]);
    },
    get hasUnstored() {
      return unstored.size > 0;
    },
    settledIds() {
      const now = clock.now();
      const settled = [...unstored.values()].filter(
        (outcome) => outcome.state !== 'pending' || outcome.nextAttemptAt > now,
      );
      return new Set(settled.map(({ id }) => id));
    },
  };
}
