import type { EvidenceOccasion } from '#history/evidence.ts';
import type { Incident, VoteLine } from '../judge/incident.ts';
import { networkOf, type StormCandidate } from './storm.ts';

/** What is to be gathered about an incident once nodes have a place for it. */
export interface WaitingGathering {
  readonly incident: Incident;
  readonly occasion: EvidenceOccasion;
  readonly votes: readonly VoteLine[];
  readonly network: string;
}

export function waitingFor(
  incident: Incident,
  occasion: EvidenceOccasion,
  votes: readonly VoteLine[],
): WaitingGathering {
  return { incident, occasion, votes, network: networkOf(votes, incident.target) };
}

export const candidateOf = ({ incident: { target }, network }: WaitingGathering): StormCandidate => ({
  target,
  network,
});
