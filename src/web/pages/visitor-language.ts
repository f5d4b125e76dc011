import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Languages, languageOf, preferredLanguage } from '#languages/languages.ts';
import type { VisitorLanguage } from '#languages/language.ts';
import { html, type Markup } from './markup.ts';

const cookieName = 'watchpost_language';
const yearSeconds = 365 * 24 * 3_600;

/** What answers depend on that are in the language of a visitor. */
export const languageVary = { vary: 'accept-language, cookie' } as const;

/** The language that a visitor has chosen by the address or before, or else the one that the browser prefers. */
export function languageFor(request: Pick<FastifyRequest, 'headers' | 'query'>, languages: Languages): VisitorLanguage {
  const { cookie = '', 'accept-language': accepted } = request.headers;
  const chosen = chosenLanguage(request, languages);
  if (chosen !== null) return chosen;
  const [, remembered] = new RegExp(`(?:^|;\\s*)${cookieName}=([\\w-]+)`).exec(cookie) ?? [];
  return languages.get(remembered ?? '') ?? preferredLanguage(languages, accepted);
}

function chosenLanguage({ query }: Pick<FastifyRequest, 'query'>, languages: Languages): VisitorLanguage | null {
  const asked = typeof query === 'object' && query !== null && 'lang' in query ? query.lang : null;
  return typeof asked === 'string' && asked.length <= 35 ? languageOf(languages, asked) : null;
}

/**
 * Remembers a language that the address has chosen. The cookie holds its code and nothing else: it is the same for all who chose
 * that language.
 */
export function rememberLanguage(request: FastifyRequest, reply: FastifyReply, languages: Languages): void {
  const chosen = chosenLanguage(request, languages);
  if (chosen === null) return;
  const secure = request.protocol === 'https' ? '; Secure' : '';
  const value = `${cookieName}=${chosen.code}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${yearSeconds}${secure}`;
  void reply.header('set-cookie', value);
}

/** Links to the same page in each language. `query` is what else its address has, such as `month=2026-11`. */
export function languageChooser(languages: Languages, language: VisitorLanguage, query = ''): Markup {
  if (languages.size < 2) return html``;
  const more = query === '' ? '' : `${query}&`;
  const links = [...languages.values()].map(
    ({ code, name }) =>
      html`<a href="?${more}lang=${code}" lang="${code}" hreflang="${code}"${code === language.code ? html` aria-current="true"` : html``}>${name}</a> `,
  );
  return html`<nav class="row small languages" aria-label="${language.say('language')}">${links}</nav>`;
}
