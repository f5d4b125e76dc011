import { statusHref } from './links.ts';
import type { ConfiguredPages } from './status-value.ts';

/** The name of the page whose domain this host is, with or without a port; null if it is none. */
export function pageOfHost(host: string | undefined, pages: ConfiguredPages): string | null {
  const name = (host ?? '').toLowerCase().replace(/\.?(?::\d+)?$/, '');
  if (name === '') return null;
  return Object.entries(pages).find(([, { domain }]) => domain === name)?.[0] ?? null;
}

/**
 * The path of a request to the domain of a page, as it is at the program's own host: there is nothing else than the page at `/` and
 * what belongs to it.
 */
export function pathOnDomain(page: string, url: string): string {
  const [, path = '', query = ''] = /^([^?#]*)(.*)$/s.exec(url) ?? [];
  return `${ownPath(page, path)}${query}`;
}

function ownPath(page: string, path: string): string {
  const home = statusHref(page);
  const [, extension] = /^\/status(\.atom|\.ics|\.json)$/.exec(path) ?? [];
  if (path === '/') return home;
  if (extension !== undefined) return `${home}${extension}`;
  if (path === '/history') return `/status/${page}/history`;
  if (path === '/live') return `/live${home}`;
  if (path === '/subscribe' || /^\/(?:confirm|unsubscribe)\/[^/]+$/.test(path)) return `/status/${page}${path}`;
  if (path === '/favicon.ico' || /^\/assets\/[^/]+$/.test(path)) return path;
  return isOwnFile(page, path) ? path : `/status/${page}/missing`;
}

const isOwnFile = (page: string, path: string): boolean =>
  path.startsWith(`/brand/${page}/`) || path.startsWith(`/badge/${page}/`) || path.startsWith(`/card/${page}/`);
