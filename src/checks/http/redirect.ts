import { formatHost, formatHostPort, parseEndpoint } from '../endpoint.ts';
import { failure, type Failure } from '../outcome.ts';
import type { Spec } from './spec.ts';

/** Where one request goes. */
export interface RedirectTarget {
  readonly secure: boolean;
  /** A name or an address without brackets. */
  readonly name: string;
  readonly port: number;
  /** Path and query in ASCII. */
  readonly path: string;
}

/** One request as it is sent. Header names are lowercase. */
export interface HopRequest {
  readonly target: RedirectTarget;
  readonly method: Spec['method'];
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer | null;
  /** False once a redirect led to another origin: what is meant for the first one stays away from the others. */
  readonly sameOrigin: boolean;
}

export type Redirect =
  | { readonly kind: 'final' }
  | { readonly kind: 'follow'; readonly next: HopRequest }
  | { readonly kind: 'refused'; readonly failure: Failure };

const redirectStatuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Where a URL in recorded form or in a `location` leads, or why it leads nowhere. */
export function targetOf(url: string): RedirectTarget | string {
  const endpoint = parseEndpoint(url);
  if (!endpoint.ok) return endpoint.message;
  const { scheme, name, port, path } = endpoint;
  if (scheme !== 'http' && scheme !== 'https')
    return `has the scheme "${scheme ?? ''}", which is neither http nor https`;
  const secure = scheme === 'https';
  return { secure, name, port: port ?? defaultPort(secure), path: escapePath(path ?? '/') };
}

/** Where a URL that a server has given leads, however long it is, or why it leads nowhere. Its fragment and credentials are left out. */
export function targetOfUrl(url: URL): RedirectTarget | string {
  const origin = targetOf(`${url.protocol}//${url.host}`);
  return typeof origin === 'string' ? origin : { ...origin, path: `${url.pathname}${queryOf(url)}` };
}

/** The URL of a target in its shortest form. */
export function urlOf(target: RedirectTarget): string {
  return `${target.secure ? 'https' : 'http'}://${authorityOf(target)}${target.path}`;
}

/** The value of `host` or `:authority`: without the port if the scheme implies it. */
export function authorityOf({ secure, name, port }: RedirectTarget): string {
  return port === defaultPort(secure) ? formatHost(name) : formatHostPort(name, port);
}

/** What was sent before a redirect. */
export interface RedirectHistory {
  /** The number of requests so far. */
  readonly sent: number;
  /** Whether the same request was sent before. */
  readonly isVisited: (next: HopRequest) => boolean;
  /** The most redirects that are followed. */
  readonly limit: number;
}

/**
 * What to do about an answer (RFC 9110, section 15.4). Refused: too many redirects, one that leads back, from https to http, to another
 * scheme or to nowhere. 303, and 301 or 302 to a POST, turn the request into a GET without body.
 */
export function followRedirect(
  request: HopRequest,
  status: number,
  location: string | undefined,
  { sent, isVisited, limit }: RedirectHistory,
): Redirect {
  if (limit === 0 || !redirectStatuses.has(status) || location === undefined) return { kind: 'final' };
  if (sent > limit) return refused(`more than ${limit} redirects`);
  const base = urlOf(request.target);
  const escaped = escapeBytes(location);
  if (!URL.canParse(escaped, base)) return refused(`redirect to an invalid URL: ${location}`);
  const url = new URL(escaped, base);
  if (url.username !== '' || url.password !== '') return refused('redirect to a URL with a user name or password');
  url.hash = '';
  const target = targetOfUrl(url);
  if (typeof target === 'string') return refused(`redirect to ${url.href}: it ${target}`);
  if (request.target.secure && !target.secure) return refused(`redirect from https to ${urlOf(target)}`);
  const next = redirected(request, status, target);
  if (isVisited(next)) return refused(`redirect loop: back to ${urlOf(target)}`);
  return { kind: 'follow', next };
}

/**
 * The value of `content-length`, also of a body that is not there where the method has a meaning for one (RFC 9110, section 8.6): without
 * it some servers answer 411. Null if it is to be left out.
 */
export function lengthOf({ method, body }: HopRequest): number | null {
  if (body !== null) return Buffer.byteLength(body);
  return method === 'POST' || method === 'PUT' || method === 'PATCH' ? 0 : null;
}

/** What makes a request the same as an earlier one. */
export function visitOf({ method, target }: HopRequest): string {
  return `${method} ${urlOf(target)}`;
}

/** Whether a header is a secret of the configured origin, by its name. */
export function isSecretHeader(name: string): boolean {
  return /auth|cookie|token|secret|password|key/i.test(name);
}

function redirected(request: HopRequest, status: number, target: RedirectTarget): HopRequest {
  const toGet = (status === 303 && request.method !== 'HEAD') || (status < 303 && request.method === 'POST');
  const sameOrigin = authorityOf(request.target) === authorityOf(target) && request.target.secure === target.secure;
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.headers)) {
    if (!sameOrigin && (name === 'host' || isSecretHeader(name))) continue;
    if (toGet && name.startsWith('content-')) continue;
    headers[name] = value;
  }
  return {
    target,
    method: toGet ? 'GET' : request.method,
    headers,
    body: toGet ? null : request.body,
    sameOrigin: request.sameOrigin && sameOrigin,
  };
}

function refused(message: string): Redirect {
  return { kind: 'refused', failure: failure('target', 'redirect', message) };
}

function defaultPort(secure: boolean): number {
  return secure ? 443 : 80;
}

// The parser of endpoints lets letters of all scripts pass; on the wire they are escaped as UTF-8 (RFC 3986, section 2.5).
function escapePath(path: string): string {
  return path.replaceAll(/[^\x21-\x7e]/gu, encodeURIComponent);
}

// An empty query is a query too, but not to `search`.
function queryOf(url: URL): string {
  return /\?[^#]*/.exec(url.href)?.[0] ?? '';
}

// Headers are read byte by byte as Latin-1. Bytes beyond ASCII are sent back as they came, as curl does: most mean UTF-8.
function escapeBytes(location: string): string {
  return location.replaceAll(/[\x80-\xff]/g, (byte) => `%${Buffer.from(byte, 'latin1').toString('hex').toUpperCase()}`);
}
