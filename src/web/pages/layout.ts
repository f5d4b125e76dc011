import type { VisitorLanguage } from '#languages/language.ts';
import type { Assets } from '../assets/assets.ts';
import { about } from './docs-links.ts';
import { docsTexts } from './docs-texts.ts';
import type { HubsLine } from './hubs-texts.ts';
import { foreign, html, type Markup, nothing } from './markup.ts';
import { texts } from './texts.ts';
import { phrase } from './visitor.ts';

/** Which entry of the navigation a page belongs to. */
export type MenuItem = 'overview' | 'incidents' | 'check' | 'nodes' | 'status' | null;

export interface Frame {
  readonly title: string;
  readonly place: MenuItem;
  /** The sections of this installation that pages lead to. */
  readonly places: readonly Exclude<MenuItem, null>[];
  readonly content: Markup;
  /** Seconds after which a browser without scripts loads the page again, or null. */
  readonly refresh?: number | null;
  /** A stream of events; the page is drawn anew as they come. */
  readonly live?: string | null;
  /** The version of that stream that the page shows, for streams with heartbeats: without them the page says that it is not connected. */
  readonly since?: number;
  /** Seconds after which scripts fetch a page that has no stream. */
  readonly every?: number;
  /** Whether something is being looked up that the page will show in a moment. */
  readonly again?: boolean;
  /** The target whose events count; all if it is not said. */
  readonly liveOf?: string;
  /** Names of further assets: scripts, run in order, and modules after them. */
  readonly scripts?: readonly string[];
  readonly modules?: readonly string[];
  readonly styles?: readonly string[];
  readonly head?: Markup;
  readonly user?: string | null;
  /** Whose page it is, if it is not this program's own: then it leads nowhere else. */
  readonly brand?: PageBrand;
  /** The language of its visitor; without it that of experts. */
  readonly language?: VisitorLanguage;
  /** What the last line shows besides the zone. */
  readonly foot?: Markup;
  /** About the hubs, if there are several; only pages about targets show it. */
  readonly hubs?: HubsLine | null;
}

/** The header of a page that shows its owner's name instead of this program's. */
export interface PageBrand {
  readonly name: string;
  readonly href: string;
  /** The addresses of its logo and of its style sheet, or null. */
  readonly logo: string | null;
  readonly style: string | null;
  readonly links: readonly { readonly text: string; readonly href: string }[];
}

const hrefs = { overview: '/', incidents: '/incidents', check: '/check', nodes: '/nodes', status: '/status' } as const;

/** A whole document. */
export function document(frame: Frame, assets: Assets): string {
  const { title, content, refresh = null, scripts = [], modules = [], styles = [], head = nothing } = frame;
  const words = frameWords(frame.language);
  const hubs = frame.place === 'overview' || frame.place === 'incidents' ? (frame.hubs ?? null) : null;
  const [warning, calm] = hubs?.isWarning === true ? [hubs.words, null] : [null, hubs?.words ?? null];
  return String(
    html`<!doctype html>
<html lang="${frame.language?.code ?? 'en'}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title === texts.name || frame.brand !== undefined ? title : `${title} · ${texts.name}`}</title>
<link rel="stylesheet" href="${assets.url('style.css')}">
${
  frame.brand?.style === undefined || frame.brand.style === null
    ? nothing
    : html`<link rel="stylesheet" href="${frame.brand.style}">
`
}${styles.map((name) => html`<link rel="stylesheet" href="${assets.url(name)}" /> `)}${icon(frame, assets)}
<meta name="color-scheme" content="light dark">
${refresh === null ? nothing : html`<noscript><meta http-equiv="refresh" content="${refresh}" /></noscript> `}${scripts.map(
      (name) => html`<script defer src="${assets.url(name)}"></script> `,
    )}${['page.js', ...modules].map((name) => html`<script type="module" src="${assets.url(name)}"></script> `)}
${head}</head>
<body${frame.again === true ? html` data-again` : nothing}${frame.language === undefined ? nothing : html` data-locale="${frame.language.locale}"`}${liveness(frame, assets)}>
<a class="skip" href="#main">${words.skip}</a>
${frame.brand === undefined ? header(frame, assets) : brandHeader(frame.brand, words)}
<main id="main" tabindex="-1">
${warning === null ? nothing : html`<p class="notice down" role="status">${foreign(warning)}</p>`}${content}
</main>
<footer class="foot"><span>${words.times}</span>${calm === null ? nothing : html`<span>${foreign(calm)}${about('hubs', docsTexts.hubs)}</span>`}${frame.foot ?? nothing}${frame.brand === undefined && frame.language === undefined ? html`<span><a href="/docs">${docsTexts.title}</a></span>` : nothing}</footer>
</body>
</html>
`,
  );
}

/** What the frame of a page says. */
interface FrameWords {
  readonly skip: string;
  readonly navigation: string;
  readonly times: Markup;
  readonly lost: string;
  readonly lostTitle: string;
}

function frameWords(language: VisitorLanguage | undefined): FrameWords {
  const zone = html`<span id="zone">UTC</span>`;
  if (language !== undefined) {
    // Scripts fill in the time.
    const lost = language.say('lost', { time: '{time}' });
    return {
      skip: language.say('skip'),
      navigation: language.say('navigation'),
      lostTitle: language.say('lostTitle'),
      lost,
      times: phrase(language, 'times', { zone }),
    };
  }
  const { skip, navigation, lost, times } = texts;
  return { skip, navigation, lost: lost.words, lostTitle: lost.title, times: html`${times} ${zone}.` };
}

function icon({ brand }: Frame, assets: Assets): Markup {
  if (brand?.logo !== undefined && brand.logo !== null) return html`<link rel="icon" href="${brand.logo}">`;
  return html`<link rel="icon" href="${assets.url('icon.svg')}" type="image/svg+xml">${brand === undefined ? html`<link rel="manifest" href="${assets.url('app.webmanifest')}">` : nothing}`;
}

function header({ place, places, user }: Frame, assets: Assets): Markup {
  const links = places.map(
    (one) =>
      html`<a href="${hrefs[one]}" ${one === place ? html` aria-current="page"` : nothing}>${texts.places[one]}</a>`,
  );
  return html`<header class="top"><div><a class="brand" href="/"><img src="${assets.url('icon.svg')}" alt="" width="22" height="22">${texts.name}</a>
<nav aria-label="${texts.navigation}">${links}</nav>${userOf(user)}</div></header>`;
}

function brandHeader({ name, href, logo, links }: PageBrand, words: FrameWords): Markup {
  const image = logo === null ? nothing : html`<img src="${logo}" alt="" height="28">`;
  const items = links.map((link) => html`<a href="${link.href}">${link.text}</a>`);
  return html`<header class="top"><div><a class="brand" href="${href}">${image}${name}</a>
<nav aria-label="${words.navigation}">${items}</nav></div></header>`;
}

function liveness({ live = null, liveOf, since, every, language }: Frame, assets: Assets): Markup {
  if (live === null && every === undefined) return nothing;
  const { lost, lostTitle } = frameWords(language);
  const attributes = { live, of: liveOf, since, every, lost, 'lost-title': lostTitle };
  return html`${Object.entries(attributes).map(([name, value]) => (value === null || value === undefined ? nothing : html` data-${name}="${value}"`))} data-lost-icon="${assets.url('icon-unknown.svg')}"`;
}

function userOf(user: Frame['user']): Markup {
  if (user === undefined || user === null) return nothing;
  return html`<form method="post" action="/logout" class="row">
    <span class="soft small">${user}</span><button class="quiet">${texts.logout}</button>
  </form>`;
}
