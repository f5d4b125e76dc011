import type { CheckSpec, EvidenceDocument, FailureCode } from '#checks/index.ts';
import type { Target } from '../judge/target.ts';
import type { EvidenceReference } from './references.ts';

/** What one node is asked to gather. */
export interface GatheringRequest {
  readonly spec: CheckSpec;
  readonly node: string;
  /** What the node saw; null if it sees the target up. */
  readonly failure: FailureCode | null;
  /** Targets that show whether the node itself is connected. */
  readonly references: readonly EvidenceReference[];
}

/** A document, or why there is none, in words. */
export type GatheringResult =
  | { readonly document: EvidenceDocument }
  | { readonly document: null; readonly reason: string };

/** Has nodes gather evidence. */
export interface EvidenceGatherer {
  /** Names of the nodes that can be asked now; null if another check service runs the checks. */
  nodes(): readonly string[] | null;
  /** Takes at most some 15 seconds. Rejects with the signal's reason. */
  gather(request: GatheringRequest, signal: AbortSignal): Promise<GatheringResult>;
}

/** What is configured about evidence, as it is in force. */
export interface EvidenceSettings {
  /** Whether it is gathered about this target. */
  isEnabled(target: string): boolean;
  /** Whether nodes gather it about healthy targets too, once a day. */
  readonly lastGood: boolean;
  /** Null if there is no such target. */
  targetOf(name: string): Target | null;
}
