import { statusHref } from './links.ts';

/** Where a status page and what belongs to it are. */
export interface StatusPlace {
  /** The path of the page at the host that was asked. */
  readonly home: string;
  /** The paths of its feed, its calendar and the same for programs. */
  readonly file: (extension: 'atom' | 'ics' | 'json') => string;
  readonly archive: string;
  readonly live: string;
  /** The form to subscribe by mail. */
  readonly subscribe: string;
  /** The page, and its feed, for other sites and programs: at its own domain if it has one. */
  readonly url: string;
  readonly feedUrl: string;
  /** Where the picture of a state is. */
  readonly cardUrl: (state: string) => string;
}

export interface PlaceOptions {
  readonly page: string;
  readonly domain: string | undefined;
  /** Whether it is asked for at its own domain. */
  readonly isOnDomain: boolean;
  /** The scheme, host and port of the request. */
  readonly requested: string;
  /** The address that people open, without a slash at its end; null to take that of each request. */
  readonly publicUrl: string | null;
}

/** The place of a page for a request. */
export function placeOf({ page, domain, isOnDomain, requested, publicUrl }: PlaceOptions): StatusPlace {
  const among = pathsAmongOthers(page);
  const onDomain = pathsOnDomain;
  const { home, file, archive, live, subscribe } = isOnDomain ? onDomain : among;
  const origin =
    domain === undefined ? (publicUrl ?? requested) : domainOrigin({ domain, isOnDomain, requested, publicUrl });
  const own = domain === undefined ? among : onDomain;
  return {
    home,
    file,
    archive,
    live,
    subscribe,
    url: `${origin}${own.home}`,
    feedUrl: `${origin}${own.file('atom')}`,
    cardUrl: (state) => `${origin}/card/${page}/${state}.png`,
  };
}

type PagePaths = Pick<StatusPlace, 'home' | 'file' | 'archive' | 'live' | 'subscribe'>;

const pathsAmongOthers = (page: string): PagePaths => {
  const home = statusHref(page);
  return {
    home,
    file: (extension) => `${home}.${extension}`,
    archive: `/status/${page}/history`,
    live: `/live${home}`,
    subscribe: `/status/${page}/subscribe`,
  };
};

const pathsOnDomain: PagePaths = {
  home: '/',
  file: (extension) => `/status.${extension}`,
  archive: '/history',
  live: '/live',
  subscribe: '/subscribe',
};

// Without a public address the domain has the port of the request that came to it; with one, that of its scheme.
function domainOrigin({ domain, isOnDomain, requested, publicUrl }: Omit<PlaceOptions, 'page'>): string {
  if (publicUrl === null && isOnDomain) return requested;
  const { protocol } = new URL(publicUrl ?? requested);
  return `${protocol}//${domain}`;
}

/** Where mails about a page lead to. */
export function mailPlaceOf(page: string, domain: string | undefined, publicUrl: string | null) {
  const scheme = publicUrl === null ? 'https:' : new URL(publicUrl).protocol;
  const own = domain === undefined ? `${publicUrl}/status/${page}` : `${scheme}//${domain}`;
  return {
    url: domain === undefined ? `${publicUrl}${statusHref(page)}` : `${own}/`,
    linkTo: (purpose: 'confirm' | 'unsubscribe', token: string) => `${own}/${purpose}/${token}`,
  };
}
