import type { Frame } from './layout.ts';
import { statusHref } from './links.ts';
import { html, type Markup } from './markup.ts';
import { statusSentence, type StatusValue } from './status.ts';
import type { ConfiguredPages } from './status-value.ts';
import { texts } from './texts.ts';

const foreverHeaders = { 'cache-control': 'public, max-age=31536000, immutable', 'x-content-type-options': 'nosniff' };
// An image of vectors that is opened by itself must not run scripts as this site.
const imageHeaders = {
  ...foreverHeaders,
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
};

/** The header of a status page: its own name, logo, color and links, and no way to pages that visitors may not see. */
export function brandOf(page: string, pages: ConfiguredPages): Pick<Frame, 'brand'> {
  const own = Object.hasOwn(pages, page) ? pages[page] : undefined;
  if (own === undefined) return {};
  const { title, logo, color, links } = own;
  return {
    brand: {
      name: title,
      href: statusHref(page),
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
export function headOf(value: StatusValue, path: string, url: string): Markup {
  const meta = Object.entries({
    'og:type': 'website',
    'og:site_name': value.title,
    'og:title': `${value.title}: ${texts.places.status}`,
    'og:description': statusSentence(value),
    'og:url': url,
  }).map(([name, content]) => html`<meta property="${name}" content="${content}">\n`);
  return html`<link rel="canonical" href="${url}">
<meta name="description" content="${statusSentence(value)}">
${meta}<link rel="alternate" type="application/atom+xml" href="${path}.atom">
<link rel="alternate" type="text/calendar" href="${path}.ics">
`;
}
