import type { Incident } from './incident.ts';
import type { Severity } from './rule.ts';

/**
 * What a delivery says about its incident: that it began, that it has another reason now, that it goes on, that it is over, or
 * that its target is not watched any more.
 */
export type DeliveryKind = 'opened' | 'update' | 'reminder' | 'resolved' | 'closed';

/** One message about incidents to one recipient through one channel: a row until it is settled. */
export interface Delivery {
  readonly id: number;
  readonly incidentId: string;
  readonly kind: DeliveryKind;
  /** Counts the deliveries of one kind for one incident, from 1. */
  readonly number: number;
  readonly channel: string;
  readonly recipient: string;
  readonly createdAt: number;
  readonly nextAttemptAt: number;
  readonly attempts: number;
  readonly lastError: string | null;
}

/**
 * The outcome of an attempt at a delivery. `merged` means that another message covered it, or that nothing was left to notify.
 * `message` is the id of the message that contained it, or may have: null if none did.
 */
export type DeliveryOutcome =
  | {
      readonly id: number;
      readonly state: 'sent';
      readonly at: number;
      readonly message: string;
      /** What the other side calls the message, if it calls it anything. */
      readonly reference?: string;
      /** When to remind of the incident if it is still open by then; null for never. */
      readonly remindAt: number | null;
    }
  | { readonly id: number; readonly state: 'merged'; readonly at: number; readonly message: string | null }
  | {
      readonly id: number;
      readonly state: 'dead';
      readonly at: number;
      readonly error: string;
      /** When to remind of the incident again if it is still open by then; null or absent for never. */
      readonly remindAt?: number | null;
    }
  | {
      readonly id: number;
      readonly state: 'pending';
      readonly nextAttemptAt: number;
      readonly error: string;
      readonly message: string | null;
      /** When to remind the other recipients of the incident, because this one cannot be reached; null or absent for not at all. */
      readonly notifyOthersAt?: number | null;
    };

/** A delivery as an operator sees it. */
export interface ListedDelivery extends Delivery {
  readonly target: string;
  readonly state: 'pending' | 'sent' | 'merged' | 'dead';
  readonly settledAt: number | null;
  /** The id of the message that contained it, or may have. */
  readonly message: string | null;
  /** What the other side calls that message, or null. */
  readonly reference: string | null;
}

export interface PendingDelivery {
  readonly delivery: Delivery;
  readonly incident: Incident;
  /** The message that was chosen for it and may have arrived, or null. */
  readonly message: string | null;
  /** The message that notified this recipient of the incident's beginning, or null. */
  readonly root: string | null;
  /** What the other side calls that message, or null if it calls it nothing. */
  readonly rootReference: string | null;
  /** Other recipients of the incident that could not be notified so far, each with the reason. */
  readonly unreached: readonly UnreachedRecipient[];
  /** Whether another recipient was notified that it began. */
  readonly isKnownToOthers: boolean;
  /** Whether it waits for no company, because others cannot be reached. */
  readonly isHastened?: boolean;
  /** Whether the last message about it was refused for good. */
  readonly isRefused?: boolean;
}

/** A recipient that could not be notified. */
export interface UnreachedRecipient {
  readonly channel: string;
  readonly recipient: string;
  readonly reason: string;
}

/** An open incident, and a recipient that was notified that it began. */
export interface NotifiedIncident {
  readonly recipient: string;
  readonly incident: Incident;
}

/** A message that went out, as far as it counts for what may follow it. */
export interface SentMessage {
  readonly channel: string;
  readonly recipient: string;
  /** A late message counts as the end that it tells. */
  readonly kind: Delivery['kind'] | 'digest';
  /** The highest of its incidents. */
  readonly severity: Severity;
  readonly at: number;
}

export interface DeliveryCount {
  readonly channel: string;
  readonly pending: number;
  /** When the oldest pending one was made, or null if there is none. */
  readonly oldestAt: number | null;
}

/**
 * What a message says: that incidents began, have another cause, go on or are over, that they began and are over because the first
 * message did not get through in time (`late`), that their targets are not watched any more (`closed`), all sorts at once (`digest`), or how things went (`summary`).
 */
export type MessageKind = Delivery['kind'] | 'late' | 'digest' | 'summary';
