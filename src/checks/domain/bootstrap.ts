import { isRecord, isTexts, parseJson } from '#kernel/json.ts';

/** Which RDAP servers know which domains (RFC 9224, section 4). */
export interface ServerList {
  readonly services: readonly ServerEntry[];
}

type ServerEntry = readonly [names: readonly string[], urls: readonly string[]];

const mostEntries = 10_000;

/** Reads such a list; null if the text is none. */
export function readServerList(text: string): ServerList | null {
  const list = parseJson(text);
  if (!isRecord(list)) return null;
  const { services } = list;
  return Array.isArray(services) && services.length <= mostEntries && services.every(isEntry) ? { services } : null;
}

const isEntry = (entry: unknown): entry is ServerEntry =>
  Array.isArray(entry) && entry.length === 2 && entry.every(isTexts);

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
