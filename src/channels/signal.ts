import { z } from 'zod';
import { WebUrl } from '#kernel/url.ts';
import type { Message, DeliveryReceipt } from '#monitor/notify/channel.ts';
import type { CallResponse } from './call.ts';
import type { ChannelType } from './channel.ts';
import { chatTextOf, clipped, plainTextOf } from './chat-text.ts';
import { createHttpChannel, parsed, type SendContext, unreadable } from './http-channel.ts';
import { retry } from './http-receipt.ts';

const numberForm = /^\+[1-9]\d{1,14}$/;
const recipientHint = 'expected a number such as "+15558675310", or the id of a group such as "group.abc="';

const SignalEntry = z.strictObject({
  url: WebUrl('expected the address of signal-cli-rest-api, such as "http://127.0.0.1:8080"').describe(
    'The server: signal-cli-rest-api.',
  ),
  number: z
    .string()
    .regex(numberForm, { error: 'expected a number such as "+15017122661"' })
    .describe('The number that is registered there, with + and the country code.'),
  recipients: z
    .array(z.string().regex(/^(?:\+[1-9]\d{1,14}|group\.[\w+/=-]{4,100})$/, { error: recipientHint }), {
      error: 'expected a list of numbers and groups, such as ["+15558675310"]',
    })
    .min(1)
    .max(50)
    .describe('Who gets messages: numbers and ids of groups (group....).'),
});
type SignalEntry = z.output<typeof SignalEntry>;

const ResponseBody = z.object({ timestamp: z.union([z.string(), z.number()]) });
const ErrorBody = z.object({ error: z.string() });

/** Sends messages by a server that speaks for a number of Signal. */
export const signal: ChannelType<'signal', typeof SignalEntry> = {
  name: 'signal',
  summary: 'Sends messages by Signal (signal-cli-rest-api).',
  Entry: SignalEntry,
  sections: {},
  recipientsOf: ({ notify }) => [notify],
  open: (environment, contacts) => createHttpChannel({ name: 'signal', environment, contacts, send }),
};

async function send(message: Message, { contact, ...sending }: SendContext<SignalEntry>): Promise<DeliveryReceipt> {
  const { url, number, recipients } = contact.entry;
  const text = chatTextOf(message);
  // Longer ones become attachments.
  const body = `${clipped(text.title, 250)}\n${plainTextOf(text, 1_600)}`;
  const json = { message: body, number, recipients };
  return sending.send({ url: `${url.replace(/\/+$/, '')}/v2/send`, json }, receiptOf);
}

// Status 400 is for everything that signal-cli reports: an unknown number, an untrusted key, no connection.
function receiptOf(response: CallResponse): DeliveryReceipt | null {
  const { status, line } = response;
  if (status >= 200 && status <= 299) {
    return parsed(ResponseBody, response) === null ? unreadable(response) : { kind: 'delivered', response: line };
  }
  if (status !== 400) return null;
  return retry(`${line}: ${parsed(ErrorBody, response)?.error ?? response.text}`);
}
