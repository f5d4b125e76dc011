import type { Page } from '#service/ports.ts';
import type { VisitorLanguage } from '#languages/language.ts';
import { html } from './markup.ts';
import type { PageSet } from './site.ts';

/** The page that says that there is no such status page. */
export const missingStatusPage = (site: PageSet, language: VisitorLanguage): Page =>
  visitorProblem(site, language, 404);

/** The page of an error for a visitor of status pages. It leads nowhere: its reader may see nothing else. */
export function visitorProblem(site: PageSet, language: VisitorLanguage, status: number): Page {
  const isMissing = status === 404;
  const title = language.say(isMissing ? 'missingTitle' : 'brokenTitle');
  return site.page({
    title,
    place: null,
    language,
    brand: { name: language.say('page'), href: '', logo: null, style: null, links: [] },
    content: html`<h1>${title}</h1>
      <p class="lead wrap">${language.say(isMissing ? 'missing' : 'broken')}</p>
      <p class="small soft">${language.say('errorCode')} ${status}</p>`,
  });
}

/** Whether a path is one of status pages. */
export const isStatusPath = (url: string): boolean => /^\/status(?:[/.?]|$)/.test(url);
