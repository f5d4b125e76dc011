import { createHash, timingSafeEqual } from 'node:crypto';
import type { Policy } from '#checks/index.ts';
import { isFromHere } from '#kernel/network.ts';

/** Whether checks that are started over the API may reach private addresses: never, for callers on this machine, always. */
export type AllowPrivate = false | 'loopback' | true;

export interface AccessRules {
  /** Whether everyone may start checks. */
  readonly open: boolean;
  readonly allowPrivate: AllowPrivate;
  /** Origins whose pages may start checks and read answers, or `*` for all; lower case. */
  readonly origins: readonly string[];
  /** SHA-256 of each token. */
  readonly tokens: readonly { readonly name: string; readonly hash: Buffer }[];
}

/** The sender of a request. Headers are those of the request, lower case; a header that is absent is undefined. */
export interface Caller {
  /** The client's address, behind trusted proxies the one that they tell. */
  readonly ip: string;
  /** The address of the connection itself. */
  readonly peer: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** A stranger is a caller from another machine without a token. */
export type AccessDecision =
  | {
      readonly ok: true;
      readonly policy: Policy;
      /** Whose allowance pays. */ readonly client: string;
      readonly isStranger: boolean;
    }
  | { readonly ok: false; readonly error: 'unauthorized' | 'cross_site'; readonly message: string };

/**
 * Decides whether a caller may start a check, and what the check may reach.
 *
 * 1. Browsers that act for another site or ahead of time are refused; a person who follows a link is not, nor a page of an origin that
 *    the rules name, which counts as a caller from another machine.
 * 2. A token that is sent must be right, and its name pays for the check.
 * 3. Without one, everybody may start where `open` is set, and callers on this machine where no token is configured.
 * 4. Private addresses are for whom `allowPrivate` says.
 */
export function accessOf(caller: Caller, rules: AccessRules): AccessDecision {
  const objection = browserObjection(caller, rules);
  if (objection !== null) return { ok: false, error: 'cross_site', message: objection };
  const local = isLocal(caller) && isOwnPage(caller.headers);
  const policy: Policy =
    rules.allowPrivate === true || (rules.allowPrivate === 'loopback' && local) ? 'private' : 'public';
  const sent = tokenOf(caller);
  if (sent !== null) {
    const name = nameOfToken(sent, rules);
    if (name === null) return { ok: false, error: 'unauthorized', message: 'the token is not known here' };
    return { ok: true, policy, client: `token ${name}`, isStranger: false };
  }
  if (rules.open || (local && rules.tokens.length === 0))
    return { ok: true, policy, client: caller.ip, isStranger: !local };
  const message =
    rules.tokens.length > 0
      ? 'starting a check needs a token: send the header "Authorization: Bearer <token>"'
      : 'checks are started from this machine only: the operator can set service.open or service.tokens';
  return { ok: false, error: 'unauthorized', message };
}

/** Whether the caller runs on this machine itself, and is no page of another site. */
export function isLocal({ peer, headers }: Caller): boolean {
  const site = text(headers['sec-fetch-site']);
  return site !== 'cross-site' && site !== 'same-site' && isFromHere({ peer, headers });
}

/** Whether the request is of a page whose origin the rules name. */
export function isNamedOrigin(headers: Caller['headers'], { origins }: Pick<AccessRules, 'origins'>): boolean {
  const origin = text(headers['origin']).toLowerCase();
  return origin !== '' && (origins.includes('*') || origins.includes(origin));
}

function browserObjection({ headers }: Caller, rules: AccessRules): string | null {
  for (const name of ['sec-purpose', 'purpose', 'x-moz']) {
    if (/prefetch|prerender|preview/i.test(text(headers[name]))) return 'a check is not started ahead of time';
  }
  if (isNamedOrigin(headers, rules)) return null;
  const site = text(headers['sec-fetch-site']);
  if (site === '') return foreignOriginProblem(headers);
  if (site === 'same-origin' || site === 'none') return null;
  const followed =
    text(headers['sec-fetch-mode']) === 'navigate' &&
    text(headers['sec-fetch-dest']) === 'document' &&
    text(headers['sec-fetch-user']) === '?1';
  return followed ? null : 'a page of another site must not start checks';
}

// Pages send no referrer, and then a browser names the origin "null": what it says of the site decides.
function isOwnPage(headers: Caller['headers']): boolean {
  const site = text(headers['sec-fetch-site']);
  return site === 'same-origin' || site === 'none' || foreignOriginProblem(headers) === null;
}

// For browsers that send no Sec-Fetch headers.
function foreignOriginProblem(headers: Caller['headers']): string | null {
  const origin = text(headers['origin']);
  if (origin === '') return null;
  const host = text(headers['host']).toLowerCase();
  return URL.parse(origin)?.host === host ? null : 'a page of another site must not start checks';
}

function tokenOf({ headers }: Caller): string | null {
  const [, token] = /^bearer +(\S+) *$/i.exec(text(headers['authorization'])) ?? [];
  return token ?? null;
}

// All are compared, each in the same time, so that the time tells nothing.
function nameOfToken(sent: string, { tokens }: AccessRules): string | null {
  const hash = createHash('sha256').update(sent).digest();
  let found: string | null = null;
  for (const { name, hash: known } of tokens) if (timingSafeEqual(hash, known)) found = name;
  return found;
}

function text(header: string | string[] | undefined): string {
  return Array.isArray(header) ? header.join(', ') : (header ?? '');
}
