import { z } from 'zod';
import { always } from '#kernel/refine.ts';
import type { Message, DeliveryReceipt } from '#monitor/notify/channel.ts';
import type { Tone } from '#monitor/notify/content.ts';
import type { CallResponse } from './call.ts';
import type { ChannelType } from './channel.ts';
import { chatTextOf, clipped, plainTextOf } from './chat-text.ts';
import { createHttpChannel, type SendContext } from './http-channel.ts';
import { retry } from './http-receipt.ts';
import { needsOneUrl, urlKeys, urlOf, urlProblems } from './secret-url.ts';

const AppriseEntry = z
  .strictObject({
    ...urlKeys('expected the address of a configuration of Apprise API, such as "http://127.0.0.1:8000/notify/KEY"'),
    tag: z
      .string()
      .regex(/^[\w ,-]{1,200}$/, { error: 'expected tags, such as "ops" or "ops,night"' })
      .optional()
      .describe('The tags of the services that are notified. Default: those without a tag.'),
  })
  .superRefine(needsOneUrl, always);
type AppriseEntry = z.output<typeof AppriseEntry>;

const types: Readonly<Record<Tone, string>> = { bad: 'failure', good: 'success', unsure: 'warning', plain: 'info' };

/** Notifies the services of a configuration that is stored at a server of Apprise API. */
export const apprise: ChannelType<'apprise', typeof AppriseEntry> = {
  name: 'apprise',
  summary: 'Notifies the services that a server of Apprise API knows by a key.',
  Entry: AppriseEntry,
  sections: {},
  recipientsOf: ({ notify }) => [notify],
  problemsOf: urlProblems,
  open: (environment, contacts) => createHttpChannel({ name: 'apprise', environment, contacts, send }),
};

async function send(message: Message, sending: SendContext<AppriseEntry>): Promise<DeliveryReceipt> {
  const text = chatTextOf(message);
  const { tag } = sending.contact.entry;
  const json = {
    title: clipped(text.title, 250),
    // Apprise splits what is too long for a service.
    body: plainTextOf(text, 4_000),
    type: types[message.content.tone],
    format: 'text',
    ...(tag === undefined ? {} : { tag }),
  };
  return sending.send({ url: urlOf(sending.contact), json, headers: { accept: 'application/json' } }, receiptOf);
}

function receiptOf({ status, line, text }: CallResponse): DeliveryReceipt | null {
  if (status === 204) return retry(`${line}: the server has no configuration for this key`);
  // At least one service failed; the others have the message, and get it again.
  return status === 424 ? { ...retry(`${line}: ${text}`), isUncertain: true, atLeastMs: 15 * 60_000 } : null;
}
