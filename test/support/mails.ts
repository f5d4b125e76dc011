import { Smtp, type SmtpServer, smtpServerOf } from '#channels/smtp-server.ts';
import { createMailTemplate } from '#channels/template.ts';
import { Secret } from '#kernel/secret.ts';
import type { Delivery, PendingDelivery } from '#monitor/judge/delivery.ts';
import type { Incident } from '#monitor/judge/incident.ts';
import type { Message } from '#monitor/notify/channel.ts';
import { composeMessage } from '#monitor/notify/compose-message.ts';
import type { ContentOptions } from '#monitor/notify/content.ts';
import { type MessagePart, messagePartOf } from '#monitor/notify/message-part.ts';

export const utc: ContentOptions = { zone: 'UTC', linkTo: () => null };

export const template = createMailTemplate();

/** The part that these deliveries about the incident make. */
export function part(incident: Incident, deliveries: readonly Delivery[], root: string | null = null): MessagePart {
  const rows = deliveries.map((delivery): PendingDelivery => ({
    delivery,
    incident,
    message: null,
    root,
    unreached: [],
    isKnownToOthers: false,
    rootReference: null,
  }));
  const made = messagePartOf(rows as unknown as readonly [PendingDelivery, ...PendingDelivery[]]);
  if (made === null) throw new RangeError('nothing is left to tell');
  return made;
}

/** The message about one incident that these deliveries make. */
export function compose(incident: Incident, deliveries: readonly Delivery[], options = utc): Message {
  return composeMessage([part(incident, deliveries)], options);
}

/** A mail server as the configuration would describe it. `files` are the contents of its `_file` keys. */
export function smtpServer(
  written: Partial<typeof Smtp._zod.input> & { readonly url: string },
  files: Readonly<Record<string, string>> = {},
): SmtpServer {
  const smtp = Smtp.parse({ from: 'Watchpost <alerts@example.com>', ...written });
  return smtpServerOf(smtp, Object.fromEntries(Object.entries(files).map(([key, text]) => [key, new Secret(text)])));
}
