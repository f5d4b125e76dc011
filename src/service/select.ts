import type { NodeInfo, NodeSelection } from '#checks/index.ts';
import { stableFraction } from '#kernel/hash.ts';
import type { Random } from '#kernel/random.ts';
import type { ApiLocation } from '#protocol/location.ts';
import type { NodeStatus } from './ports.ts';

/**
 * The nodes of a run. `all` and `named` hold those that are offline too, so that their silence shows; `count` takes online
 * ones first, then those not to be avoided, spread over countries and networks, always the same for the same nodes and target.
 */
export function selectNodes(
  nodes: readonly NodeStatus[],
  selection: NodeSelection,
  target = '',
): readonly NodeStatus[] {
  switch (selection.kind) {
    case 'all':
      return nodes;
    case 'named':
      return nodes.filter(({ info }) => selection.names.includes(info.name));
    case 'count':
      // What counts most stands highest: being offline, then being avoided.
      return spread(
        nodes,
        selection.count,
        ({ online, info }) =>
          (online ? 0 : 1e9) +
          (selection.avoid.includes(info.name) ? 1e6 : 0) +
          (target === '' ? 0 : rankOf(target, info)),
      );
  }
}

// Rendezvous hashing: if a node comes or goes, only the targets that it wins or loses change their nodes.
const rankOf = (target: string, { name }: NodeStatus['info']) => stableFraction(`${target} ${name}`) * 0.5;

/** What decides between nodes that are equal otherwise. */
export interface NodeLoad {
  /** How much of its allowance a node has used, from 0 to 1. */
  readonly usedOf: (node: string) => number;
  readonly random: Random;
}

/**
 * At most `count` nodes for a check that anybody may start, of those that are given: first those with room and an allowance
 * left, spread over countries and networks, then those with the least to do, then any. A node without an allowance is chosen
 * only if all are without one.
 */
export function selectForApi(
  nodes: readonly NodeStatus[],
  count: number,
  { usedOf, random }: NodeLoad,
): readonly NodeStatus[] {
  const allowed = nodes.filter(({ info }) => usedOf(info.name) < 1);
  const fitting = allowed.length > 0 ? allowed : nodes;
  if (fitting.length <= count) return fitting;
  const burdens = new Map(
    fitting.map((node) => {
      const { info, load = 0 } = node;
      // All of it weighs less than a shared network, and being full more than everything.
      const burden = (Math.min(load, 1) + usedOf(info.name)) * 0.4 + random.next() * 0.01;
      return [node, load >= 1 ? 1e6 + burden : burden];
    }),
  );
  return spread(fitting, count, (node) => burdens.get(node) ?? 0);
}

/** Whether a node is at a place; all that the place names must fit. Case and accents of a city do not matter. */
export function isAt({ countryCode, asn, city }: NodeInfo, place: ApiLocation): boolean {
  return (
    (place.country === undefined || place.country.toLowerCase() === countryCode.toLowerCase()) &&
    (place.as === undefined || numberOfAs(String(place.as)) === numberOfAs(asn)) &&
    (place.city === undefined || plainLetters(place.city) === plainLetters(city))
  );
}

const numberOfAs = (text: string) => text.replace(/^as/i, '').replace(/^0+/, '');
const plainLetters = (text: string) => text.normalize('NFKD').replaceAll(/\p{M}/gu, '').trim().toLowerCase();

function spread(
  nodes: readonly NodeStatus[],
  count: number,
  costOf: (node: NodeStatus) => number,
): readonly NodeStatus[] {
  if (nodes.length <= count) return nodes;
  const chosen: NodeStatus[] = [];
  const left = [...nodes];
  while (chosen.length < count && left.length > 0) {
    const costs = left.map((node) => costOf(node) + similarityTo(node, chosen));
    chosen.push(...left.splice(costs.indexOf(Math.min(...costs)), 1));
  }
  return nodes.filter((node) => chosen.includes(node));
}

// Sharing a country weighs more than sharing a network.
function similarityTo({ info }: NodeStatus, chosen: readonly NodeStatus[]): number {
  const sameCountry = chosen.filter((other) => other.info.countryCode === info.countryCode).length;
  const sameNetwork = chosen.filter((other) => other.info.asn === info.asn).length;
  return sameCountry * 1e3 + sameNetwork;
}
