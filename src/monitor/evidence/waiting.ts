import type { EvidenceOccasion } from '#history/evidence.ts';
import type { Incident, VoteLine } from '../judge/incident.ts';
import type { StormCandidate } from './storm.ts';

/** What is to be gathered about an incident once nodes have a place for it. */
export interface WaitingGathering {
  readonly incident: Incident;
  readonly occasion: EvidenceOccasion;
  readonly votes: readonly VoteLine[];
  readonly network: string;
}

export const candidateOf = ({ incident: { target }, network }: WaitingGathering): StormCandidate => ({
  target,
  network,
});
