import { isIP } from 'node:net';
import { registeredDomain } from '#kernel/registered-domain.ts';
import type { Endpoint } from '../endpoint.ts';

/** The domain that the name of an endpoint is registered under, or why there is none. */
export function registeredName({ name }: Endpoint): string | { readonly message: string } {
  if (isIP(name) !== 0) return { message: 'is an address: give a domain, such as "example.com"' };
  const domain = registeredDomain(name, 'public');
  return domain ?? { message: 'is no domain that anybody can register: give one under it, such as "example.com"' };
}

/** Who is asked unless a check names others: the list of IANA of which RDAP server knows which domains (RFC 9224), and its WHOIS server. */
export const standardSources = {
  bootstrap: 'https://data.iana.org/rdap/dns.json',
  whois: 'whois.iana.org',
} as const;
