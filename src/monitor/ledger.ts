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
  readonly store: Pick<MonitorStore, 'settle'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly onSettled?: (settled: Settled) => void;
}

/**
 * Writes down how attempts ended. What the store refuses is kept in memory and written later, so a message is sent again only
 * where the program ended in between; then with the same id.
 */
export interface Ledger {
  settleSent(sent: Delivery, merged: readonly Delivery[]): void;
  settleRetry(delivery: Delivery, nextAttemptAt: number, error: string): void;
  settleDead(delivery: Delivery, error: string): void;
  payDebts(): void;
  readonly hasDebts: boolean;
  /** Deliveries that the store takes for due although they are not. */
  settledIds(): ReadonlySet<number>;
}

export function createLedger({ store, clock, log, onSettled }: LedgerOptions): Ledger {
  const debts = new Map<number, DeliverySettlement>();

  function settle(settlements: readonly DeliverySettlement[]): void {
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

  function report(deliveries: readonly Delivery[], outcome: Settled['outcome']): void {
    for (const { channel, createdAt } of deliveries) {
      try {
        onSettled?.({ channel, outcome, delayMs: Math.max(clock.now() - createdAt, 0) });
      } catch (error) {
        log.error({ err: error }, 'nobody could be told about a settlement');
      }
    }
  }

  return {
    settleSent(sent, merged) {
      const at = clock.now();
      settle([{ id: sent.id, state: 'sent', at }, ...merged.map(({ id }) => ({ id, state: 'merged', at }) as const)]);
      report([sent], 'sent');
      report(merged, 'merged');
    },
    settleRetry(delivery, nextAttemptAt, error) {
      settle([{ id: delivery.id, state: 'pending', nextAttemptAt, error }]);
      report([delivery], 'retry');
    },
    settleDead(delivery, error) {
      settle([{ id: delivery.id, state: 'dead', at: clock.now(), error }]);
      report([delivery], 'dead');
    },
    payDebts() {
      if (debts.size > 0) settle([...debts.values()]);
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
