import type { Delivery, DeliverySettlement } from '#monitor/delivery.ts';
import type { Incident } from '#monitor/incident.ts';
import type { MonitorStore, PendingDelivery } from '#monitor/ports.ts';

type State = DeliverySettlement['state'];

/** The half of a `MonitorStore` that the outbox needs, in memory; it counts and can be broken on purpose. */
export class MemoryDeliveries implements Pick<MonitorStore, 'dueDeliveries' | 'nextDeliveryAt' | 'settle'> {
  readonly states = new Map<number, State>();
  readonly settlements: DeliverySettlement[] = [];
  reads = 0;
  /** While it is set, every write throws it. */
  writeError: Error | null = null;
  /** While it is set, every read throws it. */
  readError: Error | null = null;
  readonly #deliveries = new Map<number, Delivery>();
  readonly #incidents = new Map<string, Incident>();

  /** Stores deliveries and the incident that they are about as it is now. */
  add(incident: Incident, ...deliveries: readonly Delivery[]): void {
    this.#incidents.set(incident.id, incident);
    for (const delivery of deliveries) {
      this.#deliveries.set(delivery.id, delivery);
      this.states.set(delivery.id, 'pending');
    }
  }

  get(id: number): Delivery {
    const delivery = this.#deliveries.get(id);
    if (delivery === undefined) throw new RangeError(`no delivery ${id}`);
    return delivery;
  }

  dueDeliveries(now: number, limit: number): readonly PendingDelivery[] {
    this.reads += 1;
    if (this.readError !== null) throw this.readError;
    const pending = this.#pending();
    const threadOf = (one: Delivery) => JSON.stringify([one.incidentId, one.channel, one.recipient]);
    const due = new Set(pending.filter(({ nextAttemptAt }) => nextAttemptAt <= now).map(threadOf));
    return pending
      .filter((delivery) => due.has(threadOf(delivery)))
      .sort((a, b) => a.createdAt - b.createdAt || a.id - b.id)
      .slice(0, limit)
      .map((delivery) => ({ delivery, incident: this.#incidents.get(delivery.incidentId)! }));
  }

  nextDeliveryAt(): number | null {
    if (this.readError !== null) throw this.readError;
    const times = this.#pending().map(({ nextAttemptAt }) => nextAttemptAt);
    return times.length === 0 ? null : Math.min(...times);
  }

  settle(settlements: readonly DeliverySettlement[]): void {
    if (this.writeError !== null) throw this.writeError;
    for (const settlement of settlements) {
      const delivery = this.get(settlement.id);
      if (this.states.get(settlement.id) !== 'pending') throw new Error(`delivery ${settlement.id} is settled already`);
      this.settlements.push(settlement);
      this.states.set(settlement.id, settlement.state);
      this.#deliveries.set(settlement.id, {
        ...delivery,
        attempts: delivery.attempts + 1,
        nextAttemptAt: settlement.state === 'pending' ? settlement.nextAttemptAt : delivery.nextAttemptAt,
        lastError: 'error' in settlement ? settlement.error : delivery.lastError,
      });
    }
  }

  #pending(): readonly Delivery[] {
    return [...this.#deliveries.values()].filter(({ id }) => this.states.get(id) === 'pending');
  }
}
