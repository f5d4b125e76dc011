import { isDeepStrictEqual } from 'node:util';
import { follow, type Spell } from '#history/spells.ts';
import type { Silence } from '#monitor/doubt/silence.ts';
import type { Delivery, DeliveryCount, ListedDelivery } from '#monitor/judge/delivery.ts';
import type { Heard } from '#monitor/judge/heard.ts';
import type { Incident } from '#monitor/judge/incident.ts';
import type { RoundRecord, StoredSuccess, StoredTarget } from '#monitor/judge/round-record.ts';
import type { RuleState } from '#monitor/judge/rule-state.ts';
import type { MonitorStore } from '#monitor/store.ts';
import { MemoryDeliveries } from './memory-deliveries.ts';

/** A `MonitorStore` in memory: what it gives back went through JSON, as what comes from a database does. */
export class MemoryStore extends MemoryDeliveries implements MonitorStore {
  readonly records: RoundRecord[] = [];
  readonly deliveries: Delivery[] = [];
  readonly incidents = new Map<string, Incident>();
  readonly #silences = new Map<string, Silence>();
  /** The votes of every round that has some, by target and time. */
  readonly #votes = new Map<string, RoundRecord['votes']>();
  readonly #states = new Map<string, RuleState>();
  readonly #heard = new Map<string, Heard>();
  readonly #told = new Set<string>();

  load(): readonly StoredTarget[] {
    const stored = new Map<
      string,
      { target: string; states: RuleState[]; openIncidents: Incident[]; heard: Heard | null }
    >();
    const entry = (target: string) => {
      const known = stored.get(target) ?? { target, states: [], openIncidents: [], heard: null };
      stored.set(target, known);
      return known;
    };
    for (const state of this.#states.values()) entry(state.target).states.push(throughJson(state));
    for (const incident of this.incidents.values()) {
      if (incident.endedAt === null) entry(incident.target).openIncidents.push(throughJson(incident));
    }
    for (const [target, heard] of this.#heard) entry(target).heard = throughJson(heard);
    return [...stored.values()];
  }

  recentSuccesses(since: number, targets: ReadonlySet<string>): readonly StoredSuccess[] {
    return this.records
      .filter(({ target, dueAt }) => dueAt >= since && targets.has(target))
      .flatMap(({ target, dueAt, votes }) =>
        votes.flatMap(({ node, outcome }) =>
          outcome.status === 'up' && outcome.seconds !== null
            ? [{ target, dueAt, node: node.name, seconds: outcome.seconds }]
            : [],
        ),
      );
  }

  spells(_since: number, targets: ReadonlySet<string>): readonly { target: string; spells: readonly Spell[] }[] {
    return [...targets].map((target) => {
      const spells: Spell[] = [];
      for (const { dueAt, verdict } of this.records.filter((record) => record.target === target)) {
        const next = verdict === undefined ? null : follow(spells.at(-1) ?? null, dueAt, verdict);
        if (next === null) continue;
        if (next.from === spells.at(-1)?.from) spells.pop();
        spells.push(next);
      }
      return { target, spells };
    });
  }

  silences(now: number): readonly Silence[] {
    return [...this.#silences.values()].filter(({ until }) => until > now);
  }

  saveSilence(silence: Silence): void {
    this.#silences.set(silence.id, throughJson(silence));
  }

  async record(round: RoundRecord): Promise<'stored' | 'duplicate'> {
    if (this.writeError !== null) throw this.writeError;
    const isThere = this.#isThere(round);
    if (!isThere) this.#keep(round);
    if (round.heard === null) this.#heard.delete(round.target);
    else if (round.heard !== undefined) this.#heard.set(round.target, round.heard);
    for (const state of round.states) this.#states.set(`${state.target} ${state.rule}`, state);
    for (const incident of round.incidents) {
      this.incidents.set(incident.id, incident);
      this.add(incident);
    }
    for (const delivery of round.deliveries) this.#addDelivery(delivery);
    return isThere ? 'duplicate' : 'stored';
  }

  listDeliveries(): readonly ListedDelivery[] {
    return this.deliveries.map((delivery) => ({
      ...delivery,
      target: this.incidents.get(delivery.incidentId)?.target ?? '',
      state: this.states.get(delivery.id) ?? 'pending',
      settledAt: null,
      message: this.messages.get(delivery.id) ?? null,
      reference: this.references.get(delivery.id) ?? null,
    }));
  }

  retryDeliveries(): number {
    return 0;
  }

  deliveryCounts(): readonly DeliveryCount[] {
    const pending = this.deliveries.filter(({ id }) => this.states.get(id) === 'pending');
    const oldestAt = pending.length === 0 ? null : Math.min(...pending.map(({ createdAt }) => createdAt));
    return [{ channel: 'email', pending: pending.length, oldestAt }];
  }

  #isThere({ target, dueAt, votes }: RoundRecord): boolean {
    return votes.length > 0 && isDeepStrictEqual(this.#votes.get(`${target} ${dueAt}`), votes);
  }

  #keep(round: RoundRecord): void {
    const { target, votes } = round;
    let { dueAt } = round;
    while (votes.length > 0 && this.#votes.has(`${target} ${dueAt}`)) dueAt += 1;
    if (votes.length > 0) this.#votes.set(`${target} ${dueAt}`, votes);
    this.records.push({ ...round, dueAt });
  }

  #addDelivery(delivery: Delivery): void {
    const { incidentId, kind, number, channel, recipient } = delivery;
    const once = JSON.stringify([incidentId, kind, number, channel, recipient]);
    const incident = this.incidents.get(incidentId);
    if (incident === undefined) throw new Error(`a delivery is about ${incidentId}, which was never stored`);
    if (this.#told.has(once)) return;
    this.#told.add(once);
    const stored = { ...delivery, id: this.freeId() };
    this.deliveries.push(stored);
    this.add(incident, stored);
  }
}

function throughJson<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value)) as Value;
}
