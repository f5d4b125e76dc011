import { z } from 'zod';
import { FilePath } from '#kernel/file-path.ts';
import { always } from '#kernel/refine.ts';
import { WebUrl } from '#kernel/url.ts';
import type { Message, DeliveryReceipt } from '#monitor/notify/channel.ts';
import type { CallResponse } from './call.ts';
import type { ChannelType } from './channel.ts';
import { chatTextOf, clipped } from './chat-text.ts';
import { basicCredentials, formOf } from './form.ts';
import { createHttpChannel, fileOf, parsed, type SendContext, unreadable } from './http-channel.ts';
import { retry } from './http-receipt.ts';

const sid = (prefix: string, hint: string) =>
  z.string().regex(new RegExp(`^${prefix}[\\da-fA-F]{32}$`), { error: `expected ${hint} (${prefix}...)` });

const phoneNumber = /^\+[1-9]\d{1,14}$/;

const TwilioEntry = z
  .strictObject({
    account: sid('AC', 'the SID of an account').describe('The SID of the account (AC...).'),
    key: sid('SK', 'the SID of an API key')
      .optional()
      .describe('The SID of an API key (SK...), whose secret is in token_file. Default: the account itself.'),
    token_file: FilePath.describe('A file that holds the auth token of the account, or the secret of the API key.'),
    from: z
      .string()
      .regex(/^(?:\+[1-9]\d{1,14}|\d{3,8}|MG[\da-fA-F]{32}|[A-Za-z\d ]{1,11})$/, {
        error: 'expected a number such as "+15017122661", a short code, a sender id or a messaging service (MG...)',
      })
      .describe('The sender: a number, a short code, an alphanumeric id, or the SID of a messaging service (MG...).'),
    to: z
      .string()
      .regex(phoneNumber, { error: 'expected a number such as "+15558675310"' })
      .describe('The number that gets messages, with + and the country code.'),
    url: WebUrl('expected the address of the API, such as "https://api.twilio.com"')
      .default('https://api.twilio.com')
      .describe('The API.'),
    call: z
      .boolean()
      .default(false)
      .describe(
        'Calls for the beginning of critical incidents and for reminders of them; the rest are short messages.',
      ),
  })
  .superRefine(({ call, from }, context) => {
    if (call && !phoneNumber.test(from))
      context.addIssue({
        code: 'custom',
        path: ['from'],
        message: 'has to be a number such as "+15017122661" to call',
      });
  }, always);
type TwilioEntry = z.output<typeof TwilioEntry>;

const ResponseBody = z.object({ sid: z.string() });
const ErrorBody = z.object({ code: z.int(), message: z.string() });

// twilio.com/docs/api/errors: the body is missing, or too long. All others are about numbers, senders and the account.
const aboutMessage = new Set([21_602, 21_617, 21_658]);

/** Sends a short message (SMS) to one number, or calls it. */
export const twilio: ChannelType<'twilio', typeof TwilioEntry> = {
  name: 'twilio',
  summary: 'Sends short messages (SMS) by Twilio, and calls.',
  Entry: TwilioEntry,
  sections: {},
  recipientsOf: ({ notify }) => [notify],
  open: (environment, contacts) => createHttpChannel({ name: 'twilio', environment, contacts, send }),
};

async function send(message: Message, { contact, ...sending }: SendContext<TwilioEntry>): Promise<DeliveryReceipt> {
  const { account, key = account, from, to, url, call } = contact.entry;
  const sender: Record<string, string> =
    from.startsWith('MG') && from.length === 34 ? { MessagingServiceSid: from } : { From: from };
  const isCall = call && isUrgent(message);
  const form = formOf({
    To: to,
    ...sender,
    ...(isCall ? { Twiml: spokenTextOf(message) } : { Body: shortTextOf(message) }),
  });
  const credentials = basicCredentials(key, fileOf(contact, 'token_file').reveal());
  const request = {
    url: `${url.replace(/\/+$/, '')}/2010-04-01/Accounts/${account}/${isCall ? 'Calls' : 'Messages'}.json`,
    headers: { ...form.headers, authorization: `Basic ${credentials}` },
    body: form.body,
    secrets: [credentials],
  };
  return sending.send(request, receiptOf);
}

function receiptOf(response: CallResponse): DeliveryReceipt | null {
  const { status, line } = response;
  if (status >= 200 && status <= 299) {
    return parsed(ResponseBody, response) === null ? unreadable(response) : { kind: 'delivered', response: line };
  }
  if (status !== 400) return null;
  const body = parsed(ErrorBody, response);
  const reason = `${line}: ${body === null ? response.text : `${body.code} ${body.message}`}`;
  return aboutMessage.has(body?.code ?? 0) ? { kind: 'rejected', reason } : retry(reason);
}

// In a storm a beginning comes with a digest.
const urgentKinds: ReadonlySet<string> = new Set(['opened', 'reminder', 'digest']);

const isUrgent = ({ content: { kind }, incidents }: Message) =>
  urgentKinds.has(kind) && incidents.some(({ severity, endedAt }) => severity === 'critical' && endedAt === null);

// twilio.com/docs/voice/twiml/say: at most 4,000 characters in all. It is body twice, for people who have just woken up.
function spokenTextOf({ content }: Message): string {
  const text = clipped(['Watchpost', content.headline, ...content.remarks].join('. '), 600).replaceAll(/[&<>"']/g, ' ');
  return `<Response><Say loop="2" language="en-US">${text}</Say></Response>`;
}

// A message may have 1,600 characters, but each 67 to 153 of them cost as one: no tables.
function shortTextOf(message: Message): string {
  const { title, acknowledge, link, footer } = chatTextOf(message);
  const links = [...(acknowledge === null ? [] : [`Acknowledge: ${acknowledge}`]), ...(link === null ? [] : [link])];
  return clipped([clipped(title, 300), ...links, clipped(footer, 200)].join('\n'), 1_600);
}
