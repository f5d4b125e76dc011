import type { Assets } from '../assets/assets.ts';
import { html, type Markup, nothing } from './markup.ts';
import { texts } from './texts.ts';

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
  /** The target whose events count; all where it is not said. */
  readonly liveOf?: string;
  /** Names of further assets: scripts, run in order, and modules after them. */
  readonly scripts?: readonly string[];
  readonly modules?: readonly string[];
  readonly styles?: readonly string[];
  readonly head?: Markup;
  readonly user?: string | null;
}

const hrefs = { overview: '/', incidents: '/incidents', check: '/check', nodes: '/nodes', status: '/status' } as const;

/** A whole document. */
export function document(frame: Frame, assets: Assets): string {
  const {
    title,
    place,
    places,
    content,
    refresh = null,
    scripts = [],
    modules = [],
    styles = [],
    head = nothing,
  } = frame;
  const links = places.map(
    (one) =>
      html`<a href="${hrefs[one]}" ${one === place ? html` aria-current="page"` : nothing}>${texts.places[one]}</a>`,
  );
  return String(
    html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title === texts.name ? title : `${title} · ${texts.name}`}</title>
<link rel="stylesheet" href="${assets.url('style.css')}">
${styles.map((name) => html`<link rel="stylesheet" href="${assets.url(name)}" /> `)}<link rel="icon" href="${assets.url('icon.svg')}" type="image/svg+xml">
<meta name="color-scheme" content="light dark">
${refresh === null ? nothing : html`<noscript><meta http-equiv="refresh" content="${refresh}" /></noscript> `}${scripts.map(
      (name) => html`<script defer src="${assets.url(name)}"></script> `,
    )}${['page.js', ...modules].map((name) => html`<script type="module" src="${assets.url(name)}"></script> `)}
${head}</head>
<body${frame.again === true ? html` data-again` : nothing}${liveness(frame, assets)}>
<a class="skip" href="#main">${texts.skip}</a>
<header class="top"><div><a class="brand" href="/"><img src="${assets.url('icon.svg')}" alt="" width="22" height="22">${texts.name}</a>
<nav aria-label="${texts.navigation}">${links}</nav>${userOf(frame)}</div></header>
<main id="main" tabindex="-1">
${content}
</main>
<footer class="foot"><span>${texts.times} <span id="zone">UTC</span>.</span></footer>
</body>
</html>
`,
  );
}

function liveness({ live = null, liveOf, since, every }: Frame, assets: Assets): Markup {
  if (live === null && every === undefined) return nothing;
  const { words, title } = texts.lost;
  const attributes = { live, of: liveOf, since, every, lost: words, 'lost-title': title };
  return html`${Object.entries(attributes).map(([name, value]) => (value === null || value === undefined ? nothing : html` data-${name}="${value}"`))} data-lost-icon="${assets.url('icon-unknown.svg')}"`;
}

function userOf({ user }: Frame): Markup {
  if (user === undefined || user === null) return nothing;
  return html`<form method="post" action="/logout" class="row">
    <span class="soft small">${user}</span><button class="quiet">${texts.logout}</button>
  </form>`;
}
