import { type ChatText, clipped } from './chat-text.ts';

const special = /(https?:\/\/[^\s[\]()<>*`\\@]+)|[\\*_~`#]|\]\(|<|(?<!\w)@/g;

/**
 * Text that Markdown shows as it is; addresses are links still. A zero-width space breaks `@name`, `<...>` and `](`, which not all
 * services can escape, so that no text of a target calls people or hides where a link leads.
 */
export function escapedMarkdown(text: string): string {
  return text.replaceAll(special, (found, url?: string) => {
    if (url !== undefined) return url;
    if (found === '](') return ']\u200B(';
    return found === '@' || found === '<' ? `${found}\u200B` : `\\${found}`;
  });
}

/** The same for a service without an escape character (Zulip): zero-width spaces break the marks that call people or hide links. */
export function brokenMarkdown(text: string): string {
  return text.replaceAll(special, (found, url?: string) => {
    if (url !== undefined || found === '\\' || found === '_') return found;
    return found === '](' ? ']\u200B(' : `${found}\u200B`;
  });
}

/** The message without its title as Markdown, at most `most` UTF-16 code units; links come first, so that none is cut. */
export function markdownOf(
  { sentences, facts, rows, link, acknowledge, footer }: ChatText,
  most: number,
  escaped: (text: string) => string = escapedMarkdown,
): string {
  const [headline = '', ...remarks] = sentences.map(escaped);
  const linked = (name: string, url: string | null) =>
    url === null ? [] : [`[${name}](${url.replaceAll('(', '%28').replaceAll(')', '%29')})`];
  const links = [...linked('Acknowledge', acknowledge), ...linked('More', link)];
  const lines = [
    `**${headline}**`,
    ...(links.length === 0 ? [] : [links.join(' · ')]),
    ...remarks,
    ...facts.map(([label, value]) => `**${escaped(label)}:** ${escaped(value)}`),
    ...rows.map((row) => `- ${escaped(row)}`),
  ];
  const end = escaped(clipped(footer, 300));
  return `${clipped(lines.join('\n'), most - end.length - 2)}\n\n${end}`;
}
