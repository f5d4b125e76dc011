import { isPublicAddress } from '../conceal.ts';
import type { PathHop, PathTrace } from './path-trace.ts';

/** The different addresses of a hop, in the order of their answers. */
export function addressesOf(hop: PathHop | undefined): readonly string[] {
  return [...new Set(hop?.probes.flatMap(({ address }) => (address === null ? [] : [address])))];
}

/** The address of a hop that answered first, or null. */
export function firstAddress(hop: PathHop): string | null {
  return addressesOf(hop)[0] ?? null;
}

/**
 * What can be compared from round to round: the networks on the path if the node has AS names for it, otherwise its addresses. Null if the
 * destination was not reached, since the path is not whole then.
 */
export function pathAnswers({ end, hops }: PathTrace): readonly string[] | null {
  if (end !== 'reached') return null;
  const networks = new Set(hops.flatMap(({ as }) => (as ? [`AS${as.number}`] : [])));
  return networks.size > 0 ? [...networks] : [...new Set(hops.flatMap(addressesOf))];
}

/** The path without addresses that are not public, nor their names. */
export function concealHops(trace: PathTrace): PathTrace {
  const hops = trace.hops.map((hop) => {
    const probes = hop.probes.map((probe) => {
      if (probe.address === null || isPublicAddress(probe.address)) return probe;
      return { ...probe, address: null, ...(probe.name !== undefined && { name: null }) };
    });
    return { ...hop, probes };
  });
  return { ...trace, hops };
}
