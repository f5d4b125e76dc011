import { z } from 'zod';
import { always } from '#kernel/refine.ts';
import type { Message, DeliveryReceipt } from '#monitor/notify/channel.ts';
import type { CallResponse } from './call.ts';
import type { ChannelType } from './channel.ts';
import { chatTextOf, clipped, plainTextOf } from './chat-text.ts';
import { createHttpChannel, parsed, type SendContext, unreadable } from './http-channel.ts';
import { retry } from './http-receipt.ts';
import { needsOneUrl, urlKeys, urlOf, urlProblems } from './secret-url.ts';
import { firstReference } from './thread.ts';

const GooglechatEntry = z
  .strictObject(
    urlKeys('expected the address of a webhook, such as "https://chat.googleapis.com/v1/spaces/.../messages?key=..."'),
  )
  .superRefine(needsOneUrl, always);
type GooglechatEntry = z.output<typeof GooglechatEntry>;

const ResponseBody = z.object({ name: z.string() });
const ErrorBody = z.object({ error: z.object({ message: z.string(), status: z.string().optional() }) });

/** Posts to a webhook of a space. The thread has a key of our own, so that a repeat and a later message find it. */
export const googlechat: ChannelType<'googlechat', typeof GooglechatEntry> = {
  name: 'googlechat',
  summary: 'Posts to Google Chat by a webhook, in a thread for each incident.',
  Entry: GooglechatEntry,
  sections: {},
  recipientsOf: ({ notify }) => [notify],
  problemsOf: urlProblems,
  open: (environment, contacts) => createHttpChannel({ name: 'googlechat', environment, contacts, send }),
};

async function send(message: Message, sending: SendContext<GooglechatEntry>): Promise<DeliveryReceipt> {
  const url = new URL(urlOf(sending.contact));
  url.searchParams.set('messageReplyOption', 'REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD');
  const threadKey = firstReference(message) ?? message.id;
  const { title, ...text } = chatTextOf(message);
  // A message had at most 4,096 characters; today it may have 32,000 bytes.
  const json = {
    text: `*${escaped(clipped(title, 250))}*\n${escaped(plainTextOf({ title, ...text }, 3_500))}`,
    thread: { threadKey },
  };
  return sending.send({ url: url.href, json }, (response) => receiptOf(response, threadKey));
}

// An invalid key is a status 400 as well.
function receiptOf(response: CallResponse, reference: string): DeliveryReceipt | null {
  const { status, line } = response;
  if (status >= 200 && status <= 299) {
    return parsed(ResponseBody, response) === null
      ? unreadable(response)
      : { kind: 'delivered', response: line, reference };
  }
  if (status !== 400) return null;
  const reason = `${line}: ${parsed(ErrorBody, response)?.error.message ?? response.text}`;
  return /\b(?:key|token|space)\b/i.test(reason) ? retry(reason) : { kind: 'rejected', reason };
}

// <users/all> would call everyone; there is no way to escape it.
function escaped(text: string): string {
  return text.replaceAll('<', '<\u200B');
}
