import type { GatheredEvidence } from '#history/evidence.ts';
import type { Incident } from '../judge/incident.ts';
import type { Target } from '../judge/target.ts';
import type { Vote } from '../judge/vote.ts';

/** What an operator asked for. */
export interface DemandedEvidence {
  readonly target: string;
  /** The incident that it is stored with; null if none is open, and then it is not stored. */
  readonly incident: string | null;
  readonly parts: readonly GatheredEvidence[];
}

/** Has nodes gather evidence of incidents, beside all else: nothing waits for it. */
export interface EvidenceCollector extends AsyncDisposable {
  /** To be called with incidents that opened, changed or ended, after they were stored. */
  incidentsChanged(incidents: readonly Incident[]): void;
  /** To be called with each round. */
  roundDone(target: Target, votes: readonly Vote[], isUp: boolean): void;
  /** Gathers now. Throws `usage` if it cannot be done. */
  gatherNow(target: string): Promise<DemandedEvidence>;
}
