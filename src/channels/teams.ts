import { z } from 'zod';
import { always } from '#kernel/refine.ts';
import type { Message, DeliveryReceipt } from '#monitor/notify/channel.ts';
import type { Tone } from '#monitor/notify/content.ts';
import type { CallResponse } from './call.ts';
import type { ChannelType } from './channel.ts';
import { chatTextOf, clipped } from './chat-text.ts';
import { createHttpChannel, type SendContext } from './http-channel.ts';
import { retry } from './http-receipt.ts';
import { needsOneUrl, urlKeys, urlOf, urlProblems } from './secret-url.ts';

const TeamsEntry = z
  .strictObject(urlKeys('expected the address of a workflow, as Teams shows it'))
  .superRefine(needsOneUrl, always);
type TeamsEntry = z.output<typeof TeamsEntry>;

/** Posts Adaptive Cards to a workflow ("When a Teams webhook request is received"), which can neither edit nor answer. */
export const teams: ChannelType<'teams', typeof TeamsEntry> = {
  name: 'teams',
  summary: 'Posts cards to Microsoft Teams by a workflow.',
  Entry: TeamsEntry,
  sections: {},
  recipientsOf: ({ notify }) => [notify],
  problemsOf: urlProblems,
  open: (environment, contacts) => createHttpChannel({ name: 'teams', environment, contacts, send }),
};

async function send(message: Message, { contact, ...sending }: SendContext<TeamsEntry>): Promise<DeliveryReceipt> {
  return sending.send({ url: urlOf(contact), json: cardOf(message) }, failureInWords);
}

// The older connectors answer 200 and say in words that Teams took nothing.
function failureInWords({ status, text }: CallResponse): DeliveryReceipt | null {
  if (status !== 200 || !/failed with error|returned HTTP error/i.test(text)) return null;
  return retry(text);
}

const colours: Readonly<Record<Tone, string>> = { bad: 'attention', good: 'good', unsure: 'warning', plain: 'default' };

// A whole card may have 28 KB.
function cardOf(message: Message): object {
  const { title, sentences, facts, rows, link, acknowledge, footer } = chatTextOf(message);
  const open = (name: string, url: string | null) =>
    url === null ? [] : [{ type: 'Action.OpenUrl', title: name, url }];
  const actions = [...open('Acknowledge', acknowledge), ...open('More', link)];
  const block = (text: string, style: object = {}) => ({
    type: 'TextBlock',
    wrap: true,
    text: clipped(escaped(text), 4_000),
    ...style,
  });
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    msteams: { width: 'Full' },
    body: [
      block(title, { weight: 'bolder', size: 'medium', color: colours[message.content.tone] }),
      ...sentences.map((sentence) => block(sentence)),
      {
        type: 'FactSet',
        facts: facts.map(([label, value]) => ({ title: label, value: clipped(escaped(value), 500) })),
      },
      ...rows.map((row) => block(`- ${clipped(row, 200)}`, { spacing: 'none' })),
      block(footer, { isSubtle: true, size: 'small' }),
    ],
    ...(actions.length === 0 ? {} : { actions }),
  };
  return {
    type: 'message',
    attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content }],
  };
}

function escaped(text: string): string {
  return text.replaceAll(/[\\*_[\]]/g, String.raw`\$&`);
}
