import { unescape } from 'node:querystring';
import type { PlainMap } from './draft.ts';

/**
 * The `proxy` of an http check for the one at this address; null if it is of a kind that no check goes through. Programs in Go have a
 * `socks5` proxy resolve the names of targets.
 */
export function proxyAt(url: string): PlainMap | null {
  if (/^\$\{\w+\}$/.test(url)) return { url };
  const [, scheme, username, password = '', server] =
    /^(https?|socks5h?):\/\/(?:([^:@/]*)(?::([^@/]*))?@)?([^@/]+)\/?$/i.exec(url) ?? [];
  if (scheme === undefined) return null;
  const ours = scheme.toLowerCase().startsWith('socks') ? 'socks5h' : scheme.toLowerCase();
  const signIn = username === undefined ? {} : { username: unescape(username), password: unescape(password) };
  return { url: `${ours}://${server}`, ...signIn };
}

export const noSuchProxy = 'its proxy speaks neither HTTP nor SOCKS 5, and no check goes through such a one';

/** How tokens are requested, in any imported format. */
export interface ClientCredentials {
  readonly tokenUrl: string;
  readonly id: string;
  readonly secret: string;
  readonly scopes: readonly string[];
  readonly audience?: string | undefined;
  /** Whether id and secret are sent in the body. */
  readonly inBody?: boolean;
}

/** The `oauth2` of an http check. */
export function oauth2Of({ tokenUrl, id, secret, scopes, audience, inBody = false }: ClientCredentials): PlainMap {
  return {
    token_url: tokenUrl,
    client_id: id,
    client_secret: secret,
    scopes: scopes.length === 0 ? undefined : scopes,
    audience,
    auth: inBody ? 'body' : undefined,
  };
}

export const sentInHeader =
  'id and secret are sent to a token endpoint in a header; if it expects them in the body, set oauth2.auth: body';
export const verifiedEndpoint = 'the certificate of its token endpoint is verified; oauth2.ca names whom to trust';
