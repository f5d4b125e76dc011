import type { EvidenceOccasion } from '#history/evidence.ts';
import type { Clock } from '#kernel/clock.ts';
import type { Incident, VoteLine } from '../judge/incident.ts';
import { networkOf, type StormCandidate } from './storm.ts';

/** What is to be gathered about an incident once nodes have a place for it. */
export interface WaitingGathering {
  readonly incident: Incident;
  readonly occasion: EvidenceOccasion;
  readonly votes: readonly VoteLine[];
  readonly network: string;
  /** The time now, as if the wall clock was not set since: that must not make an incident older. */
  readonly now: () => number;
}

/** When it is looked at what waits, and how much of it at once. */
export const passLimits = {
  /** Incidents that open within it are seen together; messages wait longer for their like. */
  settleMs: 1_000,
  againMs: 2_000,
  soonMs: 100,
  /** What is noted in a storm must not hold up rounds. */
  mostAtOnce: 100,
} as const;

export function waitingFor(
  incident: Incident,
  occasion: EvidenceOccasion,
  votes: readonly VoteLine[],
  clock: Clock,
): WaitingGathering {
  const began = clock.now() - clock.elapsed();
  return { incident, occasion, votes, network: networkOf(votes, incident.target), now: () => began + clock.elapsed() };
}

export const candidateOf = ({ incident: { target }, network }: WaitingGathering): StormCandidate => ({
  target,
  network,
});
