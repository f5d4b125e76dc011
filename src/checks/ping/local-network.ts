import type { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';
import { isSameAddress } from '../address.ts';

type Interfaces = ReturnType<typeof networkInterfaces>;

/**
 * True where an ICMP error by `by` about `target` is this machine's own complaint that its next hop is dead: the error comes
 * from one of its own addresses and the target is on none of its own networks, so that the hop is a gateway.
 */
export function isGatewayFault(by: string | null, target: string, interfaces: Interfaces): boolean {
  const own = Object.values(interfaces).flatMap((addresses) => addresses ?? []);
  if (by === null || !own.some(({ address }) => isSameAddress(address, by))) return false;
  return !own.some(({ cidr }) => cidr !== null && contains(cidr, target));
}

function contains(cidr: string, target: string): boolean {
  const [network, length] = ipaddr.parseCIDR(cidr);
  const address = ipaddr.parse(target);
  return network.kind() === address.kind() && address.match([network, length]);
}
