import type { Clock } from '#kernel/clock.ts';
import type { Log } from '#kernel/log.ts';
import type { Delivery, DeliverySettlement } from './delivery.ts';
import type { MonitorStore } from './ports.ts';

export interface Settled {
  readonly channel: string;
  readonly outcome: 'sent' | 'merged' | 'dead' | 'retry';
  /** From the decision to this settlement. */
  readonly delayMs: number;
}

export interface LedgerOptions {
  readonly store: Pick<MonitorStore, 'settle' | 'claim'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly onSettled?: (settled: Settled) => void;
}

/** A delivery and how its attempt ended. */
export interface Entry {
  readonly delivery: Delivery;
  readonly settlement: DeliverySettlement;
}

/**
 * Writes down how attempts ended. What the store refuses is kept in memory and written later, so a message is sent again only
 * where the program ended in between; then with the same id.
 */
export interface Ledger {
  /** Notes which message is about to tell these deliveries. */
  claim(message: string, deliveries: readonly Delivery[]): void;
  settle(entries: readonly Entry[]): void;
  payDebts(): void;
  readonly hasDebts: boolean;
  /** Deliveries that the store takes for due although they are not. */
  settledIds(): ReadonlySet<number>;
}

export function createLedger({ store, clock, log, onSettled }: LedgerOptions): Ledger {
  const debts = new Map<number, DeliverySettlement>();

  function write(settlements: readonly DeliverySettlement[]): void {
    try {
      store.settle(settlements);
      for (const { id } of settlements) debts.delete(id);
    } catch (error) {
      for (const settlement of settlements) debts.set(settlement.id, settlement);
      log.error(
        { err: error, deliveries: settlements.map(({ id }) => id) },
        'a settlement could not be stored; it is kept in memory, and the message is repeated if the program ends before it is stored',
      );
    }
  }

  function report({ delivery: { channel, createdAt }, settlement: { state } }: Entry): void {
    try {
      const outcome = state === 'pending' ? 'retry' : state;
      onSettled?.({ channel, outcome, delayMs: Math.max(clock.now() - createdAt, 0) });
    } catch (error) {
      log.error({ err: error }, 'nobody could be told about a settlement');
    }
  }

  return {
    claim(message, deliveries) {
      const ids = deliveries.map(({ id }) => id);
      try {
        store.claim(message, ids);
      } catch (error) {
        log.error({ err: error, message, deliveries: ids }, 'a message could not be noted before it is sent');
      }
    },
    settle(entries) {
      if (entries.length === 0) return;
      write(entries.map(({ settlement }) => settlement));
      entries.forEach(report);
    },
    payDebts() {
      if (debts.size > 0) write([...debts.values()]);
    },
    get hasDebts() {
      return debts.size > 0;
    },
    settledIds() {
      const now = clock.now();
      const settled = [...debts.values()].filter((debt) => debt.state !== 'pending' || debt.nextAttemptAt > now);
      return new Set(settled.map(({ id }) => id));
    },
  };
}
