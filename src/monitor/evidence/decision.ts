import type { FailureCode } from '#checks/index.ts';
import type { EvidenceOccasion, GatheredEvidence } from '#history/evidence.ts';
import { type Incident, isAboutUs, isOwnVote, type VoteLine } from '../judge/incident.ts';

/** How much is gathered, and when. */
const evidenceLimits = {
  failingNodes: 3,
  healthyNodes: 1,
  /** How many gatherings a node does at the same time: as many as it has places for. */
  perNode: 2,
  /** How long an incident lasts whose end is looked at too, in milliseconds. */
  longMs: 3_600_000,
  /** How old an incident may be whose beginning is looked at, in milliseconds. */
  freshMs: 600_000,
  /** How many gatherings an incident has. */
  perIncident: 10,
} as const;

/** Why nothing is gathered. */
export type EvidenceRefusal =
  | 'disabled'
  | 'own_incident'
  | 'heartbeat'
  | 'foreign_service'
  | 'suppressed'
  | 'already_gathered'
  | 'too_late'
  | 'too_short'
  | 'not_failing'
  | 'storm';

/** The same in words, for an operator who asked. */
export const refusalTexts: Readonly<Record<EvidenceRefusal, string>> = {
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

/** Why it has to wait. */
export type EvidenceDelay = 'target_busy' | 'node_busy';

export interface EvidenceNode {
  readonly node: string;
  readonly isFailing: boolean;
  readonly failure: FailureCode | null;
}

export type EvidenceDecision =
  | { readonly kind: 'gather'; readonly nodes: readonly EvidenceNode[] }
  | { readonly kind: 'wait'; readonly reason: EvidenceDelay }
  | { readonly kind: 'refuse'; readonly reason: EvidenceRefusal };

/** Everything that decides whether evidence is gathered. Times are milliseconds since the epoch. */
export interface EvidenceQuestion {
  readonly now: number;
  readonly occasion: EvidenceOccasion;
  readonly target: string;
  /** Null if an operator asks about a target without one. */
  readonly incident: Pick<Incident, 'startedAt' | 'openedAt' | 'endedAt' | 'held'> | null;
  /** What the nodes saw last. */
  readonly votes: readonly VoteLine[];
  readonly isEnabled: boolean;
  readonly isHeartbeat: boolean;
  /** Of this incident, the oldest first. */
  readonly gathered: readonly { readonly occasion: EvidenceOccasion; readonly codes: readonly FailureCode[] }[];
  /** Whether something is being gathered about the target. */
  readonly isBusy: boolean;
  /** How much each node gathers now. */
  readonly loads: ReadonlyMap<string, number>;
  /** Names of the nodes that can be asked; null if another check service runs the checks. */
  readonly nodes: readonly string[] | null;
  /** Whether too many targets fail together, and this one was not chosen. */
  readonly isLeftOut: boolean;
}

/** Whether evidence is gathered now, and at which nodes. */
export function decideEvidence(question: EvidenceQuestion): EvidenceDecision {
  const { isLeftOut, occasion } = question;
  const refuse = (reason: EvidenceRefusal): EvidenceDecision => ({ kind: 'refuse', reason });
  const refusal = refusalOf(question);
  if (refusal !== null) return refuse(refusal);
  const candidates = nodesFor(question);
  if (candidates.length === 0) return refuse('not_failing');
  if (isLeftOut && occasion !== 'demand') return refuse('storm');
  const delay = delayOf(question);
  if (delay !== null) return { kind: 'wait', reason: delay };
  return { kind: 'gather', nodes: candidates };
}

/** Why evidence has to wait, unless it is refused; null if it can be gathered now. Takes less than a decision, which needs what is stored. */
export function delayOf(
  question: Pick<EvidenceQuestion, 'votes' | 'nodes' | 'occasion' | 'isBusy' | 'loads'>,
): EvidenceDelay | null {
  if (question.isBusy) return 'target_busy';
  // What one node sees shows little without the others, and it is asked once.
  const isFull = ({ node }: EvidenceNode) => (question.loads.get(node) ?? 0) >= evidenceLimits.perNode;
  return nodesFor(question).some(isFull) ? 'node_busy' : null;
}

function refusalOf(question: EvidenceQuestion): EvidenceRefusal | null {
  const { occasion, target, incident, isEnabled, isHeartbeat, nodes } = question;
  if (isAboutUs(target)) return 'own_incident';
  if (isHeartbeat) return 'heartbeat';
  if (nodes === null) return 'foreign_service';
  if (!isEnabled) return 'disabled';
  if (occasion === 'demand' || incident === null) return null;
  if (isOursToBlame(incident)) return 'suppressed';
  return refusalByHistory(question, incident);
}

// What maintenance breaks, or a doubt about ourselves, has its cause already.
function isOursToBlame({ held }: Pick<Incident, 'held'>): boolean {
  return held !== null && ['maintenance', 'connectivity', 'service'].includes(held.by);
}

function refusalByHistory(
  { occasion, gathered, now, votes }: EvidenceQuestion,
  { openedAt, startedAt, endedAt }: NonNullable<EvidenceQuestion['incident']>,
): EvidenceRefusal | null {
  if (gathered.length >= evidenceLimits.perIncident) return 'already_gathered';
  const has = (one: EvidenceOccasion) => gathered.some((gathering) => gathering.occasion === one);
  switch (occasion) {
    case 'opened':
      if (has('opened')) return 'already_gathered';
      return endedAt !== null || now - openedAt > evidenceLimits.freshMs ? 'too_late' : null;
    case 'cause_changed': {
      const code = commonestCode(votes);
      if (endedAt !== null || code === null || gathered.length === 0) return 'not_failing';
      // What nodes see of an outage goes to and fro.
      return gathered.some(({ codes }) => codes.includes(code)) ? 'already_gathered' : null;
    }
    case 'ended':
      if (has('ended')) return 'already_gathered';
      if (endedAt === null || gathered.length === 0) return 'not_failing';
      return endedAt - startedAt <= evidenceLimits.longMs ? 'too_short' : null;
    case 'demand':
      return null;
  }
}

function nodesFor({
  votes,
  nodes,
  occasion,
}: Pick<EvidenceQuestion, 'votes' | 'nodes' | 'occasion'>): readonly EvidenceNode[] {
  const able = votes.filter((vote) => !isOwnVote(vote) && nodes?.includes(vote.node) === true);
  // What is new first.
  const news = occasion === 'cause_changed' ? commonestCode(votes) : null;
  const isNews = ({ code }: VoteLine) => news !== null && code === news;
  const failing = able
    .filter(({ status }) => status === 'down')
    .toSorted((a, b) => Number(isNews(b)) - Number(isNews(a)))
    .slice(0, evidenceLimits.failingNodes);
  const healthy = able.filter(({ status }) => status === 'up');
  const isAboutHealth = occasion === 'ended' || (occasion === 'demand' && failing.length === 0);
  if (!isAboutHealth && failing.length === 0) return [];
  const shown = healthy.slice(0, isAboutHealth ? evidenceLimits.failingNodes : evidenceLimits.healthyNodes);
  return [
    ...(occasion === 'ended' ? [] : failing).map(({ node, code }) => ({ node, isFailing: true, failure: code })),
    ...shown.map(({ node }) => ({ node, isFailing: false, failure: null })),
  ];
}

/** The failure that most failing nodes saw, the first of them if several are as common; null if none is known. */
export function commonestCode(votes: readonly Pick<VoteLine, 'status' | 'code'>[]): FailureCode | null {
  const counts = new Map<FailureCode, number>();
  for (const { status, code } of votes)
    if (status === 'down' && code !== null) counts.set(code, (counts.get(code) ?? 0) + 1);
  const most = Math.max(0, ...counts.values());
  return [...counts].find(([, count]) => count === most)?.[0] ?? null;
}

/** The gatherings of an incident, as a question has them. */
export function gatheringsByTime(gathered: readonly GatheredEvidence[]): EvidenceQuestion['gathered'] {
  return [...Map.groupBy(gathered, ({ at }) => at).values()].flatMap((parts) => {
    const [first] = parts;
    const codes = parts.flatMap(({ failure }) => failure ?? []);
    return first === undefined ? [] : [{ occasion: first.occasion, codes }];
  });
}
