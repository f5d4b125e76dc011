import type {
  Delivery,
  DeliveryOutcome,
  PendingDelivery,
  SentMessage,
  NotifiedIncident,
} from '#monitor/judge/delivery.ts';
import type { Incident } from '#monitor/judge/incident.ts';
import type { MonitorStore } from '#monitor/store.ts';

type State = DeliveryOutcome['state'];
type Part = Pick<MonitorStore, 'dueDeliveries' | 'nextDeliveryAt' | 'claim' | 'storeOutcomes' | 'sentMessages'>;

/** The half of a `MonitorStore` that the outbox needs, in memory; it counts and can be broken on purpose. */
export class MemoryDeliveries implements Part {
  readonly states = new Map<number, State>();
  readonly outcomes: DeliveryOutcome[] = [];
  /** The message that each delivery was given to last, or null. */
  readonly messages = new Map<number, string | null>();
  /** What the other side called the message that each delivery was told by. */
  readonly references = new Map<number, string>();
  /** What `sentMessages` answers. */
  sent: readonly SentMessage[] = [];
  reads = 0;
  /** While it is set, every write throws it. */
  writeError: Error | null = null;
  /** While it is set, every read throws it. */
  readError: Error | null = null;
  readonly #deliveries = new Map<number, Delivery>();
  readonly #pending = new Set<number>();
  /** The deliveries that opened an incident, by the incident. */
  readonly #opened = new Map<string, readonly number[]>();
  readonly #incidents = new Map<string, Incident>();

  /** Stores deliveries and the incident that they are about as it is now. */
  add(incident: Incident, ...deliveries: readonly Delivery[]): void {
    this.#incidents.set(incident.id, incident);
    for (const delivery of deliveries) {
      const { id, incidentId, kind } = delivery;
      if (kind === 'opened' && !this.#deliveries.has(id)) {
        this.#opened.set(incidentId, [...(this.#opened.get(incidentId) ?? []), id]);
      }
      this.#deliveries.set(id, delivery);
      this.states.set(id, 'pending');
      this.#pending.add(id);
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
    const pending = this.#allPending();
    const addressOf = (one: Delivery) => JSON.stringify([one.channel, one.recipient]);
    const due = new Set(pending.filter(({ nextAttemptAt }) => nextAttemptAt <= now).map(addressOf));
    return pending
      .filter((delivery) => due.has(addressOf(delivery)))
      .sort((a, b) => a.createdAt - b.createdAt || a.id - b.id)
      .slice(0, limit)
      .map((delivery) => ({
        delivery,
        incident: this.#incidents.get(delivery.incidentId)!,
        message: this.messages.get(delivery.id) ?? null,
        root: this.#rootOf(delivery, this.messages),
        rootReference: this.#rootOf(delivery, this.references),
        ...this.#othersOf(delivery),
      }));
  }

  nextDeliveryAt(now: number): number | null {
    if (this.readError !== null) throw this.readError;
    const times = this.#allPending().flatMap(({ nextAttemptAt: at }) => (at > now ? [at] : []));
    return times.length === 0 ? null : Math.min(...times);
  }

  claim(message: string, ids: readonly number[]): void {
    if (this.writeError !== null) throw this.writeError;
    for (const id of ids) this.messages.set(id, message);
  }

  notifiedAndOpen(channel: string): readonly NotifiedIncident[] {
    return [...this.#deliveries.values()].flatMap((delivery) => {
      const incident = this.#incidents.get(delivery.incidentId)!;
      const isTold = delivery.kind === 'opened' && this.states.get(delivery.id) === 'sent';
      const { recipient } = delivery;
      return delivery.channel === channel && isTold && incident.endedAt === null ? [{ recipient, incident }] : [];
    });
  }

  sentMessages(): readonly SentMessage[] {
    return this.sent;
  }

  storeOutcomes(outcomes: readonly DeliveryOutcome[]): void {
    if (this.writeError !== null) throw this.writeError;
    for (const outcome of outcomes) {
      const delivery = this.get(outcome.id);
      if (this.states.get(outcome.id) !== 'pending') throw new Error(`delivery ${outcome.id} is settled already`);
      this.outcomes.push(outcome);
      this.states.set(outcome.id, outcome.state);
      if (outcome.state !== 'pending') this.#pending.delete(outcome.id);
      if ('reference' in outcome) this.references.set(outcome.id, outcome.reference);
      if ('message' in outcome) this.messages.set(outcome.id, outcome.message);
      const { remindAt = null } = outcome.state === 'sent' || outcome.state === 'dead' ? outcome : {};
      if (remindAt !== null) this.#remind(delivery, remindAt);
      this.#deliveries.set(outcome.id, {
        ...delivery,
        attempts: delivery.attempts + 1,
        nextAttemptAt: outcome.state === 'pending' ? outcome.nextAttemptAt : delivery.nextAttemptAt,
        lastError: 'error' in outcome ? outcome.error : delivery.lastError,
      });
    }
  }

  /** Makes a pending delivery due at once, as an operator does. */
  retry(id: number, now: number): void {
    this.#deliveries.set(id, { ...this.get(id), attempts: 0, nextAttemptAt: now });
  }

  freeId(): number {
    return Math.max(0, ...this.#deliveries.keys()) + 1;
  }

  #remind(after: Delivery, at: number): void {
    const incident = this.#incidents.get(after.incidentId)!;
    if (incident.endedAt !== null) return;
    const number = after.kind === 'reminder' ? after.number + 1 : 1;
    const times = { createdAt: at, nextAttemptAt: at, attempts: 0, lastError: null };
    this.add(incident, { ...after, ...times, id: this.freeId(), kind: 'reminder', number });
  }

  #othersOf({ incidentId, channel, recipient }: Delivery): Pick<PendingDelivery, 'unreached' | 'isKnownToOthers'> {
    const others = this.#openedOf(incidentId).filter((one) => one.channel !== channel || one.recipient !== recipient);
    return {
      unreached: others.flatMap(({ id, lastError, ...to }) =>
        lastError === null || this.states.get(id) === 'sent'
          ? []
          : [{ channel: to.channel, recipient: to.recipient, reason: lastError }],
      ),
      isKnownToOthers: others.some(({ id }) => this.states.get(id) === 'sent'),
    };
  }

  #rootOf({ incidentId, channel, recipient }: Delivery, of: ReadonlyMap<number, string | null>): string | null {
    const opened = this.#openedOf(incidentId).find((one) => one.channel === channel && one.recipient === recipient);
    return opened === undefined ? null : (of.get(opened.id) ?? null);
  }

  #openedOf(incidentId: string): readonly Delivery[] {
    return (this.#opened.get(incidentId) ?? []).map((id) => this.get(id));
  }

  #allPending(): readonly Delivery[] {
    return [...this.#pending].map((id) => this.get(id));
  }
}
