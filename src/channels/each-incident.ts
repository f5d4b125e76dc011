import type { Incident } from '#monitor/judge/incident.ts';
import type { Message, DeliveryReceipt } from '#monitor/notify/channel.ts';
import type { DeliveryPolicy } from '#monitor/notify/delivery-policy.ts';

/** For services that have an alert for each incident, and tell people together what belongs together themselves. */
export function withoutGrouping(wished: DeliveryPolicy): DeliveryPolicy {
  return { ...wished, grouping: null, storm: null };
}

/**
 * Sends each incident of a message, one after the other. Those sent before one is refused are sent again with it, under the
 * same key, which changes nothing there.
 */
export async function forEachIncident(
  { incidents }: Pick<Message, 'incidents'>,
  send: (incident: Incident) => Promise<DeliveryReceipt>,
): Promise<DeliveryReceipt> {
  let last: DeliveryReceipt = {
    kind: 'rejected',
    reason: 'only incidents have alerts, and this message has none',
  };
  for (const incident of incidents) {
    last = await send(incident);
    if (last.kind !== 'delivered') return last;
  }
  return last;
}
