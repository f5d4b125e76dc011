import { z } from 'zod';
import { FilePath } from '#kernel/file-path.ts';
import { WebUrl } from '#kernel/url.ts';
import type { Message, DeliveryReceipt } from '#monitor/notify/channel.ts';
import type { ChannelType } from './channel.ts';
import { chatTextOf, clipped, plainTextOf } from './chat-text.ts';
import { firstReference, replacesFirst } from './thread.ts';
import { createHttpChannel, fileOf, parsed, type SendContext, unreadable } from './http-channel.ts';

const NtfyEntry = z.strictObject({
  url: WebUrl('expected the address of a server, such as "https://ntfy.sh"')
    .default('https://ntfy.sh')
    .describe('The server.'),
  topic: z
    .string()
    .regex(/^[-_A-Za-z0-9]{1,64}$/, { error: 'expected the name of a topic: letters, digits, "-" and "_"' })
    .describe('The topic that is published to.'),
  token_file: FilePath.optional().describe('A file that holds an access token (tk_...). Default: no authentication.'),
});
type NtfyEntry = z.output<typeof NtfyEntry>;

const ResponseBody = z.object({ id: z.string() });

const priorities = { critical: 5, warning: 3, info: 2 } as const;

/**
 * Publishes notifications. Each has a sequence id, so that a repeat replaces the first instead of standing beside it, and the end
 * of an incident replaces its beginning; servers before 2.16, and apps other than those for Android and the web, show both.
 */
export const ntfy: ChannelType<'ntfy', typeof NtfyEntry> = {
  name: 'ntfy',
  summary: 'Publishes notifications to a topic of ntfy.',
  Entry: NtfyEntry,
  sections: {},
  recipientsOf: ({ notify }) => [notify],
  open: (environment, contacts) => createHttpChannel({ name: 'ntfy', environment, contacts, send }),
};

async function send(message: Message, { contact, ...sending }: SendContext<NtfyEntry>): Promise<DeliveryReceipt> {
  const { url, topic, token_file: tokenFile } = contact.entry;
  const first = replacesFirst(message) ? firstReference(message) : null;
  const text = chatTextOf(message);
  const headers = tokenFile === undefined ? {} : { authorization: `Bearer ${fileOf(contact, 'token_file').reveal()}` };
  const json = {
    topic,
    title: clipped(text.title, 250),
    // Longer ones become attachments.
    message: plainTextOf(text, 1_200),
    priority: priorityOf(message),
    tags: [message.content.tone === 'good' ? 'white_check_mark' : 'rotating_light'],
    sequence_id: first ?? message.id,
    ...(text.link === null ? {} : { click: text.link }),
    ...(text.acknowledge === null
      ? {}
      : { actions: [{ action: 'view', label: 'Acknowledge', url: text.acknowledge }] }),
  };
  return sending.send({ url, headers, json }, (response) => {
    if (response.status < 200 || response.status > 299) return null;
    if (parsed(ResponseBody, response) === null) return unreadable(response);
    const reference = message.incidents.length === 1 ? { reference: message.id } : {};
    return { kind: 'delivered', response: response.line, ...reference };
  });
}

function priorityOf({ incidents, content }: Message): number {
  if (content.tone === 'good' || incidents.length === 0) return 3;
  return Math.max(...incidents.map(({ severity }) => priorities[severity]));
}
