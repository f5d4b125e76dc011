import { monthAt, monthSpan } from '#kernel/zoned-time.ts';
import { html, type Markup, nothing } from './markup.ts';
import { outageList } from './status.ts';
import type { PastOutage } from './status-past.ts';
import { texts } from './texts.ts';

export interface StatusArchive {
  readonly title: string;
  /** `2026-11`, in UTC. */
  readonly month: string;
  readonly outages: readonly PastOutage[];
  readonly now: number;
  /** Where the status page is. */
  readonly path: string;
}

/** The incidents of a month on a status page. */
export function archiveContent({ title, month, outages, now, path }: StatusArchive): Markup {
  const words = texts.status;
  const link = (to: string, text: string) => html`<a href="?month=${to}">${text}</a> `;
  const { from, to } = monthSpan(month, 'UTC');
  const isLast = to > now;
  return html`<div><p class="soft">${title}</p><h1>${words.past}, ${month}</h1></div>
<section class="paper">${outageList(outages, words.noneInMonth)}</section>
<nav class="row" aria-label="${words.archive}">${link(monthAt(from - 1, 'UTC'), words.earlier)}${isLast ? nothing : link(monthAt(to, 'UTC'), words.later)}<a href="${path}">${words.backToNow}</a></nav>`;
}
