import { checkOf } from '#checks/index.ts';
import type { EvidenceOccasion, EvidenceStore, GatheredEvidence } from '#history/evidence.ts';
import type { Clock } from '#kernel/clock.ts';
import { messageOf, WatchpostError } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import { type Incident, isAboutUs, type VoteLine, voteTable } from '../judge/incident.ts';
import type { Target } from '../judge/target.ts';
import type { Vote } from '../judge/vote.ts';
import { commonestCode, decideEvidence, type EvidenceNode, type EvidenceRefusal } from './decision.ts';
import type { EvidenceGatherer, EvidenceSettings } from './gatherer.ts';
import { createGoodGathering } from './good.ts';
import { chooseAcrossNetworks, networkOf, type StormCandidate, stormLimits } from './storm.ts';

export interface EvidenceOptions {
  readonly settings: () => EvidenceSettings;
  readonly gatherer: EvidenceGatherer;
  readonly store: EvidenceStore;
  /** What the nodes saw of a target in its last round; empty if it had none since the start. */
  readonly seenNow: (target: string) => readonly VoteLine[];
  readonly openIncidents: () => readonly Incident[];
  /** Called when something was stored for an incident. */
  readonly onGathered: (incident: Incident) => void;
  readonly clock: Clock;
  readonly log: Log;
}

/** What an operator asked for. */
export interface DemandedEvidence {
  readonly target: string;
  /** The incident that it is stored with; null if none is open, and then it is not stored. */
  readonly incident: string | null;
  readonly parts: readonly GatheredEvidence[];
}

/** Has nodes gather evidence of incidents, beside all else: nothing waits for it. */
export interface EvidenceGathering extends AsyncDisposable {
  /** To be called with incidents that opened, changed or ended, after they were stored. */
  incidentsChanged(incidents: readonly Incident[]): void;
  /** To be called with each round. */
  roundDone(target: Target, votes: readonly Vote[], isUp: boolean): void;
  /** Gathers now. Throws `usage` if it cannot be done. */
  gatherNow(target: string): Promise<DemandedEvidence>;
}

interface WaitingGathering {
  readonly incident: Incident;
  readonly occasion: EvidenceOccasion;
  readonly votes: readonly VoteLine[];
}

// Incidents that open within it are seen together; messages wait longer for their like.
const settleMs = 1_000;
const againMs = 2_000;

const refusals: Readonly<Record<EvidenceRefusal, string>> = {
  disabled: 'evidence is disabled for this target: see "evidence" in the configuration',
  own_incident: 'no evidence is gathered about Watchpost itself',
  heartbeat: 'this target sends heartbeats: nodes do not check it',
  foreign_service: 'another check service runs the checks (service.url): evidence is not available',
  suppressed: 'its notifications are suppressed',
  already_gathered: 'evidence was gathered already',
  too_late: 'the incident began too long ago',
  too_short: 'the incident was short',
  not_failing: 'no online node has seen this target lately',
  storm: 'too many targets fail together',
};

