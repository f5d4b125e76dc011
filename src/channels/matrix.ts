import { z } from 'zod';
import { FilePath } from '#kernel/file-path.ts';
import { WebUrl } from '#kernel/url.ts';
import type { Message, DeliveryReceipt } from '#monitor/notify/channel.ts';
import type { CallResponse } from './call.ts';
import type { ChannelType } from './channel.ts';
import { chatTextOf, plainTextOf } from './chat-text.ts';
import { firstReference } from './thread.ts';
import { createHttpChannel, fileOf, parsed, type SendContext, unreadable } from './http-channel.ts';
import { retry, retryAfterMs } from './http-receipt.ts';

const MatrixEntry = z.strictObject({
  homeserver: WebUrl('expected the address of a homeserver, such as "https://matrix.example.com"').describe(
    'The homeserver of the account that posts.',
  ),
  room: z
    .string()
    .max(255)
    .regex(/^!\S+$/, { error: 'expected the id of a room, such as "!abc:example.com"' })
    .describe('The id of the room, which is not its #alias; the account has to be in it. It is not encrypted for.'),
  token_file: FilePath.describe('A file that holds the access token of the account.'),
});
type MatrixEntry = z.output<typeof MatrixEntry>;

const ResponseBody = z.object({ event_id: z.string() });
const ErrorBody = z.object({
  errcode: z.string(),
  error: z.string().optional(),
  retry_after_ms: z.number().optional(),
});

// What says that this very event will never be taken.
const aboutMessage = new Set(['M_BAD_JSON', 'M_NOT_JSON', 'M_TOO_LARGE']);

/** Posts events whose transaction id is that of the message, so that a repeat is the same event; what follows is in its thread. */
export const matrix: ChannelType<'matrix', typeof MatrixEntry> = {
  name: 'matrix',
  summary: 'Posts to a room of Matrix.',
  Entry: MatrixEntry,
  sections: {},
  recipientsOf: ({ notify }) => [notify],
  open: (environment, contacts) => createHttpChannel({ name: 'matrix', environment, contacts, send }),
};

async function send(message: Message, sending: SendContext<MatrixEntry>): Promise<DeliveryReceipt> {
  const { contact, clock } = sending;
  const { homeserver, room } = contact.entry;
  const rooms = `${homeserver.replace(/\/+$/, '')}/_matrix/client/v3/rooms`;
  const headers = { authorization: `Bearer ${fileOf(contact, 'token_file').reveal()}` };
  const put = async (transaction: string, relation: object) => {
    let isBadRequest = false;
    const url = `${rooms}/${encodeURIComponent(room)}/send/m.room.message/${transaction}`;
    const receipt = await sending.send(
      { url, method: 'PUT', headers, json: { ...eventOf(message), ...relation } },
      (response) => {
        isBadRequest = response.status === 400;
        return receiptOf(response, room, clock.now());
      },
    );
    return { receipt, isBadRequest };
  };
  const [firstRoom, first] = firstReference(message)?.split(' ') ?? [];
  if (firstRoom !== room) return (await put(message.id, {})).receipt;
  const threaded = await put(message.id, {
    'm.relates_to': {
      rel_type: 'm.thread',
      event_id: first,
      is_falling_back: true,
      'm.in_reply_to': { event_id: first },
    },
  });
  // A thread that cannot be continued is no reason to say nothing.
  return threaded.isBadRequest ? (await put(`${message.id}.alone`, {})).receipt : threaded.receipt;
}

function receiptOf(response: CallResponse, room: string, now: number): DeliveryReceipt | null {
  if (response.status >= 200 && response.status <= 299) {
    const body = parsed(ResponseBody, response);
    if (body === null) return unreadable(response);
    return { kind: 'delivered', response: response.line, reference: `${room} ${body.event_id}` };
  }
  const failure = parsed(ErrorBody, response);
  if (failure === null) return null;
  const { errcode, error = '', retry_after_ms: afterMs } = failure;
  const reason = `${response.line}: ${errcode} ${error}`;
  if (aboutMessage.has(errcode)) return { kind: 'rejected', reason };
  return retry(reason, retryAfterMs(response, now) ?? afterMs ?? null);
}

function eventOf(message: Message): object {
  const text = chatTextOf(message);
  const { title, sentences, facts, rows, link, acknowledge, footer } = text;
  const linked = (url: string | null, name: string) =>
    url === null ? [] : [`<p><a href="${escaped(url)}">${escaped(name)}</a></p>`];
  const list = (lines: readonly string[]) =>
    lines.length === 0 ? '' : `<ul>${lines.map((one) => `<li>${one}</li>`).join('')}</ul>`;
  const html = [
    `<strong>${escaped(title)}</strong>`,
    ...sentences.map((one) => `<p>${escaped(one)}</p>`),
    list(facts.map(([label, value]) => `<b>${escaped(label)}:</b> ${escaped(value)}`)),
    list(rows.map(escaped)),
    ...linked(acknowledge, 'Acknowledge'),
    ...linked(link, link ?? ''),
    `<p><em>${escaped(footer)}</em></p>`,
  ];
  return {
    msgtype: 'm.text',
    body: `${title}\n${plainTextOf(text, 8_000)}`,
    format: 'org.matrix.custom.html',
    formatted_body: html.join(''),
    'm.mentions': {},
  };
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
