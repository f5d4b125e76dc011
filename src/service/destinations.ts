import { isIP } from 'node:net';
import type { Resolver } from '#checks/index.ts';
import { registeredDomain } from '#kernel/registered-domain.ts';
import type { Clock } from '#kernel/clock.ts';
import type { Log } from '#kernel/log.ts';
import { networkOf } from '#kernel/network.ts';

/** The addresses of a name, as far as they can be found out soon; none for one that has none. Never rejects. */
export type NameLookup = (name: string) => Promise<readonly string[]>;

/** Who bears a check: everybody whose allowance it is taken from, so that no other spelling or name of a destination has one of its own. */
export interface DestinationLimits {
  /** By the text alone: an address by its network, a name and its registered domain. */
  named(target: string): readonly string[];
  /** Those and, for a name, the networks of its addresses. */
  reached(target: string): Promise<readonly string[]>;
}

// A node connects to one of the first; more would let one start use up what is others' too.
const mostAddresses = 8;
const keepMs = 30_000;
const mostKept = 10_000;

/** What was looked up is remembered for a while: a crowd that checks one name makes one lookup. */
export function createDestinationLimits(lookup: NameLookup, clock: Clock): DestinationLimits {
  const kept = new Map<string, { readonly until: number; readonly networks: Promise<readonly string[]> }>();

  async function networksOf(name: string): Promise<readonly string[]> {
    const addresses = await lookup(name);
    return [...new Set(addresses.slice(0, mostAddresses).map(networkOf))];
  }

  function remembered(name: string): Promise<readonly string[]> {
    const known = kept.get(name);
    if (known !== undefined && known.until > clock.elapsed()) return known.networks;
    const networks = networksOf(name);
    kept.delete(name);
    kept.set(name, { until: clock.elapsed() + keepMs, networks });
    for (const oldest of kept.keys()) {
      if (kept.size <= mostKept) break;
      kept.delete(oldest);
    }
    return networks;
  }

  const named = (target: string): readonly string[] => {
    if (isIP(target) !== 0) return [networkOf(target)];
    const domain = registeredDomain(target, 'private') ?? target;
    return domain === target ? [target] : [target, domain];
  };

  return {
    named,
    async reached(target) {
      const names = named(target);
      return isIP(target) !== 0 ? names : [...names, ...(await remembered(target))];
    },
  };
}

/** Asks the resolver of this machine. */
export function lookupOver(resolver: Resolver, log: Log): NameLookup {
  const { signal } = new AbortController();
  return async (name) => {
    try {
      const found = await resolver.resolve(name, { families: [4, 6], search: false, signal });
      return found.ok ? found.addresses : [];
    } catch (error) {
      log.error({ err: error, name }, 'cannot look up the name of a target');
      return [];
    }
  };
}
