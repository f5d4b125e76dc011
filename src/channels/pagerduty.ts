import { z } from 'zod';
import { FilePath } from '#kernel/file-path.ts';
import { WebUrl } from '#kernel/url.ts';
import { type Incident, latestCause, shownTarget } from '#monitor/judge/incident.ts';
import type { Message, DeliveryReceipt } from '#monitor/notify/channel.ts';
import type { CallResponse } from './call.ts';
import type { ChannelType } from './channel.ts';
import { clipped } from './chat-text.ts';
import { withoutGrouping, forEachIncident } from './each-incident.ts';
import { createHttpChannel, fileOf, parsed, type SendContext } from './http-channel.ts';
import { retry } from './http-receipt.ts';

const PagerdutyEntry = z.strictObject({
  routing_key_file: FilePath.describe('A file that holds the integration key of a service (Events API v2).'),
  url: WebUrl('expected the address of the Events API, such as "https://events.eu.pagerduty.com"')
    .default('https://events.pagerduty.com')
    .describe('The Events API.'),
});
type PagerdutyEntry = z.output<typeof PagerdutyEntry>;

const ErrorBody = z.object({ message: z.string().optional(), errors: z.array(z.string()).optional() });

/** Triggers an alert for each incident and resolves it; the id of the incident is the key that a repeat has as well. */
export const pagerduty: ChannelType<'pagerduty', typeof PagerdutyEntry> = {
  name: 'pagerduty',
  summary: 'Triggers and resolves alerts of PagerDuty.',
  Entry: PagerdutyEntry,
  sections: {},
  keepsAlerts: true,
  recipientsOf: ({ notify }) => [notify],
  problemsOf: ({ files }) =>
    files['routing_key_file'] === undefined || /^[\da-zA-Z]{32}$/.test(files['routing_key_file'].reveal())
      ? []
      : [{ path: ['routing_key_file'], message: 'holds no integration key (32 letters and digits)' }],
  policyOf: withoutGrouping,
  open: (environment, contacts) => createHttpChannel({ name: 'pagerduty', environment, contacts, send }),
};

async function send(message: Message, { contact, ...sending }: SendContext<PagerdutyEntry>): Promise<DeliveryReceipt> {
  const url = `${contact.entry.url.replace(/\/+$/, '')}/v2/enqueue`;
  const key = { routing_key: fileOf(contact, 'routing_key_file').reveal() };
  return forEachIncident(message, async (incident) =>
    sending.send({ url, json: { ...key, ...eventOf(incident, message) } }, refusalOf),
  );
}

// 400 is about the event, unless it is about the key, which an operator can repair.
function refusalOf(response: CallResponse): DeliveryReceipt | null {
  if (response.status !== 400) return null;
  const { message = '', errors = [] } = parsed(ErrorBody, response) ?? {};
  const reason = [response.line, message, ...errors].join(': ');
  return /routing.?key/i.test(reason) ? retry(reason) : { kind: 'rejected', reason };
}

function eventOf(incident: Incident, { content, incidents }: Message): object {
  const { id, target, rule, severity, subject, condition, startedAt, votes, endedAt, wording } = incident;
  if (endedAt !== null) return { event_action: 'resolve', dedup_key: id };
  const cause = latestCause(incident);
  const summary = incidents.length === 1 ? content.subject : `[${wording.word}] ${shownTarget(target)}: ${cause}`;
  return {
    event_action: 'trigger',
    dedup_key: id,
    client: 'Watchpost',
    payload: {
      summary: clipped(summary, 1_024),
      source: shownTarget(target),
      severity,
      timestamp: new Date(startedAt).toISOString(),
      component: subject,
      class: rule,
      custom_details: {
        cause,
        rule: condition,
        votes: votes.map(({ node, place, status, message }) => ({ node, place, saw: status, why: message })),
      },
    },
    ...(content.link === null ? {} : { links: [{ href: content.link, text: 'More' }] }),
  };
}
