import type { Hours } from './hours.ts';

/** How to notify a recipient. Times are milliseconds. */
export interface DeliveryPolicy {
  /** How incidents share messages; null for one message each, at once. */
  readonly grouping: {
    /** How long the first waits for company. */
    readonly waitMs: number;
    /** How long after a message the next of its sort may follow. */
    readonly intervalMs: number;
  } | null;
  /** At most so many messages in any stretch of this length; what is beyond comes in digests. Null for no limit. */
  readonly storm: { readonly messages: number; readonly perMs: number } | null;
  /** Waits between the beginning and the reminders of an incident that stays open; the last one repeats. Empty for none. */
  readonly remindMs: readonly number[];
  /** IANA name of the time zone of messages. */
  readonly zone: string;
  /** For how long an incident has to go on, unacknowledged, before this recipient is notified. */
  readonly afterMs?: number;
  /** When it may be notified; any time without. */
  readonly hours?: Hours;
  /** For a recipient with several policies: the one by which it is notified of incidents of a target. */
  readonly timingFor?: (target: string) => DeliveryTimes;
}

/** When a recipient is notified of an incident. */
export type DeliveryTimes = Pick<DeliveryPolicy, 'afterMs' | 'hours'>;

/** For a recipient that is not configured any more but still has pending deliveries. */
export const plainPolicy: DeliveryPolicy = {
  grouping: { waitMs: 30_000, intervalMs: 300_000 },
  storm: { messages: 20, perMs: 3_600_000 },
  remindMs: [],
  zone: 'UTC',
};

/** How long after a reminder of this number (0 is the beginning) the next one follows, or null. */
export function remindAfter({ remindMs }: DeliveryPolicy, number: number): number | null {
  return remindMs[Math.min(number, remindMs.length - 1)] ?? null;
}

/**
 * When the next message may go, given the times of those that went, oldest first: at once, as a rule. A bucket holds half of the
 * messages and fills with the other half, evenly: no stretch of `perMs` sees more than `messages`, and no message waits for a whole one.
 */
export function nextSlot(storm: DeliveryPolicy['storm'], sentAt: readonly number[]): number {
  if (storm === null) return Number.NEGATIVE_INFINITY;
  const { messages, perMs } = storm;
  const full = Math.max(1, Math.ceil(messages / 2));
  const perToken = perMs / Math.max(1, messages - full);
  let tokens = full;
  let last = sentAt[0] ?? 0;
  for (const at of sentAt) {
    tokens = Math.min(full, tokens + (at - last) / perToken) - 1;
    last = at;
  }
  const refilled = tokens >= 1 ? Number.NEGATIVE_INFINITY : last + (1 - tokens) * perToken;
  const oldest = sentAt.at(-messages);
  return Math.max(refilled, oldest === undefined ? Number.NEGATIVE_INFINITY : oldest + perMs);
}
