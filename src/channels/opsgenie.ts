import { z } from 'zod';
import { FilePath } from '#kernel/file-path.ts';
import { WebUrl } from '#kernel/url.ts';
import { type Incident, latestCause, shownTarget } from '#monitor/judge/incident.ts';
import type { Message, DeliveryReceipt } from '#monitor/notify/channel.ts';
import type { CallResponse } from './call.ts';
import type { ChannelType } from './channel.ts';
import { chatTextOf, clipped, plainTextOf } from './chat-text.ts';
import { withoutGrouping, forEachIncident } from './each-incident.ts';
import { createHttpChannel, fileOf, type SendContext } from './http-channel.ts';
import { retry } from './http-receipt.ts';

const OpsgenieEntry = z.strictObject({
  api_key_file: FilePath.describe('A file that holds the key of an API integration.'),
  url: WebUrl('expected the address of the API, such as "https://api.eu.opsgenie.com"')
    .default('https://api.opsgenie.com')
    .describe('The API; that of the EU is https://api.eu.opsgenie.com.'),
});
type OpsgenieEntry = z.output<typeof OpsgenieEntry>;

const priorities = { critical: 'P1', warning: 'P3', info: 'P5' } as const;

/** Creates an alert for each incident and closes it; the id of the incident is the alias that a repeat has as well. */
export const opsgenie: ChannelType<'opsgenie', typeof OpsgenieEntry> = {
  name: 'opsgenie',
  summary: 'Creates and closes alerts of Opsgenie.',
  Entry: OpsgenieEntry,
  sections: {},
  keepsAlerts: true,
  recipientsOf: ({ notify }) => [notify],
  policyOf: withoutGrouping,
  open: (environment, contacts) => createHttpChannel({ name: 'opsgenie', environment, contacts, send }),
};

async function send(message: Message, { contact, ...sending }: SendContext<OpsgenieEntry>): Promise<DeliveryReceipt> {
  const alerts = `${contact.entry.url.replace(/\/+$/, '')}/v2/alerts`;
  const headers = { authorization: `GenieKey ${fileOf(contact, 'api_key_file').reveal()}` };
  return forEachIncident(message, async (incident) => {
    if (incident.endedAt === null) {
      return sending.send({ url: alerts, headers, json: alertOf(incident, message) }, refusalOf);
    }
    const url = `${alerts}/${encodeURIComponent(incident.id)}/close?identifierType=alias`;
    const json = { source: 'Watchpost', note: clipped(message.content.headline, 25_000) };
    return sending.send({ url, headers, json }, refusalOf);
  });
}

// 422 means that the key or the integration lacks a right: an operator can repair it.
function refusalOf({ status, line, text }: CallResponse): DeliveryReceipt | null {
  return status === 422 ? retry(`${line}: ${text}`) : null;
}

// Creating it again while it is open adds to its count and leaves the note.
function alertOf(incident: Incident, message: Message): object {
  const { id, target, rule, severity, subject, condition, wording } = incident;
  const cause = latestCause(incident);
  const text = chatTextOf(message);
  const title = message.incidents.length === 1 ? text.title : `[${wording.word}] ${shownTarget(target)}: ${cause}`;
  return {
    message: clipped(title, 130),
    alias: id,
    description: plainTextOf(text, 15_000),
    priority: priorities[severity],
    source: 'Watchpost',
    entity: shownTarget(target),
    tags: [rule, severity],
    details: { target, rule, condition, subject, cause },
    ...(message.kind === 'reminder' || message.kind === 'update'
      ? { note: clipped(message.content.headline, 25_000) }
      : {}),
  };
}
