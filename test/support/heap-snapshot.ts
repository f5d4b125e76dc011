import { readFileSync } from 'node:fs';

interface Snapshot {
  readonly snapshot: {
    readonly meta: {
      readonly node_fields: readonly string[];
      readonly node_types: readonly [readonly string[]];
      readonly edge_fields: readonly string[];
      readonly edge_types: readonly [readonly string[]];
    };
  };
  readonly nodes: readonly number[];
  readonly edges: readonly number[];
  readonly strings: readonly string[];
}

/** A map or a set on the heap that has many of what was looked for. */
export interface Holder {
  /** What the variables and properties are called that lead to it. */
  readonly names: readonly string[];
  readonly count: number;
}

/** The maps and sets that have at least `least` texts of this form as keys, members or values, in a snapshot as V8 writes it. */
export function holdersOf(path: string, form: RegExp, least: number): readonly Holder[] {
  const snapshot: Snapshot = JSON.parse(readFileSync(path, 'utf8'));
  const heap = openHeap(snapshot);
  const found = new Map<number, { readonly names: Set<string>; readonly count: number }>();
  for (const node of heap.nodes()) {
    if (heap.typeOf(node) !== 'object' || !/^(Map|Set)$/.test(heap.nameOf(node))) continue;
    const table = heap.edgesOf(node).find(({ name }) => name === 'table')?.to;
    const count = table === undefined ? 0 : heap.edgesOf(table).filter(({ to }) => form.test(heap.textOf(to))).length;
    if (count >= least) found.set(node, { names: new Set(), count });
  }
  for (const node of heap.nodes())
    for (const { type, name, to } of heap.edgesOf(node))
      if (type === 'context' || type === 'property') found.get(to)?.names.add(name);
  return [...found.values()].map(({ names, count }) => ({ names: [...names].sort(), count }));
}

function openHeap({ snapshot: { meta }, nodes, edges, strings }: Snapshot) {
  const [width, edgeWidth] = [meta.node_fields.length, meta.edge_fields.length];
  const [type, name, edgeCount] = ['type', 'name', 'edge_count'].map((field) => meta.node_fields.indexOf(field));
  const [edgeType, edgeName, edgeTo] = ['type', 'name_or_index', 'to_node'].map((field) =>
    meta.edge_fields.indexOf(field),
  );
  const at = (list: readonly number[], base: number, field: number | undefined) => list[base + (field ?? 0)] ?? 0;
  const firstEdges: number[] = [];
  for (let node = 0, edge = 0; node < nodes.length; node += width) {
    firstEdges.push(edge);
    edge += at(nodes, node, edgeCount) * edgeWidth;
  }
  const numbered = new Set(['element', 'hidden']);
  const typeOf = (node: number) => meta.node_types[0][at(nodes, node, type)] ?? '';
  const nameOf = (node: number) => strings[at(nodes, node, name)] ?? '';

  function edgesOf(node: number): readonly { readonly type: string; readonly name: string; readonly to: number }[] {
    const first = firstEdges[node / width] ?? 0;
    return Array.from({ length: at(nodes, node, edgeCount) }, (_, index) => {
      const edge = first + index * edgeWidth;
      const kind = meta.edge_types[0][at(edges, edge, edgeType)] ?? '';
      const label = at(edges, edge, edgeName);
      return {
        type: kind,
        name: numbered.has(kind) ? String(label) : (strings[label] ?? ''),
        to: at(edges, edge, edgeTo),
      };
    });
  }

  // A text that was put together of others is not always copied into one.
  function textOf(node: number): string {
    if (typeOf(node) === 'string') return nameOf(node);
    if (typeOf(node) !== 'concatenated string') return '';
    const parts = edgesOf(node).filter((edge) => edge.name === 'first' || edge.name === 'second');
    return parts.map(({ to }) => textOf(to)).join('');
  }

  return {
    *nodes() {
      for (let node = 0; node < nodes.length; node += width) yield node;
    },
    typeOf,
    nameOf,
    edgesOf,
    textOf,
  };
}
