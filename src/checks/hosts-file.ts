import { isIP } from 'node:net';

/** Addresses by lowercase name, in the file's order (hosts(5)). */
export type HostsFile = ReadonlyMap<string, readonly string[]>;

export function parseHosts(text: string): HostsFile {
  const hosts = new Map<string, string[]>();
  for (const [address = '', ...names] of linesOf(text)) {
    if (isIP(address) === 0 || address.includes('%')) continue;
    for (const name of names) {
      const key = name.toLowerCase();
      const addresses = hosts.get(key);
      if (addresses === undefined) hosts.set(key, [address]);
      else if (!addresses.includes(address)) addresses.push(address);
    }
  }
  return hosts;
}

/** What resolv.conf(5) says about names; its servers are read by the resolver library. */
export interface SearchRules {
  readonly search: readonly string[];
  /** Names with at least so many dots are asked for as they stand first. */
  readonly ndots: number;
}

export function parseSearchRules(text: string): SearchRules {
  let search: readonly string[] = [];
  let ndots = 1;
  for (const [key, ...values] of linesOf(text)) {
    if (key === 'search' || key === 'domain') search = values.map(withoutDot).filter((domain) => domain !== '');
    if (key !== 'options') continue;
    for (const option of values) ndots = Number(/^ndots:(\d{1,4})$/.exec(option)?.[1] ?? ndots);
  }
  return { search, ndots: Math.min(ndots, 15) };
}

/** The names that a name may stand for, in the order in which they are asked for. */
export function candidates(name: string, { search, ndots }: SearchRules): readonly string[] {
  const dots = name.split('.').length - 1;
  const longer = search.map((domain) => `${name}.${domain}`).filter((candidate) => candidate.length <= 253);
  return dots >= ndots ? [name, ...longer] : [...longer, name];
}

function withoutDot(domain: string): string {
  return domain.toLowerCase().replace(/^\.+|\.+$/g, '');
}

function linesOf(text: string): readonly string[][] {
  return text
    .split('\n')
    .map((line) => line.replace(/[#;].*$/, '').trim())
    .filter((line) => line !== '')
    .map((line) => line.split(/\s+/));
}
