import { createHash } from 'node:crypto';
import type { Delivery } from './delivery.ts';
import type { Message, MessageKind, PendingDelivery } from './ports.ts';
import { renderHtml, renderText } from './render.ts';
import { type StoryOptions, tell } from './story.ts';

/** A message and what its acceptance settles: the delivery it is, and those whose story it tells as well. */
export interface Composed {
  readonly message: Message;
  readonly sent: Delivery;
  readonly merged: readonly Delivery[];
}

/**
 * The next message out of the unsettled deliveries of one incident, channel and recipient. Where the incident is over before
 * its `opened` was sent, one message tells the whole story. Whatever is not in the result comes with a later message.
 */
export function composeMessage(
  pending: readonly [PendingDelivery, ...PendingDelivery[]],
  options: StoryOptions,
): Composed {
  const { incident } = pending.at(-1) ?? pending[0];
  const deliveries = pending.map(({ delivery }) => delivery);
  const opened = deliveries.find((delivery) => delivery.kind === 'opened');
  const resolved = deliveries.find((delivery) => delivery.kind !== 'opened');
  const isLate = opened !== undefined && (resolved !== undefined || incident.endedAt !== null);
  const sent = opened ?? resolved ?? pending[0].delivery;
  const merged = isLate && resolved !== undefined ? [resolved] : [];
  const kind: MessageKind = isLate ? 'late' : sent.kind;
  const story = tell(kind, incident, sent.lastError, options);
  const root = messageId(sent, 'opened');
  const message = {
    kind,
    incidents: [incident],
    id: messageId(sent, kind),
    references: kind === 'opened' ? [] : [root],
    subject: story.subject,
    text: renderText(story),
    html: renderHtml(story),
    at: (merged[0] ?? sent).createdAt,
  };
  return { message, sent, merged };
}

/**
 * The id of the message of a kind about a delivery's incident to its recipient: a repeat has the same. A late message has one of
 * its own, because mail systems drop a second message with an id they have seen, and the first may have arrived after all.
 */
export function messageId({ incidentId, number, recipient }: Delivery, kind: MessageKind): string {
  const name = JSON.stringify([incidentId, kind, kind === 'opened' ? 1 : number, recipient]);
  return createHash('sha256').update(name).digest('hex').slice(0, 32);
}
