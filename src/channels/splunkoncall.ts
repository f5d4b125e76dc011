import { z } from 'zod';
import { always } from '#kernel/refine.ts';
import { type Incident, latestCause, shownTarget } from '#monitor/judge/incident.ts';
import type { Message, DeliveryReceipt } from '#monitor/notify/channel.ts';
import type { CallResponse } from './call.ts';
import type { ChannelType } from './channel.ts';
import { chatTextOf, clipped, plainTextOf } from './chat-text.ts';
import { forEachIncident, withoutGrouping } from './each-incident.ts';
import { createHttpChannel, parsed, type SendContext, unreadable } from './http-channel.ts';
import { retry } from './http-receipt.ts';
import { needsOneUrl, urlKeys, urlOf, urlProblems } from './secret-url.ts';

const SplunkoncallEntry = z
  .strictObject(
    urlKeys(
      'expected the address of the REST endpoint with a routing key, such as "https://alert.victorops.com/integrations/generic/20131114/alert/.../ops"',
    ),
  )
  .superRefine(needsOneUrl, always);
type SplunkoncallEntry = z.output<typeof SplunkoncallEntry>;

const ResponseBody = z.object({ result: z.string(), messages: z.string().optional() });

// INFO is an entry of the timeline that pages no one.
const messageTypes = { critical: 'CRITICAL', warning: 'WARNING', info: 'INFO' } as const;

/** Begins an incident for each of ours and ends it; its id is the key that a repeat has as well. */
export const splunkoncall: ChannelType<'splunkoncall', typeof SplunkoncallEntry> = {
  name: 'splunkoncall',
  summary: 'Triggers and resolves incidents of Splunk On-Call (VictorOps).',
  Entry: SplunkoncallEntry,
  sections: {},
  keepsAlerts: true,
  recipientsOf: ({ notify }) => [notify],
  problemsOf: urlProblems,
  policyOf: withoutGrouping,
  open: (environment, contacts) => createHttpChannel({ name: 'splunkoncall', environment, contacts, send }),
};

async function send(message: Message, sending: SendContext<SplunkoncallEntry>): Promise<DeliveryReceipt> {
  const url = urlOf(sending.contact);
  return forEachIncident(message, async (incident) =>
    sending.send({ url, json: alertOf(incident, message) }, receiptOf),
  );
}

// What is wrong with an alert is the key or the routing, which an operator can repair.
function receiptOf(response: CallResponse): DeliveryReceipt | null {
  const { status, line } = response;
  const isGood = status >= 200 && status <= 299;
  if (!isGood && status !== 400) return null;
  const body = parsed(ResponseBody, response);
  if (isGood && body === null) return unreadable(response);
  if (isGood && body?.result === 'success') return { kind: 'delivered', response: line };
  return retry(`${line}: ${body?.messages ?? response.text}`);
}

function alertOf(incident: Incident, message: Message): object {
  const { id, target, rule, severity, startedAt, endedAt, wording } = incident;
  const text = chatTextOf(message);
  const title =
    message.incidents.length === 1 ? text.title : `[${wording.word}] ${shownTarget(target)}: ${latestCause(incident)}`;
  return {
    message_type: endedAt === null ? messageTypes[severity] : 'RECOVERY',
    entity_id: id,
    entity_display_name: clipped(title, 250),
    // An alert has at most 20 KB.
    state_message: plainTextOf(text, 5_000),
    state_start_time: Math.floor(startedAt / 1_000),
    monitoring_tool: 'Watchpost',
    target,
    rule,
  };
}
