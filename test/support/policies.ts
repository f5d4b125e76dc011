import type { DeliveryPolicy } from '#monitor/notify/delivery-policy.ts';

/** Every incident has messages of its own, at once, and nobody is reminded. */
export const alone: DeliveryPolicy = {
  grouping: null,
  storm: { messages: 1_000, perMs: 60_000 },
  remindMs: [],
  zone: 'UTC',
};

/** Incidents of half a minute share a message. */
export const grouped: DeliveryPolicy = { ...alone, grouping: { waitMs: 30_000, intervalMs: 300_000 } };
