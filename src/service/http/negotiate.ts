import { isIPv6 } from 'node:net';
import type { FastifyRequest } from 'fastify';

/** Whether the caller is a browser that wants a page: it takes HTML and does not ask for JSON. */
export function wantsPage({ headers: { accept = '' } }: FastifyRequest): boolean {
  // Programs ask for neither.
  if (!/html/i.test(accept)) return false;
  const types = accept.toLowerCase().split(',');
  const names = (pattern: RegExp) =>
    types.some((type) => pattern.test(type) && !/;\s*q=0(?:\.0*)?\s*(?:;|$)/.test(type));
  return names(/^\s*(?:text\/html|application\/xhtml\+xml)/) && !names(/[/+]json/);
}

const hostPattern = /^(?:\[[\da-f:.]{2,45}\]|[a-z\d](?:[a-z\d._-]{0,252}))(?::\d{1,5})?$/i;

/**
 * Where this service is reached, without a slash at the end: the configured address, else what the request says (a trusted
 * proxy's word counts), else the address of the connection.
 */
export function baseUrlOf(request: FastifyRequest, publicUrl: string | null): string {
  if (publicUrl !== null) return publicUrl;
  const scheme = request.protocol === 'https' ? 'https' : 'http';
  const asked = urlOfHost(scheme, request.host);
  if (asked !== null) return asked;
  const { localAddress = '127.0.0.1', localPort = 80 } = request.socket;
  return `${scheme}://${isIPv6(localAddress) ? `[${localAddress}]` : localAddress}:${localPort}`;
}

// Nearly all callers name the same host.
let last: { readonly scheme: string; readonly host: string; readonly url: string | null } | null = null;

function urlOfHost(scheme: string, host: string): string | null {
  if (last?.host === host && last.scheme === scheme) return last.url;
  const isHost = hostPattern.test(host) && URL.canParse(`${scheme}://${host}`);
  last = { scheme, host, url: isHost ? `${scheme}://${host.toLowerCase()}` : null };
  return last.url;
}

/** Whether the caller has this version of the answer already (RFC 9110 section 13.1.2). */
export function hasVersion({ headers }: FastifyRequest, etag: string): boolean {
  const known = headers['if-none-match'];
  if (known === undefined) return false;
  return known.split(',').some((one) => one.trim().replace(/^W\//, '') === etag || one.trim() === '*');
}
