import { z } from 'zod';

/** Which RDAP servers know which domains (RFC 9224, section 4). */
export const ServerList = z.object({
  services: z.array(z.tuple([z.array(z.string()), z.array(z.string())])).max(10_000),
});
export type ServerList = z.output<typeof ServerList>;

/**
 * The base address of the server that a list names for a domain, for the longest name that fits (RFC 9224, section 4); null if it
 * names none. One without encryption is taken only from a list that came without it.
 */
export function serverFor(domain: string, { services }: ServerList, isSecure: boolean): string | null {
  for (let name = domain; name !== ''; name = name.replace(/^[^.]*\.?/, '')) {
    for (const [names, urls] of services) {
      if (!names.some((one) => one.toLowerCase() === name)) continue;
      const url = urls.find((one) => /^https:\/\//i.test(one)) ?? (isSecure ? undefined : urls[0]);
      if (url !== undefined && URL.canParse(url)) return url;
    }
  }
  return null;
}
