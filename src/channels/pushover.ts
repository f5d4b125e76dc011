import { z } from 'zod';
import { FilePath } from '#kernel/file-path.ts';
import { WebUrl } from '#kernel/url.ts';
import type { Message, DeliveryReceipt } from '#monitor/notify/channel.ts';
import type { CallResponse } from './call.ts';
import type { ChannelType, Contact, ContactProblem } from './channel.ts';
import { chatTextOf, clipped, plainTextOf } from './chat-text.ts';
import { createHttpChannel, fileOf, parsed, type SendContext, unreadable } from './http-channel.ts';
import { retry } from './http-receipt.ts';

const PushoverEntry = z.strictObject({
  token_file: FilePath.describe('A file that holds the API token of an application.'),
  user_file: FilePath.describe('A file that holds the key of a user or a group.'),
  device: z
    .string()
    .regex(/^[\w-]{1,25}(?:,[\w-]{1,25})*$/, { error: 'expected names of devices, such as "phone" or "phone,tablet"' })
    .optional()
    .describe('The devices that get messages. Default: all of the user.'),
  url: WebUrl('expected the address of the API, such as "https://api.pushover.net"')
    .default('https://api.pushover.net')
    .describe('The API.'),
});
type PushoverEntry = z.output<typeof PushoverEntry>;

const ResponseBody = z.object({
  status: z.int(),
  errors: z.array(z.string()).optional(),
  receipt: z.string().optional(),
});

const priorities = { critical: 2, warning: 1, info: 0 } as const;
// Seconds between two alarms of an emergency, and until they end by themselves; the API takes 30 and more, and at most 10,800.
const emergency = { retry: 60, expire: 3_600 };

/** Pushes messages. A critical one is repeated until it is acknowledged on a device or its incident is over. */
export const pushover: ChannelType<'pushover', typeof PushoverEntry> = {
  name: 'pushover',
  summary: 'Pushes messages by Pushover.',
  Entry: PushoverEntry,
  sections: {},
  keepsAlerts: true,
  recipientsOf: ({ notify }) => [notify],
  problemsOf: (contact) => [
    ...problemOf(contact, 'token_file', 'API token'),
    ...problemOf(contact, 'user_file', 'key of a user or a group'),
  ],
  open: (environment, contacts) => createHttpChannel({ name: 'pushover', environment, contacts, send }),
};

function problemOf({ files }: Contact<unknown>, key: string, name: string): readonly ContactProblem[] {
  const secret = files[key];
  return secret === undefined || /^[\da-zA-Z]{30}$/.test(secret.reveal())
    ? []
    : [{ path: [key], message: `holds no ${name} (30 letters and digits)` }];
}

async function send(message: Message, { contact, ...sending }: SendContext<PushoverEntry>): Promise<DeliveryReceipt> {
  const base = `${contact.entry.url.replace(/\/+$/, '')}/1`;
  const token = fileOf(contact, 'token_file').reveal();
  for (const receipt of endedAlarmsOf(message)) {
    const url = `${base}/receipts/${encodeURIComponent(receipt)}/cancel.json`;
    const cancelled = await sending.send({ url, json: { token } });
    // An emergency that is acknowledged, expired or of another application needs no cancelling.
    if (cancelled.kind === 'retry' && !/^4(?!29|08|25)\d\d /.test(cancelled.reason)) return cancelled;
  }
  const text = chatTextOf(message);
  const priority = priorityOf(message);
  const { device } = contact.entry;
  const json = {
    token,
    user: fileOf(contact, 'user_file').reveal(),
    title: clipped(text.title, 250),
    message: plainTextOf(text, 1_024),
    priority,
    timestamp: Math.floor(message.at / 1_000),
    ...(priority === 2 ? emergency : {}),
    ...(device === undefined ? {} : { device }),
    ...(text.link === null || text.link.length > 512 ? {} : { url: text.link, url_title: 'More' }),
  };
  return sending.send({ url: `${base}/messages.json`, json }, (response) => receiptOf(response, message));
}

// Of incidents that began with a message of their own and are over: one message may tell the ends of several.
function endedAlarmsOf({ incidents, beginnings }: Message): ReadonlySet<string> {
  return new Set(incidents.flatMap(({ id, endedAt }) => (endedAt === null ? [] : (beginnings.get(id) ?? []))));
}

// A reminder or an update does not start a second alarm beside the first.
function priorityOf({ kind, incidents, content }: Message): number {
  if (content.tone === 'good' || incidents.length === 0) return 0;
  const highest = Math.max(...incidents.map(({ severity }) => priorities[severity]));
  return kind === 'reminder' || kind === 'update' ? Math.min(1, highest) : highest;
}

// Status 400 names the token or the user if they are invalid, which an operator can repair.
function receiptOf(response: CallResponse, { incidents }: Message): DeliveryReceipt | null {
  const { status, line } = response;
  const isGood = status >= 200 && status <= 299;
  const body = parsed(ResponseBody, response);
  if (isGood && body?.status !== 1) return unreadable(response);
  if (isGood) {
    const receipt = incidents.length === 1 ? body?.receipt : undefined;
    return { kind: 'delivered', response: line, ...(receipt === undefined ? {} : { reference: receipt }) };
  }
  if (status !== 400) return null;
  const reason = [line, ...(body?.errors ?? [response.text])].join(': ');
  return /^message|^title|^url/i.test(body?.errors?.[0] ?? '') ? { kind: 'rejected', reason } : retry(reason);
}
