import { z } from 'zod';
import { FilePath } from '#kernel/file-path.ts';
import { WebUrl } from '#kernel/url.ts';
import type { Message, DeliveryReceipt } from '#monitor/notify/channel.ts';
import type { CallResponse } from './call.ts';
import type { ChannelType } from './channel.ts';
import { chatTextOf, clipped } from './chat-text.ts';
import { basicCredentials, formOf } from './form.ts';
import { createHttpChannel, fileOf, parsed, type SendContext, unreadable } from './http-channel.ts';
import { retry } from './http-receipt.ts';
import { brokenMarkdown, markdownOf } from './markdown.ts';

const ZulipEntry = z.strictObject({
  url: WebUrl('expected the address of an organization, such as "https://example.zulipchat.com"').describe(
    'The organization.',
  ),
  bot: z
    .email({ error: 'expected the mail address of a bot, such as "watchpost-bot@example.zulipchat.com"' })
    .describe('The mail address of the bot.'),
  api_key_file: FilePath.describe('A file that holds the API key of the bot.'),
  stream: z
    .union([z.int().min(1), z.string().min(1).max(60)], { error: 'expected the name or the id of a channel' })
    .transform(String)
    .describe('Where it posts: the name or the id of a channel (stream).'),
  topic: z.string().min(1).max(60).default('Watchpost').describe('The topic of all messages.'),
});
type ZulipEntry = z.output<typeof ZulipEntry>;

const ResponseBody = z.object({ result: z.string(), msg: z.string().optional(), id: z.int().optional() });

/** Posts to a topic of a channel as a bot. */
export const zulip: ChannelType<'zulip', typeof ZulipEntry> = {
  name: 'zulip',
  summary: 'Posts to a topic of Zulip as a bot.',
  Entry: ZulipEntry,
  sections: {},
  recipientsOf: ({ notify }) => [notify],
  open: (environment, contacts) => createHttpChannel({ name: 'zulip', environment, contacts, send }),
};

async function send(message: Message, { contact, ...sending }: SendContext<ZulipEntry>): Promise<DeliveryReceipt> {
  const { url, bot, stream, topic } = contact.entry;
  const text = chatTextOf(message);
  const title = brokenMarkdown(clipped(text.title, 250));
  // At most 10,000 characters. `stream` is understood by all versions, `channel` from 9.0 on.
  const form = formOf({
    type: 'stream',
    to: stream,
    topic,
    content: `**${title}**\n\n${markdownOf(text, 9_000, brokenMarkdown)}`,
  });
  const credentials = basicCredentials(bot, fileOf(contact, 'api_key_file').reveal());
  const request = {
    url: `${url.replace(/\/+$/, '')}/api/v1/messages`,
    headers: { ...form.headers, authorization: `Basic ${credentials}` },
    body: form.body,
    secrets: [credentials],
  };
  return sending.send(request, receiptOf);
}

// Status 400 is about the channel or the rights of the bot, unless it is about the content.
function receiptOf(response: CallResponse): DeliveryReceipt | null {
  const { status, line } = response;
  const isGood = status >= 200 && status <= 299;
  if (!isGood && status !== 400) return null;
  const body = parsed(ResponseBody, response);
  if (isGood && body === null) return unreadable(response);
  if (isGood && body?.result === 'success') return { kind: 'delivered', response: line };
  const reason = `${line}: ${body?.msg ?? response.text}`;
  return /too long|must not be empty|null bytes/i.test(reason) ? { kind: 'rejected', reason } : retry(reason);
}
