import { type NodeInfo, type NodeSelection, ownNodeName } from '#checks/index.ts';
import type { Directory } from './directory.ts';

export type Query = readonly (readonly [name: string, value: string])[];

/**
 * How a start asks for its nodes (interface 4.1); null if none of those that are named is known. The interface has no
 * word for nodes to avoid: then others are asked for by name, as far as there are enough.
 */
export function nodeQuery(selection: NodeSelection, directory: Directory): Query | null {
  switch (selection.kind) {
    case 'all':
      return [];
    case 'count': {
      const others = directory.nodes().filter(({ name }) => !selection.avoid.includes(name));
      const byName = selection.avoid.length > 0 && others.length >= selection.count;
      if (!byName) return [['max_nodes', String(selection.count)]];
      return queryOf(
        others.slice(0, selection.count).map(({ name }) => name),
        directory,
      );
    }
    case 'named': {
      const query = queryOf(selection.names, directory);
      return query.length === 0 ? null : query;
    }
  }
}

/** The nodes with a vote if the service named none: those who would have been asked, or at least a stand-in. */
export function votersOf(selection: NodeSelection, directory: Directory): readonly NodeInfo[] {
  const nodes = candidates(selection, directory);
  const byName = new Map(nodes.map((node) => [node.name, node]));
  return byName.size === 0 ? [noNode] : [...byName.values()];
}

/** Those that were named and that the service did not take. */
export function missingNodes(
  selection: NodeSelection,
  taken: readonly NodeInfo[],
  directory: Directory,
): readonly NodeInfo[] {
  if (selection.kind !== 'named') return [];
  const names = new Set(taken.map(({ name }) => name));
  return votersOf(selection, directory).filter(({ name }) => !names.has(name));
}

/** Votes if no node is known. */
const noNode: NodeInfo = { name: ownNodeName, countryCode: '', country: '', city: '', asn: '', ip: '' };

function candidates(selection: NodeSelection, directory: Directory): readonly NodeInfo[] {
  switch (selection.kind) {
    case 'all':
      return directory.nodes();
    case 'count':
      return directory.nodes().slice(0, selection.count);
    case 'named':
      return selection.names.map((name) => directory.find(name) ?? bare(name));
  }
}

function bare(name: string): NodeInfo {
  const [label = ''] = name.split('.');
  return /^[a-z]{2}\d{1,4}$/.test(label) ? { ...noNode, name: label, countryCode: label.slice(0, 2) } : noNode;
}

// A user who writes a whole identifier knows it, list or no list.
function queryOf(names: readonly string[], directory: Directory): Query {
  return names.flatMap((name) => {
    const id = directory.idOf(name) ?? (name.includes('.') ? name : null);
    return id === null ? [] : [['node', id] as const];
  });
}
