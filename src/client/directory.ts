import type { NodeInfo } from '#checks/index.ts';
import { stableFraction } from '#kernel/hash.ts';
import { singleLine } from '#kernel/text.ts';
import { NodeDescriptor, NodeEntry, NodeList } from '#protocol/shapes.ts';

/** The nodes of another check service, and their names here. */
export interface Directory {
  /** Those of the last list, with those that were met since. */
  nodes(): readonly NodeInfo[];
  /** Takes a list of nodes (interface 4.4); false if it names none. */
  replace(body: unknown): boolean;
  /** The node of an identifier, with its place where a descriptor (interface 2.3) or an earlier list had it. */
  meet(id: string, descriptor?: unknown): NodeInfo;
  isKnown(id: string): boolean;
  /** The node of a name or an identifier, or null. */
  find(name: string): NodeInfo | null;
  /** The identifier of a node by its name here, or of a node that is named by its identifier; null if there is none. */
  idOf(name: string): string | null;
}

const namePattern = /^[a-z]{2}\d{1,4}$/;
const mostNodes = 1_000;
const mostNames = 5_000;

/**
 * Names nodes. `us1.node.example.net` is `us1`. An identifier that has another form, or whose name another node had first,
 * gets its country code (or `zz`) and four digits that depend on the identifier alone, so that it keeps its history.
 */
export function createDirectory(): Directory {
  const names = new Map<string, string>();
  const ids = new Map<string, string>();
  const nodes = new Map<string, NodeInfo>();

  function nameOf(id: string, countryCode: string): string {
    const known = names.get(id);
    if (known !== undefined) return known;
    if (names.size >= mostNames) forget();
    const [label = ''] = id.split('.');
    let name = label;
    for (let number = digitsOf(id); !namePattern.test(name) || ids.has(name); number = 1_000 + ((number + 1) % 9_000)) {
      name = `${countryCode || 'zz'}${number}`;
    }
    names.set(id, name);
    ids.set(name, id);
    return name;
  }

  // Only a service that makes up identifiers gets here.
  function forget(): void {
    names.clear();
    ids.clear();
    nodes.clear();
  }

  function keep(id: string, place: NodeLocation): NodeInfo {
    const countryCode = countryCodeOf(place.countryCode);
    const name = nameOf(id, countryCode);
    const info: NodeInfo = {
      name,
      countryCode: countryCode || countryCodeOf(name.slice(0, 2)),
      country: singleLine(place.country, 100),
      city: singleLine(place.city, 100),
      asn: /^AS\d{1,10}$/.test(place.asn) ? place.asn : '',
      ip: singleLine(place.ip, 100),
    };
    nodes.set(id, info);
    return info;
  }

  const idOf = (name: string) => ids.get(name) ?? (names.has(name) ? name : null);

  return {
    nodes: () => [...nodes.values()],
    replace(body) {
      const listed = read(body);
      if (listed.length === 0) return false;
      nodes.clear();
      for (const [id, place] of listed) keep(id, place);
      return true;
    },
    meet(id, descriptor) {
      const place = NodeDescriptor.safeParse(descriptor);
      if (!place.success) return nodes.get(id) ?? keep(id, nowhere);
      const [countryCode, country, city, ip, asn] = place.data;
      return keep(id, { countryCode, country, city, ip, asn });
    },
    isKnown: (id) => nodes.has(id),
    find: (name) => nodes.get(idOf(name) ?? '') ?? null,
    idOf,
  };
}

type NodeLocation = Omit<NodeInfo, 'name'>;

const nowhere: NodeLocation = { countryCode: '', country: '', city: '', asn: '', ip: '' };

// Identifiers of the usual form come first, so that an odd one never takes a name away from them. A plain list has no
// places; what of it are addresses are no identifiers.
function read(body: unknown): readonly (readonly [id: string, place: NodeLocation])[] {
  const list = NodeList.safeParse(body).data?.nodes;
  const written: unknown = list ?? nodesIn(body);
  if (Array.isArray(written)) {
    const ids = written.flatMap((id) => (typeof id === 'string' && /[a-z]/i.test(id) && !id.includes(':') ? [id] : []));
    return ids.slice(0, mostNodes).map((id) => [id, nowhere]);
  }
  if (typeof written !== 'object' || written === null) return [];
  return Object.entries(written)
    .slice(0, mostNodes)
    .toSorted(([a], [b]) => Number(isUsual(b)) - Number(isUsual(a)) || (a < b ? -1 : 1))
    .map(([id, place]) => [id, placeIn(place)]);
}

function nodesIn(body: unknown): unknown {
  return typeof body === 'object' && body !== null && 'nodes' in body ? body.nodes : null;
}

function placeIn(value: unknown): NodeLocation {
  const parsed = NodeEntry.safeParse(value);
  if (!parsed.success) return nowhere;
  const { asn, ip, location } = parsed.data;
  const [countryCode, country, city] = location;
  return { countryCode, country, city, asn, ip };
}

const isUsual = (id: string) => namePattern.test(id.split('.')[0] ?? '');

const digitsOf = (id: string) => 1_000 + Math.floor(stableFraction(id) * 9_000);

function countryCodeOf(text: string): string {
  const code = text.toLowerCase();
  return /^[a-z]{2}$/.test(code) ? code : '';
}
