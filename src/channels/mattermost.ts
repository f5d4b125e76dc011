import { z } from 'zod';
import { always } from '#kernel/refine.ts';
import type { Message, DeliveryReceipt } from '#monitor/notify/channel.ts';
import type { CallResponse } from './call.ts';
import type { ChannelType } from './channel.ts';
import { chatTextOf, clipped, colourOf } from './chat-text.ts';
import { createHttpChannel, parsed, type SendContext } from './http-channel.ts';
import { retry } from './http-receipt.ts';
import { escapedMarkdown, markdownOf } from './markdown.ts';
import { needsOneUrl, urlKeys, urlOf, urlProblems } from './secret-url.ts';

const MattermostEntry = z
  .strictObject(
    urlKeys('expected the address of an incoming webhook, such as "https://mattermost.example.com/hooks/..."'),
  )
  .superRefine(needsOneUrl, always);
type MattermostEntry = z.output<typeof MattermostEntry>;

const ErrorBody = z.object({ id: z.string(), message: z.string() });

// The errors with status 400 that are about this very message; any other is about the webhook, which an operator can repair.
const aboutMessage = new Set([
  'web.incoming_webhook.parse.app_error',
  'web.incoming_webhook.split_props_length.app_error',
  'web.incoming_webhook.text.app_error',
]);

/** Posts to an incoming webhook, which answers no message and edits none. */
export const mattermost: ChannelType<'mattermost', typeof MattermostEntry> = {
  name: 'mattermost',
  summary: 'Posts to Mattermost by an incoming webhook.',
  Entry: MattermostEntry,
  sections: {},
  recipientsOf: ({ notify }) => [notify],
  problemsOf: urlProblems,
  open: (environment, contacts) => createHttpChannel({ name: 'mattermost', environment, contacts, send }),
};

async function send(message: Message, sending: SendContext<MattermostEntry>): Promise<DeliveryReceipt> {
  const text = chatTextOf(message);
  const attachment = {
    fallback: clipped(text.title, 250),
    color: colourOf[message.content.tone],
    title: escapedMarkdown(clipped(text.title, 250)),
    // All properties of a post share 8,000 characters on older servers.
    text: markdownOf(text, 6_000),
  };
  return sending.send({ url: urlOf(sending.contact), json: { attachments: [attachment] } }, refusalOf);
}

function refusalOf(response: CallResponse): DeliveryReceipt | null {
  const body = response.status === 400 ? parsed(ErrorBody, response) : null;
  if (body === null) return null;
  const reason = `${response.line}: ${body.message}`;
  return aboutMessage.has(body.id) ? { kind: 'rejected', reason } : retry(reason);
}
