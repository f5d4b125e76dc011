import { onceFor } from '#kernel/once-for.ts';
import { userAgent } from '#kernel/version.ts';
import { type HopRequest, targetOf } from './redirect.ts';
import type { Spec } from './spec.ts';

// A spec is checked again and again, and never changes.
const requestOf = onceFor(prepare);

/**
 * The request that a spec asks for, with a bearer token that was got for it. Its headers override ours; compressed answers are taken,
 * but not asked for.
 */
export function firstRequest(spec: Spec, token: string | null = null): HopRequest {
  const known = requestOf(spec);
  return token === null ? known : { ...known, headers: { ...known.headers, authorization: `Bearer ${token}` } };
}

function prepare(spec: Spec): HopRequest {
  const target = targetOf(spec.host);
  if (typeof target === 'string') throw new TypeError(`host "${spec.host}" ${target}`);
  const authorization = authorizationOf(spec);
  const headers: Record<string, string> = {
    'user-agent': userAgent,
    accept: '*/*',
    'accept-encoding': 'identity',
    ...(authorization !== null && { authorization }),
  };
  for (const [name, value] of Object.entries(spec.headers)) headers[name.toLowerCase()] = value;
  return { target, method: spec.method, headers, body: spec.body ?? null, sameOrigin: true };
}

function authorizationOf({ bearer, basic_auth: basic }: Spec): string | null {
  if (bearer !== undefined) return `Bearer ${bearer}`;
  return basic === undefined ? null : `Basic ${encodeBasic(basic)}`;
}

/** RFC 7617, section 2, with the credentials in UTF-8. */
export function encodeBasic({ username, password }: NonNullable<Spec['basic_auth']>): string {
  return Buffer.from(`${username}:${password}`).toString('base64');
}
