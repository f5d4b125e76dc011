import type { NodeSelection } from '#checks/index.ts';
import type { NodeStatus } from './ports.ts';

/**
 * The nodes of a run. `all` and `named` hold those that are offline too, so that their silence shows; `count` takes online
 * ones first, then those not to be avoided, spread over countries and networks, always the same for the same nodes.
 */
export function selectNodes(nodes: readonly NodeStatus[], selection: NodeSelection): readonly NodeStatus[] {
  switch (selection.kind) {
    case 'all':
      return nodes;
    case 'named':
      return nodes.filter(({ info }) => selection.names.includes(info.name));
    case 'count':
      return spread(nodes, selection.count, new Set(selection.avoid));
  }
}

function spread(nodes: readonly NodeStatus[], count: number, avoid: ReadonlySet<string>): readonly NodeStatus[] {
  const chosen: NodeStatus[] = [];
  const left = [...nodes];
  while (chosen.length < count && left.length > 0) {
    let best = 0;
    for (let index = 1; index < left.length; index += 1) {
      if (cost(left[index], chosen, avoid) < cost(left[best], chosen, avoid)) best = index;
    }
    chosen.push(...left.splice(best, 1));
  }
  return nodes.filter((node) => chosen.includes(node));
}

// What counts most stands highest: being offline, being avoided, sharing a country, sharing a network.
function cost(node: NodeStatus | undefined, chosen: readonly NodeStatus[], avoid: ReadonlySet<string>): number {
  if (node === undefined) return Number.POSITIVE_INFINITY;
  const { info } = node;
  const sameCountry = chosen.filter((other) => other.info.countryCode === info.countryCode).length;
  const sameNetwork = chosen.filter((other) => other.info.asn === info.asn).length;
  return (node.online ? 0 : 1e9) + (avoid.has(info.name) ? 1e6 : 0) + sameCountry * 1e3 + sameNetwork;
}
