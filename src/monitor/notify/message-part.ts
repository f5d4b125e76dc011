import type { Delivery, PendingDelivery } from '../judge/delivery.ts';
import type { Incident } from '../judge/incident.ts';

/** What one incident contributes to a message, out of what is unsettled about it for one recipient. */
export interface MessagePart {
  readonly kind: Delivery['kind'] | 'late';
  readonly incident: Incident;
  /** The delivery that it is. */
  readonly sent: Delivery;
  /** Deliveries that need no message any more: this one covers them. */
  readonly merged: readonly Delivery[];
  readonly rows: readonly PendingDelivery[];
  /** The first message about the incident, or null. */
  readonly root: string | null;
  /** Whether a message about the beginning may have arrived. */
  readonly mayBeKnown: boolean;
  /** Other recipients that could not be notified so far. */
  readonly unreached: PendingDelivery['unreached'];
  /** Whether another recipient was notified that it began. */
  readonly isKnownToOthers: boolean;
  /** What the other side calls that message, or null. */
  readonly rootReference: string | null;
}

type PendingRows = readonly [PendingDelivery, ...PendingDelivery[]];

/**
 * The part that the unsettled deliveries of one incident make. If it is over before its `opened` was sent, one part tells
 * of both. Null if nothing is left to notify: an incident that is over, or one that
 * is acknowledged, has neither reminders nor new causes.
 */
export function messagePartOf(rows: PendingRows): MessagePart | null {
  const { incident } = rows.at(-1) ?? rows[0];
  const of = (kind: Delivery['kind']) => rows.find(({ delivery }) => delivery.kind === kind)?.delivery;
  const opened = of('opened');
  const end = of('closed') ?? of('resolved');
  const isChosen = rows[0].message !== null;
  const isLate = opened !== undefined && (end !== undefined || (incident.endedAt !== null && !isChosen));
  const update = rows.findLast(({ delivery }) => delivery.kind === 'update')?.delivery;
  const sent = opened ?? end ?? update ?? of('reminder');
  if (sent === undefined) return null;
  const isNeedless = incident.endedAt !== null || incident.acknowledged !== null;
  if ((sent.kind === 'reminder' || sent.kind === 'update') && isNeedless && !isChosen) return null;
  return {
    kind: isLate ? 'late' : sent.kind,
    incident,
    sent,
    merged: rows.map(({ delivery }) => delivery).filter((one) => one.id !== sent.id && !isApart(one, sent, isChosen)),
    rows,
    root: rows.find(({ root }) => root !== null)?.root ?? null,
    mayBeKnown:
      opened !== undefined && rows.some(({ delivery, message }) => delivery.id === opened.id && message !== null),
    unreached: rows[0].unreached,
    isKnownToOthers: rows[0].isKnownToOthers,
    rootReference: rows.find(({ rootReference }) => rootReference !== null)?.rootReference ?? null,
  };
}

// A new cause is no reminder: the next one keeps its time, unless the message was chosen with it.
function isApart({ kind }: Delivery, sent: Delivery, isChosen: boolean): boolean {
  return kind === 'reminder' && sent.kind === 'update' && !isChosen;
}

/**
 * The deliveries of a part that a message covers: all of them, except those that an earlier message may have covered, if the end of
 * an incident does not wait for that message to be repeated.
 */
export function ownDeliveriesOf({ sent, merged, rows }: MessagePart): readonly Delivery[] {
  const all = [sent, ...merged];
  const earlier = new Set(rows.flatMap(({ delivery, message }) => (message === null ? [] : [delivery.id])));
  return earlier.size === rows.length ? all : all.filter(({ id }) => !earlier.has(id));
}

/** The other deliveries of a part, and the earlier messages that may have contained them. */
export function previouslySent(
  part: MessagePart,
): readonly { readonly delivery: Delivery; readonly message: string }[] {
  const own = new Set(ownDeliveriesOf(part).map(({ id }) => id));
  return part.rows.flatMap(({ delivery, message }) =>
    message === null || own.has(delivery.id) ? [] : [{ delivery, message }],
  );
}

/** What parts have to have in common to share a message. */
export function phaseOf(kind: MessagePart['kind']): 'opened' | 'update' | 'reminder' | 'over' {
  return kind === 'opened' || kind === 'update' || kind === 'reminder' ? kind : 'over';
}
