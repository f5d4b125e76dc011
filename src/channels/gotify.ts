import { z } from 'zod';
import { FilePath } from '#kernel/file-path.ts';
import { WebUrl } from '#kernel/url.ts';
import type { Message, DeliveryReceipt } from '#monitor/notify/channel.ts';
import type { ChannelType } from './channel.ts';
import { chatTextOf, clipped, plainTextOf } from './chat-text.ts';
import { createHttpChannel, fileOf, parsed, type SendContext, unreadable } from './http-channel.ts';

const GotifyEntry = z.strictObject({
  url: WebUrl('expected the address of a server, such as "https://gotify.example.com"').describe('The server.'),
  token_file: FilePath.describe('A file that holds the token of an application.'),
});
type GotifyEntry = z.output<typeof GotifyEntry>;

const ResponseBody = z.object({ id: z.int() });

// From 8 on, the app for Android shows a notification above everything else; from 4 on, it makes a sound.
const priorities = { critical: 8, warning: 5, info: 3 } as const;
const priorityOfGood = 4;

/** Publishes messages of an application. */
export const gotify: ChannelType<'gotify', typeof GotifyEntry> = {
  name: 'gotify',
  summary: 'Publishes messages to a Gotify server.',
  Entry: GotifyEntry,
  sections: {},
  recipientsOf: ({ notify }) => [notify],
  open: (environment, contacts) => createHttpChannel({ name: 'gotify', environment, contacts, send }),
};

async function send(message: Message, { contact, ...sending }: SendContext<GotifyEntry>): Promise<DeliveryReceipt> {
  const text = chatTextOf(message);
  const url = `${contact.entry.url.replace(/\/+$/, '')}/message`;
  // The token is in a header because proxies log addresses.
  const headers = { 'x-gotify-key': fileOf(contact, 'token_file').reveal() };
  const json = {
    title: clipped(text.title, 250),
    message: plainTextOf(text, 4_000),
    priority: priorityOf(message),
    extras: {
      'client::display': { contentType: 'text/plain' },
      ...(text.link === null ? {} : { 'client::notification': { click: { url: text.link } } }),
    },
  };
  return sending.send({ url, headers, json }, (response) => {
    if (response.status < 200 || response.status > 299) return null;
    return parsed(ResponseBody, response) === null
      ? unreadable(response)
      : { kind: 'delivered', response: response.line };
  });
}

function priorityOf({ incidents, content }: Message): number {
  if (content.tone === 'good' || incidents.length === 0) return priorityOfGood;
  return Math.max(...incidents.map(({ severity }) => priorities[severity]));
}
