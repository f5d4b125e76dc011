import { monthAt, monthSpan } from '#kernel/zoned-time.ts';
import type { VisitorLanguage } from '#languages/language.ts';
import { html, type Markup, nothing } from './markup.ts';
import { pastList, type StatusPast } from './status-threads.ts';

export interface StatusArchive extends StatusPast {
  readonly title: string;
  /** `2026-11`, in UTC. */
  readonly month: string;
  readonly now: number;
  /** Where the status page is. */
  readonly path: string;
}

/** The incidents of a month on a status page. */
export function archiveContent(archive: StatusArchive, language: VisitorLanguage): Markup {
  const { title, month, now, path } = archive;
  const link = (to: string, text: string) => html`<a href="?month=${to}">${text}</a> `;
  const { from, to } = monthSpan(month, 'UTC');
  const isLast = to > now;
  return html`<div><p class="soft">${title}</p><h1>${archiveHeading(month, language)}</h1></div>
<section class="paper">${pastList(archive, language, 'noneInMonth')}</section>
<nav class="row" aria-label="${language.say('archive')}">${link(monthAt(from - 1, 'UTC'), language.say('earlier'))}${isLast ? nothing : link(monthAt(to, 'UTC'), language.say('later'))}<a href="${path}">${language.say('backToNow')}</a></nav>`;
}

/** The heading of a month. */
export const archiveHeading = (month: string, language: VisitorLanguage): string =>
  language.say('pastOfMonth', { month: language.month(month) });
