import { isIP, isIPv4 } from 'node:net';
import type { VoteLine } from '../judge/incident.ts';

/** When failures are too many to look at each. */
export const stormLimits = {
  /** As many targets that fail together are still looked at each. */
  targets: 50,
  /** Of more, so many are. */
  chosen: 5,
  /** Incidents that opened within so many milliseconds are one event. */
  togetherMs: 300_000,
} as const;

/** A target that fails, and the network that it is in. */
export interface StormCandidate {
  readonly target: string;
  readonly network: string;
}

/**
 * Which targets of a storm are looked at: each from another network as long as there are others, then the first. `begun` are those that were looked
 * at already.
 */
export function chooseAcrossNetworks(
  candidates: readonly StormCandidate[],
  begun: readonly StormCandidate[],
): ReadonlySet<string> {
  const free = Math.max(0, stormLimits.chosen - begun.length);
  const networks = new Set(begun.map(({ network }) => network));
  const others = candidates.filter(({ network }) => !networks.has(network) && networks.add(network));
  const rest = candidates.filter((one) => !others.includes(one));
  return new Set([...others, ...rest].slice(0, free).map(({ target }) => target));
}

/** Candidates in the order in which they are looked at: networks take turns, those of which least was looked at first. */
export function inTurns<Candidate>(
  candidates: readonly Candidate[],
  networkOfOne: (candidate: Candidate) => string,
  begun: readonly Pick<StormCandidate, 'network'>[],
): readonly Candidate[] {
  const counts = new Map<string, number>();
  const count = (network: string): number => {
    const before = counts.get(network) ?? 0;
    counts.set(network, before + 1);
    return before;
  };
  for (const { network } of begun) count(network);
  const ranked = candidates.map((candidate) => ({ candidate, rank: count(networkOfOne(candidate)) }));
  return ranked.toSorted((a, b) => a.rank - b.rank).map(({ candidate }) => candidate);
}

/** The network of what nodes checked: the /24 or /48 of the first address, or the name of the target if none is known. */
export function networkOf(votes: readonly Pick<VoteLine, 'address'>[], target: string): string {
  const address = votes.find((vote) => vote.address !== null && isIP(vote.address) !== 0)?.address ?? null;
  if (address === null) return target;
  if (isIPv4(address)) return `${address.split('.').slice(0, 3).join('.')}.0/24`;
  const [head = '', tail = ''] = address.toLowerCase().split('::');
  const before = head.split(':').filter((part) => part !== '');
  const after = tail.split(':').filter((part) => part !== '');
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => '0');
  return `${[...before, ...zeros, ...after].slice(0, 3).join(':')}::/48`;
}

/** Why some of so many targets that fail together are left out. */
export const stormWords = (failing: number): string =>
  `No evidence was gathered here: ${failing} targets fail together, and others were chosen.`;
