import type { GatheredEvidence } from './evidence.ts';
import type { Exclusion } from './exclusions.ts';

/** An incident as a list shows it. Times are milliseconds since the epoch. */
export interface PastIncident {
  readonly id: string;
  readonly target: string;
  readonly rule: string;
  readonly severity: 'critical' | 'warning' | 'info';
  /** How it is called, in capitals: `DOWN`, `SLOW`. */
  readonly word: string;
  /** What is checked: `http https://shop.example.com/health`. */
  readonly subject: string;
  /** What the rule was, in words. */
  readonly condition: string;
  readonly cause: string;
  /** The first failing round, and the one that opened it. */
  readonly startedAt: number;
  readonly openedAt: number;
  /** Null while it is open. */
  readonly endedAt: number | null;
  /** How it ended: its target recovered, or is not watched any more. */
  readonly closing: 'recovered' | 'unwatched' | 'rule_removed' | null;
  /** Why its notification is suppressed, in words; null if it is not. */
  readonly held: string | null;
  readonly acknowledged: { readonly at: number; readonly why: string } | null;
}

/** One line of a vote table. */
export interface PastVote {
  readonly node: string;
  readonly place: string;
  readonly status: 'up' | 'down' | 'unknown';
  readonly seconds: number | null;
  readonly address: string | null;
  readonly code: string | null;
  readonly message: string | null;
}

/** One message, or what was to become one, to one recipient. */
export interface PastDelivery {
  readonly id: number;
  readonly kind: 'opened' | 'update' | 'reminder' | 'resolved' | 'closed';
  /** Counts those of a kind, from 1. */
  readonly number: number;
  readonly channel: string;
  readonly recipient: string;
  readonly state: 'pending' | 'sent' | 'merged' | 'dead';
  readonly createdAt: number;
  readonly settledAt: number | null;
  readonly attempts: number;
  readonly lastError: string | null;
}

/** An incident with all that is known of it. */
export interface IncidentDetail extends PastIncident {
  /** How it is talked about: "is down", "was down". */
  readonly wording: { readonly is: string; readonly was: string };
  readonly votes: readonly PastVote[];
  readonly closingVotes: readonly PastVote[] | null;
  /** Later causes, if they differ. */
  readonly laterCauses: readonly { readonly at: number; readonly cause: string }[];
  /** How the verdict went, from the round that opened it on. */
  readonly timeline: readonly {
    readonly at: number;
    readonly status: 'up' | 'partial' | 'down' | 'unknown';
    readonly up: number;
    readonly down: number;
    readonly unknown: number;
  }[];
  /** What nodes gathered, by gathering and node, the oldest first. */
  readonly evidence: readonly GatheredEvidence[];
  /** Exclusions from uptime that touch its time, by their beginning. */
  readonly exclusions: readonly Exclusion[];
  /** In the order in which they were made. */
  readonly deliveries: readonly PastDelivery[];
}
