import { z } from 'zod';
import { always } from '#kernel/refine.ts';
import type { Message, DeliveryReceipt } from '#monitor/notify/channel.ts';
import type { CallResponse } from './call.ts';
import type { ChannelType } from './channel.ts';
import { chatTextOf, clipped, colourOf } from './chat-text.ts';
import { createHttpChannel, parsed, type SendContext, unreadable } from './http-channel.ts';
import { retry } from './http-receipt.ts';
import { escapedMarkdown, markdownOf } from './markdown.ts';
import { needsOneUrl, urlKeys, urlOf, urlProblems } from './secret-url.ts';

const RocketchatEntry = z
  .strictObject(
    urlKeys('expected the address of an incoming webhook, such as "https://rocketchat.example.com/hooks/..."'),
  )
  .superRefine(needsOneUrl, always);
type RocketchatEntry = z.output<typeof RocketchatEntry>;

const ResponseBody = z.object({ success: z.boolean(), error: z.string().optional() });

/** Posts to an incoming webhook, which gives messages no id that a later one could answer. */
export const rocketchat: ChannelType<'rocketchat', typeof RocketchatEntry> = {
  name: 'rocketchat',
  summary: 'Posts to Rocket.Chat by an incoming webhook.',
  Entry: RocketchatEntry,
  sections: {},
  recipientsOf: ({ notify }) => [notify],
  problemsOf: urlProblems,
  open: (environment, contacts) => createHttpChannel({ name: 'rocketchat', environment, contacts, send }),
};

async function send(message: Message, sending: SendContext<RocketchatEntry>): Promise<DeliveryReceipt> {
  const text = chatTextOf(message);
  // A server takes 5,000 characters unless it is configured otherwise (Message_MaxAllowedSize).
  const attachment = { color: colourOf[message.content.tone], text: markdownOf(text, 4_000) };
  const json = { text: escapedMarkdown(clipped(text.title, 250)), attachments: [attachment] };
  return sending.send({ url: urlOf(sending.contact), json }, receiptOf);
}

// Status 400 is about the integration, its channel or its user, unless the message is too long.
function receiptOf(response: CallResponse): DeliveryReceipt | null {
  const { status, line } = response;
  const isGood = status >= 200 && status <= 299;
  if (!isGood && status !== 400) return null;
  const body = parsed(ResponseBody, response);
  if (body === null) return isGood ? unreadable(response) : retry(`${line}: ${response.text}`);
  if (body.success) return { kind: 'delivered', response: line };
  const reason = `${line}: ${body.error ?? 'no reason'}`;
  return /size-exceeded|too.long/i.test(reason) ? { kind: 'rejected', reason } : retry(reason);
}
