import { isDeepStrictEqual } from 'node:util';
import { follow, type VerdictPeriod } from '#history/verdict-periods.ts';
import type { Silence } from '#monitor/suppress/silence.ts';
import type { Delivery, DeliveryCount, ListedDelivery } from '#monitor/judge/delivery.ts';
import type { HeartbeatState } from '#monitor/judge/heard.ts';
import type { Incident } from '#monitor/judge/incident.ts';
import type { LateVote, RoundRecord, StoredSuccess, StoredTarget } from '#monitor/judge/round-record.ts';
import type { RuleState } from '#monitor/judge/rule-state.ts';
import type { Vote } from '#monitor/judge/vote.ts';
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
  readonly #heard = new Map<string, HeartbeatState>();
  readonly #specs = new Map<string, string>();
  readonly #told = new Set<string>();

  load(): readonly StoredTarget[] {
    const stored = new Map<
      string,
      { target: string; states: RuleState[]; openIncidents: Incident[]; heard: HeartbeatState | null }
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

  checkedSpecs(targets: ReadonlySet<string>): ReadonlyMap<string, string> {
    return new Map([...this.#specs].filter(([name]) => targets.has(name)));
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

  periods(
    _since: number,
    targets: ReadonlySet<string>,
  ): readonly { target: string; periods: readonly VerdictPeriod[] }[] {
    return [...targets].map((target) => {
      const periods: VerdictPeriod[] = [];
      const records = this.records.filter((record) => record.target === target);
      for (const { dueAt, verdict } of records.toSorted((a, b) => a.dueAt - b.dueAt)) {
        const next = verdict === undefined ? null : follow(periods.at(-1) ?? null, dueAt, verdict);
        if (next === null) continue;
        if (next.from === periods.at(-1)?.from) periods.pop();
        periods.push(next);
      }
      return { target, periods };
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
    if (round.revisedAt !== undefined) this.#revise(round);
    else if (!isThere) this.#keep(round);
    if (round.spec !== undefined) this.#specs.set(round.target, round.spec);
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

  flush(): void {
    // Every round is stored when it is recorded.
  }

  /** A vote that came when its round was over: see `Store.recordLate`. */
  recordLate({ target, dueAt, vote, verdictOf }: LateVote): 'stored' | 'revised' {
    const known = this.#roundOf(target, dueAt);
    const isGiven = known?.votes.some(
      ({ node, outcome }) => node.name === vote.node.name && outcome.status !== 'unknown',
    );
    if (isGiven === true) return 'stored';
    const others = (known?.votes ?? []).filter(({ node }) => node.name !== vote.node.name);
    const votes = [...others, vote];
    const hadVerdict = known?.verdict !== undefined && known.verdict.status !== 'unknown';
    const verdict = hadVerdict ? null : (verdictOf?.(votes.map(({ outcome }) => outcome.status)) ?? null);
    const plain = { target, dueAt, states: [], incidents: [], deliveries: [] };
    const next = { ...(known ?? plain), votes, ...(verdict !== null && { verdict }) };
    this.#votes.set(`${target} ${dueAt}`, votes);
    if (known === undefined) this.records.push(next);
    else this.records[this.records.indexOf(known)] = next;
    return verdict === null ? 'stored' : 'revised';
  }

  #roundOf(target: string, dueAt: number): RoundRecord | undefined {
    return this.records.find((one) => one.target === target && one.dueAt === dueAt && one.votes.length > 0);
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

  // A missing answer gives way to what came later.
  #revise(round: RoundRecord): void {
    const { target, dueAt, verdict } = round;
    const before = this.#roundOf(target, dueAt);
    if (before === undefined) return this.#keep(round);
    const isGiven = ({ outcome }: Vote) => outcome.status !== 'unknown';
    const votes = before.votes.map(
      (vote) => round.votes.find((one) => one.node.name === vote.node.name && isGiven(one)) ?? vote,
    );
    const hadVerdict = before.verdict !== undefined && before.verdict.status !== 'unknown';
    this.#votes.set(`${target} ${dueAt}`, votes);
    this.records[this.records.indexOf(before)] = {
      ...before,
      votes,
      ...(!hadVerdict && verdict !== undefined && { verdict }),
    };
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
