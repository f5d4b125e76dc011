import { checkOf } from '#checks/index.ts';
import type { EvidenceOccasion, EvidenceStore, GatheredEvidence } from '#history/evidence.ts';
import type { Clock } from '#kernel/clock.ts';
import { messageOf, WatchpostError } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import { type Incident, isAboutUs, type VoteLine, voteTable } from '../judge/incident.ts';
import type { Target } from '../judge/target.ts';
import type { Vote } from '../judge/vote.ts';
import {
  commonestCode,
  decideEvidence,
  delayOf,
  gatheringsByTime,
  refusalTexts,
  type EvidenceDecision,
  type EvidenceNode,
} from './decision.ts';
import type { DemandedEvidence, EvidenceCollector } from './collector.ts';
import type { EvidenceGatherer, EvidenceSettings } from './gatherer.ts';
import { createGoodGathering, type GoodGathering } from './good.ts';
import { createReferences, type References } from './references.ts';
import { candidateOf, passLimits, waitingFor, type WaitingGathering } from './waiting.ts';
import type { SharedCauses } from './shared-causes.ts';
import { chooseAcrossNetworks, inTurns, type StormCandidate, stormLimits, stormWords } from './storm.ts';

export interface EvidenceOptions {
  readonly settings: () => EvidenceSettings;
  readonly gatherer: EvidenceGatherer;
  readonly store: EvidenceStore;
  readonly sharedCauses: Pick<SharedCauses, 'examined' | 'clear'>;
  /** What the nodes saw of a target in its last round; empty if it had none since the start. */
  readonly seenNow: (target: string) => readonly VoteLine[];
  readonly openIncidents: () => readonly Incident[];
  /** Called when something was stored for an incident. */
  readonly onGathered: (incident: Incident) => void;
  readonly clock: Clock;
  readonly log: Log;
}

export function createEvidenceCollector(options: EvidenceOptions): EvidenceCollector {
  return new EvidenceEngine(options);
}

class EvidenceEngine implements EvidenceCollector {
  readonly #options: EvidenceOptions;
  readonly #stopping = new AbortController();
  /** Open incidents by target and id. */
  readonly #open = new Map<string, Map<string, Incident>>();
  readonly #waiting = new Map<string, WaitingGathering>();
  readonly #busy = new Map<string, Promise<unknown>>();
  /** How much each node gathers now. */
  readonly #loads = new Map<string, number>();
  readonly #begun: (StormCandidate & { readonly at: number })[] = [];
  readonly #complained = new Set<string>();
  readonly #good: GoodGathering;
  readonly #references: References;
  #timer: Disposable | null = null;

