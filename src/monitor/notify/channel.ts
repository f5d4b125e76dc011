import type { MessageKind } from '../judge/delivery.ts';
import type { Incident } from '../judge/incident.ts';
import type { MessageContent } from './content.ts';

/** One message about incidents to one recipient, ready to be sent. */
export interface Message {
  readonly kind: MessageKind;
  readonly incidents: readonly Incident[];
  /** Unique and fixed for what it tells: a repeat has the same id. The channel adds its own domain. */
  readonly id: string;
  /** Ids of the messages that it belongs under, first the root of the thread. */
  readonly references: readonly string[];
  /** The references of the other side for the first messages, by the id of the incident, if it gave any. */
  readonly beginnings: ReadonlyMap<string, string>;
  /** The page of each incident, by its id, where incidents have pages. */
  readonly links: ReadonlyMap<string, string>;
  /** What it says, in words. */
  readonly content: MessageContent;
  /** When the message was decided, in milliseconds since the epoch. */
  readonly at: number;
}

/**
 * What became of a message. `retry` may help later, `rejected` never will; `isUncertain` says that it may have arrived, and
 * `atLeastMs` that it is not to be repeated sooner, because people would get it twice. A
 * `reference` is what the other side calls the message: it is kept, and later messages about its incidents are given it.
 */
export type DeliveryReceipt =
  | { readonly kind: 'delivered'; readonly response: string; readonly reference?: string }
  | {
      readonly kind: 'retry';
      readonly reason: string;
      readonly afterMs?: number;
      readonly isUncertain?: boolean;
      readonly atLeastMs?: number;
    }
  | { readonly kind: 'rejected'; readonly reason: string };

/** An incident that is open, with its page, where incidents have pages. */
export interface IncidentLink {
  readonly incident: Incident;
  readonly link: string | null;
}

/** Sends open alerts again. `open` is read just before, so that ended incidents are not among them. */
export type Renew = (
  open: () => readonly IncidentLink[],
  recipient: string,
  signal: AbortSignal,
) => Promise<DeliveryReceipt>;

/** How often open incidents are renewed, and how long a receiver may rely on one renewal; both in milliseconds. */
export interface RenewalTimes {
  readonly everyMs: number;
  readonly validMs: number;
}

/** A receiver that misses three renewals does not end the incident. */
export const renewalTimes: RenewalTimes = { everyMs: 60_000, validMs: 5 * 60_000 };

/** For receivers that answer at once or not at all. */
export const usualAttemptMs = 60_000;

/**
 * A way to reach people. `send` never throws for what the other side did, and ends by the signal at the latest.
 *
 * No member is optional: the compiler finds a wrapper that forgets one.
 */
export interface Channel {
  readonly name: string;
  /** How long one attempt to send may take over all, in milliseconds. */
  readonly attemptMs: number;
  send(message: Message, recipient: string, signal: AbortSignal): Promise<DeliveryReceipt>;
  /** For a receiver that considers over whatever is not repeated; null for all others. */
  readonly renew: Renew | null;
  close(): Promise<void>;
}
