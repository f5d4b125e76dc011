import { singleLine } from '#kernel/text.ts';
import type { Message } from '#monitor/notify/channel.ts';
import type { ContentTable, Tone } from '#monitor/notify/content.ts';

/** A message for a chat, as plain text that every chat marks up in its own way. */
export interface ChatText {
  /** One line: the subject. */
  readonly title: string;
  /** The headline and the remarks. */
  readonly sentences: readonly string[];
  readonly facts: readonly (readonly [label: string, value: string])[];
  /** The rows of the first table, a line each. */
  readonly rows: readonly string[];
  readonly link: string | null;
  /** The URL to acknowledge the incident, or null. */
  readonly acknowledge: string | null;
  /** The subject and the message id, which identifies a repeat. */
  readonly footer: string;
}

const mostRows = 20;

export function chatTextOf({ content, id }: Pick<Message, 'content' | 'id'>): ChatText {
  const [table] = content.tables;
  return {
    title: content.subject,
    sentences: [`${content.headline}.`, ...content.remarks],
    facts: content.facts,
    rows: table === undefined ? [] : rowsOf(table),
    link: content.link,
    acknowledge: content.acknowledge ?? null,
    footer: `${content.footer} (message ${id.slice(0, 8)})`,
  };
}

function rowsOf({ rows, more }: ContentTable): readonly string[] {
  const shown = rows.slice(0, mostRows).map((row) => {
    const words = row.flatMap(({ text, notes = [] }) => [text, ...notes]).filter((text) => text !== '' && text !== '-');
    const links = row.flatMap(({ link }) => (link === undefined ? [] : [` ${link}`]));
    return `${singleLine(words.join(', '))}${links.join('')}`;
  });
  const rest = rows.length - shown.length;
  return [...shown, ...(rest > 0 ? [`and ${rest} more rows`] : []), ...(more === null ? [] : [more])];
}

/** The whole message as lines of plain text, at most `most` characters. */
export function plainTextOf({ sentences, facts, rows, link, acknowledge, footer }: ChatText, most: number): string {
  const lines = [...sentences, ...facts.map(([label, value]) => `${label}: ${value}`), ...rows];
  const links = [...(acknowledge === null ? [] : [`Acknowledge: ${acknowledge}`]), ...(link === null ? [] : [link])];
  return clipped([...links, ...lines, footer].join('\n'), most);
}

/** At most `most` UTF-16 code units, cut between characters. */
export function clipped(text: string, most: number): string {
  return text.length <= most
    ? text
    : `${text
        .slice(0, most - 1)
        .toWellFormed()
        .replace(/\uFFFD$/, '')}…`;
}

/** Readable on white and on black. */
export const colourOf: Readonly<Record<Tone, string>> = {
  bad: '#d1242f',
  good: '#1a7f37',
  unsure: '#9a6700',
  plain: '#57606a',
};