  constructor(options: EvidenceOptions) {
    this.#options = options;
    this.#good = createGoodGathering({
      ...options,
      isBusy: (node) => (this.#loads.get(node) ?? 0) > 0,
      signal: this.#stopping.signal,
    });
    const { settings } = options;
    this.#references = createReferences((target) => settings().targetOf(target.name) === target, settings);
  }

  incidentsChanged(incidents: readonly Incident[]): void {
    for (const incident of incidents) {
      if (isAboutUs(incident.target)) continue;
      if (incident.endedAt === null) this.#changed(incident);
      else this.#ended(incident);
    }
  }

  roundDone(target: Target, votes: readonly Vote[], isUp: boolean): void {
    this.#references.roundDone(target, votes);
    if (isUp) return this.#good.roundDone(target, votes);
    for (const incident of this.#open.get(target.name)?.values() ?? []) {
      const lines = voteTable(votes);
      const code = commonestCode(lines);
      if (code === null || code === commonestCode(incident.votes)) continue;
      this.#enqueue(incident, 'cause_changed', lines);
    }
  }

  async gatherNow(name: string): Promise<DemandedEvidence> {
    const { settings, seenNow, openIncidents } = this.#options;
    if (settings().targetOf(name) === null) throw new WatchpostError('usage', `there is no target ${name}`);
    const about = { occasion: 'demand', incident: null, gathered: [], isLeftOut: false } as const;
    const decision = decideEvidence({ ...this.#stateOf(name), ...about, votes: seenNow(name) });
    if (decision.kind === 'refuse') throw new WatchpostError('usage', refusalTexts[decision.reason]);
    if (decision.kind === 'wait')
      throw new WatchpostError('usage', 'evidence is being gathered already; try again in a moment');
    const parts = await this.#gather(name, 'demand', decision.nodes);
    const incident = openIncidents().find(({ target }) => target === name) ?? null;
    if (incident !== null && parts.length > 0) this.#save(incident, parts);
    return { target: name, incident: incident?.id ?? null, parts };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort(new Error('the monitor is stopping'));
    this.#timer?.[Symbol.dispose]();
    this.#waiting.clear();
    await Promise.allSettled([...this.#busy.values(), this.#good.idle()]);
  }

  #changed(incident: Incident): void {
    const { id, target, held, votes } = incident;
    const known = this.#open.get(target) ?? new Map<string, Incident>();
    const before = known.get(id);
    if (before === undefined || before.held !== held) this.#enqueue(incident, 'opened', votes);
    this.#open.set(target, known.set(id, incident));
  }

  #ended(incident: Incident): void {
    const { id, target, closing, closingVotes } = incident;
    const known = this.#open.get(target);
    known?.delete(id);
    if (known?.size === 0) this.#open.delete(target);
    if (this.#open.size === 0) this.#options.sharedCauses.clear();
    this.#complained.delete(id);
    // What nodes see from now on is about another time, or another outage.
    for (const occasion of ['opened', 'cause_changed']) this.#waiting.delete(`${id}\n${occasion}`);
    if (closing === 'recovered') this.#enqueue(incident, 'ended', closingVotes ?? []);
  }

  #wake(ms: number): void {
    if (!this.#stopping.signal.aborted) this.#timer ??= this.#options.clock.after(ms, () => this.#pass());
  }

  // A node has a place again.
  #hasten(): void {
    if (this.#waiting.size === 0) return;
    this.#timer?.[Symbol.dispose]();
    this.#timer = null;
    this.#wake(passLimits.soonMs);
  }

  #enqueue(incident: Incident, occasion: EvidenceOccasion, votes: readonly VoteLine[]): void {
    const { clock } = this.#options;
    this.#waiting.set(`${incident.id}\n${occasion}`, waitingFor(incident, occasion, votes, clock));
    this.#wake(passLimits.settleMs);
  }

  #pass(): void {
    this.#timer = null;
    const leftOut = this.#leftOut();
    let left: number = passLimits.mostAtOnce;
    const waiting = [...this.#waiting];
    for (const [key, one] of inTurns(waiting, ([, { network }]) => network, this.#begun)) {
      if (left === 0) break;
      const isLeftOut = leftOut.targets.has(one.incident.target);
      if (!isLeftOut && this.#mustWait(one)) continue;
      left -= 1;
      const decision = this.#decide(one, isLeftOut);
      if (decision.kind === 'wait') continue;
      this.#waiting.delete(key);
      if (decision.kind === 'gather') void this.#gatherFor(one, decision.nodes);
      else if (decision.reason === 'storm' && one.occasion === 'opened') this.#note(one, leftOut.words);
    }
    if (this.#waiting.size > 0) this.#wake(left === 0 ? passLimits.soonMs : passLimits.againMs);
  }

  #mustWait({ incident: { target }, occasion, votes }: WaitingGathering): boolean {
    const nodes = this.#options.gatherer.nodes();
    return delayOf({ votes, nodes, occasion, isBusy: this.#busy.has(target), loads: this.#loads }) !== null;
  }

  #decide(one: WaitingGathering, isLeftOut: boolean): EvidenceDecision {
    try {
      const gathered = gatheringsByTime(this.#options.store.evidenceOf(one.incident.id));
      return decideEvidence({ ...this.#stateOf(one.incident.target), ...one, now: one.now(), isLeftOut, gathered });
    } catch (error) {
      this.#complain(one.incident, error);
      return { kind: 'refuse', reason: 'already_gathered' };
    }
  }

  #stateOf(name: string) {
    const { settings, gatherer, clock } = this.#options;
    const inForce = settings();
    const target = inForce.targetOf(name);
    return {
      now: clock.now(),
      target: name,
      isEnabled: target !== null && inForce.isEnabled(name),
      isHeartbeat: target !== null && checkOf(target.spec.type).heard !== null,
      isBusy: this.#busy.has(name),
      loads: this.#loads,
      nodes: gatherer.nodes(),
    };
  }

  // Which targets are not looked at because too many fail together, and how that is said.
  #leftOut(): { readonly targets: ReadonlySet<string>; readonly words: string } {
    const since = this.#options.clock.now() - stormLimits.togetherMs;
    const isRecent = (all: ReadonlyMap<string, Incident>) => [...all.values()].some(({ openedAt }) => openedAt > since);
    const failing = [...this.#open.values()].filter(isRecent).length;
    while ((this.#begun[0]?.at ?? Infinity) <= since) this.#begun.shift();
    if (failing <= stormLimits.targets) return { targets: new Set(), words: '' };
    const candidates = [...this.#waiting.values()].map(candidateOf);
    const chosen = chooseAcrossNetworks(candidates, this.#begun);
    const targets = new Set(candidates.flatMap(({ target }) => (chosen.has(target) ? [] : [target])));
    return { targets, words: stormWords(failing) };
  }

  async #gatherFor(one: WaitingGathering, nodes: readonly EvidenceNode[]): Promise<void> {
    const { incident, occasion } = one;
    if (occasion !== 'ended') this.#begun.push({ at: this.#options.clock.now(), ...candidateOf(one) });
    try {
      const parts = await this.#gather(incident.target, occasion, nodes);
      if (parts.length > 0) this.#save(incident, parts);
      if (occasion !== 'ended') this.#options.sharedCauses.examined(incident, parts);
    } catch (error) {
      if (!this.#stopping.signal.aborted) this.#complain(incident, error);
    }
  }

  async #gather(
    name: string,
    occasion: EvidenceOccasion,
    nodes: readonly EvidenceNode[],
  ): Promise<readonly GatheredEvidence[]> {
    const { settings, clock } = this.#options;
    const target = settings().targetOf(name);
    if (target === null) return [];
    const at = clock.now();
    const work = Promise.all(
      nodes.map(async (node) => ({ at, occasion, ...node, ...(await this.#gatherAt(node, target)) })),
    );
    this.#busy.set(name, work);
    try {
      return await work;
    } finally {
      this.#busy.delete(name);
    }
  }

  async #gatherAt({ node, isFailing, failure }: EvidenceNode, target: Target) {
    const { name, spec } = target;
    const { gatherer, store } = this.#options;
    const loads = this.#loads;
    const references = this.#references.choose(node, target);
    loads.set(node, (loads.get(node) ?? 0) + 1);
    try {
      const result = await gatherer.gather({ spec, node, failure, references }, this.#stopping.signal);
      const lastGood = isFailing ? store.goodEvidence(name, node) : null;
      return { document: result.document, lastGood, note: result.document === null ? result.reason : null };
    } finally {
      loads.set(node, (loads.get(node) ?? 1) - 1);
      this.#hasten();
    }
  }

  #save(incident: Incident, parts: readonly GatheredEvidence[]): void {
    const { store, onGathered } = this.#options;
    store.addEvidence(incident.id, parts);
    const silent = parts.find(({ node, document }) => node !== '' && document === null);
    if (silent !== undefined) this.#complain(incident, new Error(`${silent.node}: ${silent.note}`));
    onGathered(this.#open.get(incident.target)?.get(incident.id) ?? incident);
  }

  #note({ incident, occasion }: WaitingGathering, note: string): void {
    const empty = { node: '', isFailing: false, failure: null, document: null, lastGood: null };
    try {
      this.#save(incident, [{ ...empty, at: this.#options.clock.now(), occasion, note }]);
    } catch (error) {
      this.#complain(incident, error);
    }
  }

  // Once for each incident.
  #complain({ id: incident, target }: Incident, error: unknown): void {
    if (this.#complained.has(incident)) return;
    this.#complained.add(incident);
    this.#options.log.warn({ target, incident, reason: messageOf(error) }, 'cannot gather evidence');
  }
}
