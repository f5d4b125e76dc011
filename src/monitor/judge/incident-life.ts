import type { Delivery, DeliveryKind } from './delivery.ts';
import type { RecipientAddress, ClosureReason, Incident } from './incident.ts';
import type { Recipient } from './recipient.ts';
import type { Target } from './target.ts';

/** The end of an incident that is not evaluated any more; recipients of its beginning are notified. */
export function unwatch(
  incident: Incident,
  recipients: Target['recipients'],
  now: number,
  closing: ClosureReason = 'unwatched',
): Consequence {
  const ended: Incident = { ...incident, endedAt: now, closing };
  const isSuppressed = incident.held !== null;
  return { incident: ended, deliveries: isSuppressed ? [] : ending(ended, 'closed', recipients, now) };
}

/** Notifies all recipients of an incident that it began; `late` says why it is late, if nothing suppressed it. */
export function announce(
  incident: Incident,
  recipients: Target['recipients'],
  now: number,
  late: string | null = null,
): Consequence {
  const notified = recipients.filter(({ severities }) => severities.includes(incident.severity));
  const addressees = notified.map(({ channel, recipient }) => ({ channel, recipient }));
  const lateReason = incident.held === null ? late : `it was held back: ${incident.held.why}`;
  const announced: Incident = { ...incident, held: null, notified: addressees, lateReason };
  return { incident: announced, deliveries: notified.map((to) => beginning(announced, to, now)) };
}

/** Notifies the recipients of an open incident that were not notified yet; null if there are none, or if it is acknowledged. */
export function announceToOthers(
  incident: Incident,
  recipients: Target['recipients'],
  now: number,
): Consequence | null {
  const { notified, held, acknowledged } = incident;
  if (notified === null || held !== null || acknowledged !== null) return null;
  const isNotified = (one: RecipientAddress) =>
    notified.some((other) => other.channel === one.channel && other.recipient === one.recipient);
  const others = recipients.filter((one) => one.severities.includes(incident.severity) && !isNotified(one));
  if (others.length === 0) return null;
  const addressees = others.map(({ channel, recipient }) => ({ channel, recipient }));
  const announced: Incident = { ...incident, notified: [...notified, ...addressees] };
  return { incident: announced, deliveries: others.map((to) => beginning(announced, to, now)) };
}

/** Notifies the recipients of the beginning of a new cause, unless the incident is acknowledged. */
export function update(incident: Incident, recipients: Target['recipients'], now: number): Consequence {
  if (incident.acknowledged !== null) return { incident, deliveries: [] };
  const number = incident.laterCauses.at(-1)?.number ?? 1;
  return {
    incident,
    deliveries: notifiedRecipientsOf(incident, recipients).map((to) => ({
      ...newDelivery(incident, 'update', to, now),
      number,
    })),
  };
}

/** The end of an incident, notified to the recipients of its beginning. */
export function resolve(
  incident: Incident,
  ended: Pick<Incident, 'endedAt' | 'closingVotes'>,
  recipients: Target['recipients'],
  now: number,
): Consequence {
  const closed: Incident = { ...incident, ...ended, closing: 'recovered' };
  const isSuppressed = incident.held !== null;
  return { incident: closed, deliveries: isSuppressed ? [] : ending(closed, 'resolved', recipients, now) };
}

export interface Consequence {
  readonly incident: Incident;
  readonly deliveries: readonly Delivery[];
}

function ending(
  incident: Incident,
  kind: DeliveryKind,
  recipients: Target['recipients'],
  now: number,
): readonly Delivery[] {
  return notifiedRecipientsOf(incident, recipients).map((to) => newDelivery(incident, kind, to, now));
}

function notifiedRecipientsOf(
  { notified, severity }: Incident,
  recipients: Target['recipients'],
): readonly RecipientAddress[] {
  return notified ?? recipients.filter(({ severities }) => severities.includes(severity));
}

// It is due once the incident has gone on for as long as they wish.
function beginning(incident: Incident, { channel, recipient, afterMs = 0 }: Recipient, now: number): Delivery {
  return { ...newDelivery(incident, 'opened', { channel, recipient }, now), nextAttemptAt: now + afterMs };
}

function newDelivery(incident: Incident, kind: DeliveryKind, to: RecipientAddress, now: number): Delivery {
  return {
    id: 0,
    incidentId: incident.id,
    kind,
    number: 1,
    channel: to.channel,
    recipient: to.recipient,
    createdAt: now,
    nextAttemptAt: now,
    attempts: 0,
    lastError: null,
  };
}
