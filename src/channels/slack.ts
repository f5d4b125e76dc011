import { z } from 'zod';
import { FilePath } from '#kernel/file-path.ts';
import { always } from '#kernel/refine.ts';
import { WebUrl } from '#kernel/url.ts';
import type { Message, DeliveryReceipt } from '#monitor/notify/channel.ts';
import type { CallResponse } from './call.ts';
import type { ChannelType } from './channel.ts';
import { type ChatText, chatTextOf, clipped, colourOf } from './chat-text.ts';
import { firstReference } from './thread.ts';
import { createHttpChannel, fileOf, parsed, type SendContext, unreadable } from './http-channel.ts';
import { retry } from './http-receipt.ts';
import { urlKeys, urlOf, urlProblems } from './secret-url.ts';

const SlackEntry = z
  .strictObject({
    ...urlKeys('expected the address of an incoming webhook, such as "https://hooks.slack.com/services/..."'),
    token_file: FilePath.optional().describe(
      'A file that holds the token of a bot (xoxb-...) that may chat:write, instead of a webhook: then updates answer in a thread.',
    ),
    channel: z.string().min(1).max(200).optional().describe('Where the bot posts: the id of a channel, or #name.'),
    api_url: WebUrl('expected the address of the Web API, such as "https://slack.com/api"')
      .default('https://slack.com/api')
      .describe('The Web API that the bot uses.'),
  })
  .superRefine(({ url, url_file, token_file, channel }, context) => {
    const ways = [url, url_file, token_file].filter((one) => one !== undefined).length;
    const say = (path: string[], message: string) => context.addIssue({ code: 'custom', path, message });
    if (ways !== 1) say([], 'needs one of url, url_file and token_file');
    if (token_file !== undefined && channel === undefined) say(['channel'], 'is missing: a bot needs one');
    if (token_file === undefined && channel !== undefined)
      say(['channel'], 'is for a bot: a webhook has its channel already');
  }, always);
type SlackEntry = z.output<typeof SlackEntry>;

const ResponseBody = z.object({ ok: z.boolean(), error: z.string().optional(), ts: z.string().optional() });

// What says that this very message will never be taken: docs.slack.dev, chat.postMessage and incoming webhooks.
const aboutMessage = new Set([
  'invalid_attachments',
  'invalid_blocks',
  'invalid_blocks_format',
  'invalid_payload',
  'msg_blocks_too_long',
  'msg_too_long',
  'no_text',
  'too_many_attachments',
]);
const aboutThread = new Set(['cannot_reply_to_message', 'invalid_thread_ts', 'message_not_found', 'thread_not_found']);

/** Posts to an incoming webhook, or as a bot, which answers the first message of an incident in its thread. */
export const slack: ChannelType<'slack', typeof SlackEntry> = {
  name: 'slack',
  summary: 'Posts to Slack, by an incoming webhook or as a bot.',
  Entry: SlackEntry,
  sections: {},
  recipientsOf: ({ notify }) => [notify],
  problemsOf: urlProblems,
  open: (environment, contacts) => createHttpChannel({ name: 'slack', environment, contacts, send }),
};

async function send(message: Message, sending: SendContext<SlackEntry>): Promise<DeliveryReceipt> {
  const { contact } = sending;
  const body = bodyOf(message);
  const { channel, token_file: tokenFile } = contact.entry;
  if (tokenFile === undefined || channel === undefined) {
    return sending.send({ url: urlOf(contact), json: body }, (response) => webhookReceipt(response));
  }
  const url = `${contact.entry.api_url.replace(/\/+$/, '')}/chat.postMessage`;
  const headers = { authorization: `Bearer ${fileOf(contact, 'token_file').reveal()}` };
  const post = async (thread: object) => {
    let isAlone = false;
    const receipt = await sending.send({ url, headers, json: { ...body, channel, ...thread } }, (response) => {
      const body = parsed(ResponseBody, response);
      isAlone = aboutThread.has(body?.error ?? '');
      return response.status === 200 ? botReceipt(response, body, channel) : null;
    });
    return { receipt, isAlone };
  };
  const first = firstReference(message)?.split(' ') ?? [];
  const thread = first[0] === channel ? { thread_ts: first[1], reply_broadcast: true } : {};
  const { receipt, isAlone } = await post(thread);
  return isAlone && 'thread_ts' in thread ? (await post({})).receipt : receipt;
}

function botReceipt(
  response: CallResponse,
  body: z.output<typeof ResponseBody> | null,
  channel: string,
): DeliveryReceipt {
  if (body === null) return unreadable(response);
  const { ok, error = 'no reason', ts } = body;
  if (!ok) return aboutMessage.has(error) ? { kind: 'rejected', reason: error } : retry(error);
  return { kind: 'delivered', response: 'ok', ...(ts === undefined ? {} : { reference: `${channel} ${ts}` }) };
}

// Any other error is about the webhook, which an operator can repair.
function webhookReceipt({ status, line, text }: CallResponse): DeliveryReceipt | null {
  if (![400, 403, 404, 410].includes(status)) return null;
  const reason = `${line}: ${text}`;
  return aboutMessage.has(text.trim()) ? { kind: 'rejected', reason } : retry(reason);
}

function bodyOf(message: Message): object {
  const text = chatTextOf(message);
  return {
    text: escaped(text.title),
    unfurl_links: false,
    attachments: [
      {
        color: colourOf[message.content.tone],
        fallback: escaped(text.title),
        blocks: [
          { type: 'section', text: { type: 'mrkdwn', text: clipped(mrkdwnOf(text), 3_000) } },
          { type: 'context', elements: [{ type: 'mrkdwn', text: clipped(escaped(text.footer), 3_000) }] },
        ],
      },
    ],
    metadata: { event_type: 'watchpost_message', event_payload: { id: message.id } },
  };
}

function mrkdwnOf({ sentences, facts, rows, link, acknowledge }: ChatText): string {
  const [headline = '', ...remarks] = sentences.map(escaped);
  const lines = facts.map(([label, value]) => `*${escaped(label)}:* ${escaped(value)}`);
  const linked = (url: string | null, name: string) =>
    url === null ? [] : [`<${url.replaceAll(/[<>|]/g, encodeURIComponent)}|${name}>`];
  const links = linked(link, 'More');
  return [
    `*${headline}*`,
    ...linked(acknowledge, 'Acknowledge'),
    ...remarks,
    ...lines,
    ...rows.map((row) => `• ${escaped(row)}`),
    ...links,
  ].join('\n');
}

/** As Slack wants control characters: docs.slack.dev, formatting message text. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
