import { z } from 'zod';
import { FilePath } from '#kernel/file-path.ts';
import { WebUrl } from '#kernel/url.ts';
import type { Message, DeliveryReceipt } from '#monitor/notify/channel.ts';
import type { CallResponse } from './call.ts';
import type { ChannelType } from './channel.ts';
import { chatTextOf, clipped } from './chat-text.ts';
import { firstReference } from './thread.ts';
import { createHttpChannel, fileOf, parsed, type SendContext, unreadable } from './http-channel.ts';
import { retry, retryAfterMs } from './http-receipt.ts';

const chatHint = 'expected the id of a chat, such as -1001234567890, or the @name of a channel';
const form = /^\d{3,20}:[\w-]{20,}$/;

const TelegramEntry = z.strictObject({
  token_file: FilePath.describe('A file that holds the token of the bot, as BotFather gives it.'),
  chat: z
    .union([z.int(), z.string().regex(/^(?:-?\d{1,20}|@\w{4,64})$/, { error: chatHint })], { error: chatHint })
    .transform(String)
    .describe('Where it posts: the id of a chat, or the @name of a channel.'),
  thread: z.int().min(1).max(2_147_483_647).optional().describe('The topic of a forum to post to.'),
  api_url: WebUrl('expected the address of a Bot API server, such as "https://api.telegram.org"')
    .default('https://api.telegram.org')
    .describe('The Bot API server.'),
});
type TelegramEntry = z.output<typeof TelegramEntry>;

const ResponseBody = z.object({
  ok: z.boolean(),
  description: z.string().optional(),
  parameters: z.object({ retry_after: z.number().optional(), migrate_to_chat_id: z.int().optional() }).optional(),
  result: z.object({ message_id: z.int() }).optional(),
});

/** Posts as a bot; what follows answers the first message. */
export const telegram: ChannelType<'telegram', typeof TelegramEntry> = {
  name: 'telegram',
  summary: 'Posts to Telegram as a bot.',
  Entry: TelegramEntry,
  sections: {},
  recipientsOf: ({ notify }) => [notify],
  problemsOf: ({ files }) =>
    files['token_file'] === undefined || form.test(files['token_file'].reveal())
      ? []
      : [{ path: ['token_file'], message: 'holds no bot token, such as 123456:ABC-DEF...' }],
  open: (environment, contacts) => createHttpChannel({ name: 'telegram', environment, contacts, send }),
};

async function send(message: Message, sending: SendContext<TelegramEntry>): Promise<DeliveryReceipt> {
  const { contact, clock } = sending;
  const { chat, thread, api_url: api } = contact.entry;
  const url = `${api.replace(/\/+$/, '')}/bot${fileOf(contact, 'token_file').reveal()}/sendMessage`;
  const [firstChat, first] = firstReference(message)?.split(' ') ?? [];
  const content = {
    text: htmlOf(message),
    parse_mode: 'HTML',
    link_preview_options: { is_disabled: true },
    ...(thread === undefined ? {} : { message_thread_id: thread }),
    // If the first message is gone, this one is posted by itself.
    ...(firstChat === chat
      ? { reply_parameters: { message_id: Number(first), allow_sending_without_reply: true } }
      : {}),
  };
  let movedTo: number | null = null;
  const post = async (to: string) =>
    sending.send({ url, json: { chat_id: to, ...content } }, (response) => {
      movedTo = parsed(ResponseBody, response)?.parameters?.migrate_to_chat_id ?? null;
      return receiptOf(response, chat, clock.now());
    });
  const receipt = await post(chat);
  // A group that became a supergroup has another id from then on.
  return movedTo === null ? receipt : post(String(movedTo));
}

// Most of what is wrong with 400 is the chat or the rights in it, which people repair.
function receiptOf(response: CallResponse, chat: string, now: number): DeliveryReceipt | null {
  const body = parsed(ResponseBody, response);
  if (body === null) return response.status >= 200 && response.status <= 299 ? unreadable(response) : null;
  const { ok, description = 'no reason', parameters, result } = body;
  if (ok) {
    return {
      kind: 'delivered',
      response: response.line,
      ...(result === undefined ? {} : { reference: `${chat} ${result.message_id}` }),
    };
  }
  const reason = `${response.line}: ${description}`;
  if (response.status === 400 && /too long|can't parse|text is empty|TOO_LONG/i.test(description)) {
    return { kind: 'rejected', reason };
  }
  const seconds = parameters?.retry_after;
  return retry(reason, seconds === undefined ? retryAfterMs(response, now) : seconds * 1_000);
}

// At most 4096 characters after the marks are taken out: cut before they are put in, so that none is cut apart.
function htmlOf(message: Message): string {
  const { title, sentences, facts, rows, link, acknowledge, footer } = chatTextOf(message);
  const parts = [
    ...sentences.map((one) => clipped(one, 500)),
    ...facts.map(([label, value]) => `${label}: ${clipped(value, 200)}`),
    ...rows.slice(0, 10).map((row) => `• ${clipped(row, 120)}`),
  ];
  const body = clipped(parts.join('\n'), 3_300);
  const lines = [`<b>${escaped(clipped(title, 300))}</b>`, escaped(body), ...(link === null ? [] : [escaped(link)])];
  if (acknowledge !== null) lines.push(`Acknowledge: ${escaped(acknowledge)}`);
  return [...lines, `<i>${escaped(clipped(footer, 300))}</i>`].join('\n');
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
