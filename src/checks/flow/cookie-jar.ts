import { isIP } from 'node:net';
import type { RedirectTarget } from '../http/redirect.ts';
import { cookieDate } from './cookie-date.ts';

interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly domain: string;
  /** Whether hosts below the domain get it too. */
  readonly covers: boolean;
  readonly path: string;
  readonly secure: boolean;
  /** Wall time in milliseconds; infinite for the session. */
  readonly expires: number;
}

const mostCookies = 100;
const longest = 4_096;

/**
 * The cookies of one flow (RFC 6265, section 5). A cookie for a domain goes to hosts below it; as a jar lives as long as its check and
 * belongs to one target, there is no list of public suffixes.
 */
export class CookieJar {
  readonly #cookies = new Map<string, Cookie>();

  /** Takes the values of the headers `set-cookie` of an answer. */
  take(headers: readonly string[], from: RedirectTarget, now: number): void {
    for (const header of headers) {
      const cookie = parse(header, from, now);
      if (cookie === null) continue;
      const key = `${cookie.name};${cookie.domain};${cookie.path}`;
      this.#cookies.delete(key);
      if (cookie.expires > now && this.#cookies.size < mostCookies) this.#cookies.set(key, cookie);
    }
  }

  /** The value of the header `cookie` for a request; null if there is none. Longer paths come first. */
  headerFor(target: RedirectTarget, now: number): string | null {
    const path = pathOf(target);
    const host = target.name.toLowerCase();
    const fitting = [...this.#cookies.values()].filter(
      (cookie) =>
        cookie.expires > now &&
        (cookie.covers ? isWithin(host, cookie.domain) : host === cookie.domain) &&
        isBelow(path, cookie.path) &&
        (target.secure || !cookie.secure),
    );
    if (fitting.length === 0) return null;
    return fitting
      .toSorted((one, other) => other.path.length - one.path.length)
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ');
  }

  /** The value of the cookie of this name that was set last; null if there is none. */
  valueOf(name: string, now: number): string | null {
    return (
      [...this.#cookies.values()].findLast((cookie) => cookie.name === name && cookie.expires > now)?.value ?? null
    );
  }

  get values(): readonly string[] {
    return [...this.#cookies.values()].map(({ value }) => value);
  }
}

function parse(header: string, from: RedirectTarget, now: number): Cookie | null {
  const [pair = '', ...parts] = header.split(';');
  const at = pair.indexOf('=');
  const [name, value] = [pair.slice(0, Math.max(at, 0)).trim(), pair.slice(at + 1).trim()];
  // What is sent on must be a header again.
  if (at === -1 || name === '' || pair.length > longest || !/^[\x21-\x7e\x80-\xff ]*$/.test(name + value)) return null;
  const attributes = new Map(
    parts.map((part) => {
      const [key = '', ...rest] = part.split('=');
      return [key.trim().toLowerCase(), rest.join('=').trim()] as const;
    }),
  );
  const host = from.name.toLowerCase();
  const asked = (attributes.get('domain') ?? '').toLowerCase().replace(/^\./, '');
  const isOther = asked !== '' && asked !== host;
  if (isOther && (!isWithin(host, asked) || !asked.includes('.'))) return null;
  const secure = attributes.has('secure');
  if (secure && !from.secure) return null;
  const path = attributes.get('path') ?? '';
  if (name.startsWith('__Secure-') && !secure) return null;
  if (name.startsWith('__Host-') && !(secure && asked === '' && path === '/')) return null;
  return {
    name,
    value,
    domain: asked === '' ? host : asked,
    covers: asked !== '',
    path: path.startsWith('/') ? path : defaultPath(pathOf(from)),
    secure,
    expires: expiryOf(attributes, now),
  };
}

// RFC 6265, section 5.3: max-age goes before expires.
function expiryOf(attributes: ReadonlyMap<string, string>, now: number): number {
  const age = attributes.get('max-age');
  if (age !== undefined && /^-?\d+$/.test(age)) return Number(age) <= 0 ? -Infinity : now + Number(age) * 1_000;
  return cookieDate(attributes.get('expires') ?? '') ?? Infinity;
}

const pathOf = ({ path }: RedirectTarget) => path.replace(/[?#].*$/s, '');

// RFC 6265, section 5.1.4.
function defaultPath(path: string): string {
  const last = path.lastIndexOf('/');
  return last <= 0 ? '/' : path.slice(0, last);
}

function isBelow(path: string, prefix: string): boolean {
  return path === prefix || (path.startsWith(prefix) && (prefix.endsWith('/') || path[prefix.length] === '/'));
}

// RFC 6265, section 5.1.3.
function isWithin(host: string, domain: string): boolean {
  return host === domain || (isIP(host) === 0 && host.endsWith(`.${domain}`));
}
