import type { VisitorLanguage } from '#languages/language.ts';
import type { Frame } from './layout.ts';
import { statusHref } from './links.ts';
import { html, type Markup } from './markup.ts';
import { cardName, statusCard } from './status-card.ts';
import { statusSentence, type StatusValue } from './status.ts';
import type { StatusPlace } from './status-place.ts';
import type { ConfiguredPages } from './status-value.ts';

const foreverHeaders = { 'cache-control': 'public, max-age=31536000, immutable', 'x-content-type-options': 'nosniff' };
// An image of vectors that is opened by itself must not run scripts as this site.
const imageHeaders = {
  ...foreverHeaders,
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
};

/** The header of a status page, which is at `home`: its own name, logo, color and links, and no way to pages that visitors may not see. */
export function brandOf(page: string, pages: ConfiguredPages, home = statusHref(page)): Pick<Frame, 'brand'> {
  const own = Object.hasOwn(pages, page) ? pages[page] : undefined;
  if (own === undefined) return {};
  const { title, logo, color, links } = own;
  return {
    brand: {
      name: title,
      href: home,
      logo: logo === null ? null : `/brand/${page}/logo-${logo.digest}`,
      style: color === undefined ? null : `/brand/${page}/color-${color.slice(1).toLowerCase()}.css`,
      links: Object.entries(links).map(([text, href]) => ({ text, href })),
    },
  };
}

interface BrandFile {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | string;
}

/** A file that `brandOf` names, or null. */
export function brandFile(page: string, file: string, pages: ConfiguredPages): BrandFile | null {
  const own = Object.hasOwn(pages, page) ? pages[page] : undefined;
  if (own === undefined) return null;
  const { logo, color } = own;
  if (logo !== null && file === `logo-${logo.digest}`)
    return { headers: { ...imageHeaders, 'content-type': logo.type }, body: logo.bytes };
  if (color !== undefined && file === `color-${color.slice(1).toLowerCase()}.css`)
    return { headers: { ...foreverHeaders, 'content-type': 'text/css; charset=utf-8' }, body: styleOf(color) };
  return null;
}

// In the dark theme the same hue, light enough to be read on black.
const styleOf = (color: string) =>
  `:root{--accent:light-dark(${color},color-mix(in oklab,${color} 45%,white));--on-accent:light-dark(white,#111)}\n`;

/** What links to the page show of it: its title and state (Open Graph protocol). */
export function headOf(value: StatusValue, language: VisitorLanguage, { url, file, cardUrl }: StatusPlace): Markup {
  const query = `?lang=${language.code}`;
  const meta = Object.entries({
    'og:type': 'website',
    'og:site_name': value.title,
    'og:title': `${value.title}: ${language.say('page')}`,
    'og:description': statusSentence(value, language),
    'og:url': url,
    'og:image': cardUrl(cardName(statusCard(value))),
    'og:image:type': 'image/png',
    'og:image:width': '1200',
    'og:image:height': '630',
    'og:image:alt': statusSentence(value, language),
    'og:locale': language.locale.replace('-', '_'),
  }).map(([name, content]) => html`<meta property="${name}" content="${content}">\n`);
  return html`<link rel="canonical" href="${url}">
<meta name="twitter:card" content="summary_large_image">
<meta name="description" content="${statusSentence(value, language)}">
${meta}<link rel="alternate" type="application/atom+xml" href="${file('atom')}${query}">
<link rel="alternate" type="text/calendar" href="${file('ics')}">
`;
}
