import { z } from 'zod';
import { FilePath } from '#kernel/file-path.ts';
import { WebUrl } from '#kernel/url.ts';
import type { Message, DeliveryReceipt } from '#monitor/notify/channel.ts';
import type { CallResponse } from './call.ts';
import type { ChannelType } from './channel.ts';
import { chatTextOf, clipped, plainTextOf } from './chat-text.ts';
import { createHttpChannel, fileOf, parsed, type SendContext, unreadable } from './http-channel.ts';
import { retry } from './http-receipt.ts';
import { firstReference } from './thread.ts';

const WebexEntry = z.strictObject({
  token_file: FilePath.describe('A file that holds the access token of a bot.'),
  room: z
    .string()
    .regex(/^[\w=+/-]{20,200}$/, { error: 'expected the id of a space, such as "Y2lzY29zcGFyazovL3VzL1JPT00v..."' })
    .describe('Where it posts: the id of a space (roomId) that the bot is in.'),
  url: WebUrl('expected the address of the API, such as "https://webexapis.com"')
    .default('https://webexapis.com')
    .describe('The API.'),
});
type WebexEntry = z.output<typeof WebexEntry>;

const ResponseBody = z.object({ id: z.string() });
const ErrorBody = z.object({ message: z.string() });

/** Posts plain text as a bot, which mentions no one; later messages are replies in the thread of the first. */
export const webex: ChannelType<'webex', typeof WebexEntry> = {
  name: 'webex',
  summary: 'Posts to a space of Webex as a bot.',
  Entry: WebexEntry,
  sections: {},
  recipientsOf: ({ notify }) => [notify],
  open: (environment, contacts) => createHttpChannel({ name: 'webex', environment, contacts, send }),
};

async function send(message: Message, { contact, ...sending }: SendContext<WebexEntry>): Promise<DeliveryReceipt> {
  const { room, url } = contact.entry;
  const text = chatTextOf(message);
  const headers = { authorization: `Bearer ${fileOf(contact, 'token_file').reveal()}` };
  // At most 7,439 bytes; a UTF-16 code unit has at most three.
  const json = { roomId: room, text: `${clipped(text.title, 250)}\n${plainTextOf(text, 2_200)}` };
  let isAlone = false;
  const post = async (thread: object) =>
    sending.send(
      { url: `${url.replace(/\/+$/, '')}/v1/messages`, headers, json: { ...json, ...thread } },
      (response) => {
        isAlone = (response.status === 400 || response.status === 404) && /parent/i.test(response.text);
        return receiptOf(response, room);
      },
    );
  const [firstRoom, first] = firstReference(message)?.split(' ') ?? [];
  if (firstRoom !== room) return post({});
  const receipt = await post({ parentId: first });
  // If the first message was deleted, this one stands alone.
  return isAlone ? post({}) : receipt;
}

// Status 400 is about the room or the thread, unless the text is too long.
function receiptOf(response: CallResponse, room: string): DeliveryReceipt | null {
  const { status, line } = response;
  if (status >= 200 && status <= 299) {
    const body = parsed(ResponseBody, response);
    return body === null
      ? unreadable(response)
      : { kind: 'delivered', response: line, reference: `${room} ${body.id}` };
  }
  if (status !== 400) return null;
  const reason = `${line}: ${parsed(ErrorBody, response)?.message ?? response.text}`;
  return /too long|length|exceed/i.test(reason) ? { kind: 'rejected', reason } : retry(reason);
}
