import { FailureCode } from '#checks/index.ts';
import { docsTexts } from './docs-texts.ts';
import { html, type Markup } from './markup.ts';

/** What words on pages lead to in the documentation: a page, and a heading or the name in a row of a table. */
export const docsPlaces = {
  rules: 'alerting#kinds-of-rules',
  suppression: 'alerting#suppression',
  verdicts: 'alerting#verdicts',
  devices: 'alerting#other-channels',
  evidence: 'evidence#conclusions',
  editing: 'pages#add-edit-and-remove-targets',
  checks: 'checks',
  hubs: 'hubs',
} as const;

export const docsHref = (place: keyof typeof docsPlaces): string => `/docs/${docsPlaces[place]}`;

/** A small mark beside a word that leads to what it means. */
export const about = (place: keyof typeof docsPlaces, word: string): Markup =>
  html` <a class="about" href="${docsHref(place)}" title="${docsTexts.about(word)}" aria-label="${docsTexts.about(word)}">?</a>`;

/** A failure code that leads to its meaning. */
export function codeLink(code: string): Markup {
  // The history may have codes of other versions.
  if (!FailureCode.safeParse(code).success) return html`${code}`;
  return html`<a class="code" href="/docs/checks#failure-codes-${code}">${code}</a>`;
}
