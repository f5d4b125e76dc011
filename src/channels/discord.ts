import { z } from 'zod';
import { always } from '#kernel/refine.ts';
import type { Message, DeliveryReceipt } from '#monitor/notify/channel.ts';
import type { CallResponse } from './call.ts';
import type { ChannelType } from './channel.ts';
import { chatTextOf, clipped, colourOf } from './chat-text.ts';
import { firstReference, replacesFirst } from './thread.ts';
import { createHttpChannel, parsed, type SendContext, unreadable } from './http-channel.ts';
import { retry, retryAfterMs } from './http-receipt.ts';
import { needsOneUrl, urlKeys, urlOf, urlProblems } from './secret-url.ts';

const DiscordEntry = z
  .strictObject(urlKeys('expected the address of a webhook, such as "https://discord.com/api/webhooks/..."'))
  .superRefine(needsOneUrl, always);
type DiscordEntry = z.output<typeof DiscordEntry>;

const ResponseBody = z.object({ id: z.string() });
const Limited = z.object({ retry_after: z.number() });

/** Posts to a webhook. When an incident is over, its first message is edited too: a webhook cannot reply to a message. */
export const discord: ChannelType<'discord', typeof DiscordEntry> = {
  name: 'discord',
  summary: 'Posts to Discord by a webhook, and edits the first message when an incident is over.',
  Entry: DiscordEntry,
  sections: {},
  recipientsOf: ({ notify }) => [notify],
  problemsOf: urlProblems,
  open: (environment, contacts) => createHttpChannel({ name: 'discord', environment, contacts, send }),
};

async function send(message: Message, sending: SendContext<DiscordEntry>): Promise<DeliveryReceipt> {
  const json = bodyOf(message);
  const first = replacesFirst(message) ? firstReference(message) : null;
  const limited = (response: CallResponse) => limitedReceipt(response, sending.clock.now());
  if (first !== null) {
    const edit = addressOf(sending, `/messages/${encodeURIComponent(first)}`, {});
    const edited = await sending.send({ url: edit, method: 'PATCH', json }, limited);
    // If the first message is gone or belongs to another webhook, there is nothing to edit.
    if (edited.kind === 'retry' && !/^(?:403|404) /.test(edited.reason)) return edited;
  }
  return sending.send({ url: addressOf(sending, '', { wait: 'true' }), json }, (response) => {
    if (response.status < 200 || response.status > 299) return limited(response);
    const body = parsed(ResponseBody, response);
    if (body === null) return unreadable(response);
    // A message about several incidents is not edited for one of them: the others may still be open.
    const reference = message.incidents.length === 1 ? { reference: body.id } : {};
    return { kind: 'delivered', response: response.line, ...reference };
  });
}

// The query may name a thread, for both calls.
function addressOf(
  { contact }: SendContext<DiscordEntry>,
  path: string,
  query: Readonly<Record<string, string>>,
): string {
  const url = new URL(urlOf(contact));
  url.pathname = `${url.pathname.replace(/\/+$/, '')}${path}`;
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url.href;
}

function limitedReceipt(response: CallResponse, now: number): DeliveryReceipt | null {
  if (response.status !== 429) return null;
  const seconds = parsed(Limited, response)?.retry_after;
  return retry(
    response.line,
    retryAfterMs(response, now) ?? (seconds === undefined ? null : Math.ceil(seconds * 1_000)),
  );
}

function bodyOf(message: Message): object {
  const { title, sentences, facts, rows, link, acknowledge, footer } = chatTextOf(message);
  const links = acknowledge === null ? '' : `[Acknowledge](${acknowledge})\n`;
  return {
    allowed_mentions: { parse: [] },
    embeds: [
      {
        title: clipped(escaped(title), 256),
        description: links + clipped([...sentences, ...rows].map(escaped).join('\n'), 2_500),
        color: Number.parseInt(colourOf[message.content.tone].slice(1), 16),
        fields: facts.slice(0, 10).map(([name, value]) => ({ name, value: clipped(escaped(value), 250) || '-' })),
        footer: { text: clipped(footer, 500) },
        timestamp: new Date(message.at).toISOString(),
        ...(link === null ? {} : { url: link }),
      },
    ],
  };
}

function escaped(text: string): string {
  return text.replaceAll(/[\\*_~|`>#[\]]/g, String.raw`\$&`);
}