export function createEvidenceGathering(options: EvidenceOptions): EvidenceGathering {
  const { settings, gatherer, store, clock, log, seenNow } = options;
  const stopping = new AbortController();
  // Open incidents by target and id.
  const open = new Map<string, Map<string, Incident>>();
  const waiting = new Map<string, WaitingGathering>();
  const busy = new Map<string, Promise<unknown>>();
  const loads = new Map<string, number>();
  const begun: (StormCandidate & { readonly at: number })[] = [];
  const complained = new Set<string>();
  const good = createGoodGathering({ ...options, signal: stopping.signal });
  let timer: Disposable | null = null;

  function wake(ms: number): void {
    if (!stopping.signal.aborted) timer ??= clock.after(ms, pass);
  }

  function enqueue(incident: Incident, occasion: EvidenceOccasion, votes: readonly VoteLine[]): void {
    const key = `${incident.id}\n${occasion}`;
    waiting.set(key, { incident, occasion, votes });
    wake(settleMs);
  }

  function pass(): void {
    timer = null;
    const leftOut = leftOutOf([...waiting.values()]);
    for (const [key, one] of waiting) {
      const { incident, occasion, votes } = one;
      const { kind, ...decided } = decide(one, leftOut.targets.has(incident.target));
      if (kind === 'wait') continue;
      waiting.delete(key);
      if ('nodes' in decided) void gatherFor(incident, occasion, votes, decided.nodes);
      else if ('reason' in decided && decided.reason === 'storm' && occasion === 'opened')
        note(incident, occasion, leftOut.words);
    }
    if (waiting.size > 0) wake(againMs);
  }

  function decide({ incident, occasion, votes }: WaitingGathering, isLeftOut: boolean) {
    try {
      const gathered = store.evidenceOf(incident.id);
      return decideEvidence({
        ...stateOf(incident.target),
        occasion,
        incident,
        votes,
        isLeftOut,
        gathered: byTime(gathered),
      });
    } catch (error) {
      complain(incident, error);
      return { kind: 'refuse', reason: 'disabled' } as const;
    }
  }

  function stateOf(name: string) {
    const inForce = settings();
    const target = inForce.targetOf(name);
    return {
      now: clock.now(),
      target: name,
      isEnabled: target !== null && inForce.isEnabled(name),
      isHeartbeat: target !== null && checkOf(target.spec.type).heard !== null,
      isBusy: busy.has(name),
      loads,
      nodes: gatherer.nodes(),
    };
  }

  function leftOutOf(all: readonly WaitingGathering[]) {
    const since = clock.now() - stormLimits.togetherMs;
    const recent = [...open.values()].filter((all) => [...all.values()].some(({ openedAt }) => openedAt > since));
    const failing = recent.length;
    while ((begun[0]?.at ?? Infinity) <= since) begun.shift();
    if (failing <= stormLimits.targets) return { targets: new Set<string>(), words: '' };
    const candidates = all.map(({ incident: { target }, votes }) => ({ target, network: networkOf(votes, target) }));
    const chosen = chooseAcrossNetworks(candidates, begun);
    const targets = new Set(candidates.flatMap(({ target }) => (chosen.has(target) ? [] : [target])));
    const words = `No evidence was gathered here: ${failing} targets fail together, and others were chosen.`;
    return { targets, words };
  }

  async function gatherFor(
    incident: Incident,
    occasion: EvidenceOccasion,
    votes: readonly VoteLine[],
    nodes: readonly EvidenceNode[],
  ): Promise<void> {
    const { target } = incident;
    if (occasion !== 'ended') begun.push({ at: clock.now(), target, network: networkOf(votes, target) });
    try {
      const parts = await gather(target, occasion, nodes);
      if (parts.length > 0) save(incident, parts);
    } catch (error) {
      if (!stopping.signal.aborted) complain(incident, error);
    }
  }

  async function gather(
    name: string,
    occasion: EvidenceOccasion,
    nodes: readonly EvidenceNode[],
  ): Promise<readonly GatheredEvidence[]> {
    const target = settings().targetOf(name);
    if (target === null) return [];
    const at = clock.now();
    const work = Promise.all(
      nodes.map(async ({ node, isFailing, failure }): Promise<GatheredEvidence> => {
        loads.set(node, (loads.get(node) ?? 0) + 1);
        try {
          const result = await gatherer.gather({ spec: target.spec, node, failure }, stopping.signal);
          const note = result.document === null ? result.reason : null;
          const lastGood = isFailing ? store.goodEvidence(name, node) : null;
          return { at, occasion, node, isFailing, failure, document: result.document, lastGood, note };
        } finally {
          loads.set(node, (loads.get(node) ?? 1) - 1);
        }
      }),
    );
    busy.set(name, work);
    try {
      return await work;
    } finally {
      busy.delete(name);
    }
  }

  function save(incident: Incident, parts: readonly GatheredEvidence[]): void {
    store.addEvidence(incident.id, parts);
    const silent = parts.find(({ node, document }) => node !== '' && document === null);
    if (silent !== undefined) complain(incident, new Error(`${silent.node}: ${silent.note}`));
    options.onGathered(open.get(incident.target)?.get(incident.id) ?? incident);
  }

  function note(incident: Incident, occasion: EvidenceOccasion, words: string): void {
    const empty = { node: '', isFailing: false, failure: null, document: null, lastGood: null };
    try {
      save(incident, [{ ...empty, at: clock.now(), occasion, note: words }]);
    } catch (error) {
      complain(incident, error);
    }
  }

  // Once for each incident.
  function complain({ id: incident, target }: Incident, error: unknown): void {
    if (complained.has(incident)) return;
    complained.add(incident);
    log.warn({ target, incident, reason: messageOf(error) }, 'cannot gather evidence');
  }

  return {
    incidentsChanged(incidents) {
      for (const incident of incidents) {
        const { id, target, endedAt, closing } = incident;
        if (isAboutUs(target)) continue;
        const known = open.get(target) ?? new Map<string, Incident>();
        if (endedAt === null) {
          const before = known.get(id);
          if (before === undefined || before.held !== incident.held) enqueue(incident, 'opened', incident.votes);
          open.set(target, known.set(id, incident));
          continue;
        }
        known.delete(id);
        if (known.size === 0) open.delete(target);
        complained.delete(id);
        if (closing === 'recovered') enqueue(incident, 'ended', incident.closingVotes ?? []);
      }
    },
    roundDone(target, votes, isUp) {
      if (isUp) return good.roundDone(target, votes);
      for (const incident of open.get(target.name)?.values() ?? []) {
        const lines = voteTable(votes);
        const code = commonestCode(lines);
        if (code === null || code === commonestCode(incident.votes)) continue;
        enqueue(incident, 'cause_changed', lines);
      }
    },
    async gatherNow(name) {
      const votes = seenNow(name);
      const question = {
        ...stateOf(name),
        occasion: 'demand',
        incident: null,
        votes,
        gathered: [],
        isLeftOut: false,
      } as const;
      if (settings().targetOf(name) === null) throw new WatchpostError('usage', `there is no target ${name}`);
      const decision = decideEvidence(question);
      if (decision.kind === 'refuse') throw new WatchpostError('usage', refusals[decision.reason]);
      if (decision.kind === 'wait')
        throw new WatchpostError('usage', 'evidence is being gathered already; try again in a moment');
      const parts = await gather(name, 'demand', decision.nodes);
      const incident = options.openIncidents().find(({ target }) => target === name) ?? null;
      if (incident !== null && parts.length > 0) save(incident, parts);
      return { target: name, incident: incident?.id ?? null, parts };
    },
    async [Symbol.asyncDispose]() {
      stopping.abort(new Error('the monitor is stopping'));
      timer?.[Symbol.dispose]();
      waiting.clear();
      await Promise.allSettled([...busy.values(), good.idle()]);
    },
  };
}

function byTime(gathered: readonly GatheredEvidence[]) {
  return [...Map.groupBy(gathered, ({ at }) => at).values()].flatMap((parts) => {
    const [first] = parts;
    const codes = parts.flatMap(({ failure }) => failure ?? []);
    return first === undefined ? [] : [{ occasion: first.occasion, codes }];
  });
}
