import type { Delivery } from './delivery.ts';
import type { HeartbeatState } from './heard.ts';
import type { Incident } from './incident.ts';
import type { RuleState } from './rule-state.ts';
import type { VerdictStatus } from './verdict.ts';
import type { Vote } from './vote.ts';

/** What a round says about its target, until the next one. */
export interface ShownVerdict {
  readonly status: VerdictStatus;
  readonly inMaintenance: boolean;
  /** For how long it holds if no round follows. */
  readonly holdsMs: number;
}

/** Everything a round leaves behind, or a change without one; it is stored whole or not at all. */
export interface RoundRecord {
  readonly target: string;
  /** Wall time the round was due at: with the target, its name. */
  readonly dueAt: number;
  readonly votes: readonly Vote[];
  /** What the votes say together, as it is shown; absent if the record is no round. */
  readonly verdict?: ShownVerdict;
  /** When votes completed a round that had ended without a verdict, in milliseconds since the epoch; absent for other records. */
  readonly revisedAt?: number;
  /** The rule states that this round changed. */
  readonly states: readonly RuleState[];
  /** Incidents that this round opened, changed or closed, as they are after it. */
  readonly incidents: readonly Incident[];
  /** New deliveries, whose ids are of no account. */
  readonly deliveries: readonly Delivery[];
  /** What is known from now on of a target that calls; null to forget it; absent if nothing was heard. */
  readonly heard?: HeartbeatState | null;
  /** A digest of the spec by which the target is checked from now on; absent if it is the last one. */
  readonly spec?: string;
}

/** A vote that came when its round was over. */
export interface LateVote {
  /** The verdict of a round that nothing judged, by the statuses of its votes; null if there is nothing to say. */
  readonly verdictOf?: (statuses: readonly ('up' | 'down' | 'unknown')[]) => ShownVerdict | null;
  readonly target: string;
  readonly dueAt: number;
  readonly vote: Vote;
  /** When it came. */
  readonly at: number;
}

/** What is kept about a configured target when the program starts. */
export interface StoredTarget {
  readonly target: string;
  readonly states: readonly RuleState[];
  readonly openIncidents: readonly Incident[];
  /** Its heartbeat state, if it pings. */
  readonly heard: HeartbeatState | null;
}

/** A result with a time. */
export interface StoredSuccess {
  readonly target: string;
  readonly node: string;
  readonly dueAt: number;
  readonly seconds: number;
}
