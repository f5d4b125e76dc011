import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { isTexts } from '#kernel/json.ts';
import { container, find, type SourceNode, placeOf, problemAt } from '../read/located.ts';
import { listAt, type ListParts } from './list-at.ts';
import type { ReadList } from './listed-targets.ts';
import type { ErrorPath } from '#kernel/wording.ts';
import type { Problem } from '../read/problem.ts';
import { explainSystemError, type FileListener, filesLike } from '../read/source.ts';
import { joined, slugOf } from '../shape/spell-out.ts';
import { sourceKeys } from '../shape/targets-from.ts';
import { readForeignYaml } from '../read/yaml.ts';

export interface DiscoveredTargets {
  /** The configuration with the targets that were found, each in the words of its entry. */
  readonly root: SourceNode;
  readonly problems: readonly Problem[];
  /** Patterns of the files that were looked for; absolute. */
  readonly watched: readonly string[];
  readonly lists: readonly FoundList[];
}

/** What came of asking an address for targets. */
export interface FoundList {
  readonly name: string;
  readonly shown: string;
  readonly targets: number;
  /** Why this may not be what it says now, or null. */
  readonly trouble: string | null;
}

export interface DiscoverOptions extends Omit<ListParts, 'problems'> {
  readonly read: ReadList;
}

const usualMost = 1_000;

/** Adds the targets that stand in files of Prometheus' form (`file_sd`) at an address (`http_sd`), in SRV records, in labels of containers or in annotations of a cluster, by the entries of `targets_from`. */
export async function discoverTargets(root: SourceNode, options: DiscoverOptions): Promise<DiscoveredTargets> {
  const problems: Problem[] = [];
  const watched: string[] = [];
  const lists: FoundList[] = [];
  const found = new Map<string, SourceNode>();
  const sources = [...(root.children.get('targets_from')?.children ?? [])];
  const listed = await Promise.all(
    sources.map(async ([name, entry]) => {
      const list = await listAt(root, name, entry, { ...options, problems });
      return list === null ? null : { ...list, ...(await options.read(list)) };
    }),
  );
  for (const [index, [name, entry]] of sources.entries()) {
    const list = listed[index] ?? null;
    const patterns = [...namesIn(entry.children.get('files'))].map((pattern) => resolve(options.folder, pattern));
    watched.push(...patterns);
    const groups = await groupsInFiles(
      patterns,
      options.onFile,
      problems,
      problemAt(root, ['targets_from', name, 'files'], ''),
    );
    if (list !== null && list.text !== null) groups.push(...groupsIn({ file: list.shown, text: list.text }, problems));
    const targets = targetsOf(name, entry, groups, problems);
    if (list !== null) lists.push({ name, shown: list.shown, targets: targets.size, trouble: list.trouble });
    const most = entry.children.get('at_most')?.value;
    const limit = typeof most === 'number' ? most : usualMost;
    const path: ErrorPath = ['targets_from', name, 'at_most'];
    const where = list === null ? 'in its files' : `in the answer of ${list.shown}`;
    if (targets.size > limit)
      problems.push(problemAt(root, path, `there are ${targets.size} targets ${where}, more than ${limit}`));
    else for (const [own, target] of targets) found.set(own, target);
  }
  return { root: found.size === 0 ? root : withTargets(root, found, problems), problems, watched, lists };
}

function withTargets(root: SourceNode, found: ReadonlyMap<string, SourceNode>, problems: Problem[]): SourceNode {
  const own = root.children.get('targets');
  const children = new Map(own?.children);
  for (const [name, target] of found) {
    if (children.has(name))
      problems.push({ place: placeOf(target.spot), path: ['targets', name], message: 'is there already' });
    else children.set(name, target);
  }
  const { spot, key } = own ?? root;
  return container(
    root.spot,
    root.key,
    new Map([...root.children, ['targets', container(spot, key, children, false)]]),
    false,
  );
}

function targetsOf(
  name: string,
  entry: SourceNode,
  groups: readonly SourceNode[],
  problems: Problem[],
): ReadonlyMap<string, SourceNode> {
  const targets = new Map<string, SourceNode>();
  const keys = new Map([...entry.children].filter(([key]) => !sourceKeys.includes(key)));
  for (const group of groups) {
    for (const host of group.children.get('targets')?.children.values() ?? []) {
      const own = `${name}-${slugOf(host.value)}`;
      const place = placeOf(host.spot);
      if (own.length > 63)
        problems.push({ place, path: ['targets_from', name], message: 'makes a name of more than 63 characters' });
      else if (!targets.has(own)) targets.set(own, targetOf(host, group, keys));
    }
  }
  return targets;
}

// The labels of a group are those of its targets; what begins with "__" is Prometheus' own.
function targetOf(host: SourceNode, group: SourceNode, keys: ReadonlyMap<string, SourceNode>): SourceNode {
  const shared = keys.get('labels');
  const labels = group.children.get('labels');
  const own = new Map([...(labels?.children ?? [])].filter(([label]) => !label.startsWith('__')));
  const children = new Map([...keys, ['host', host]]);
  const { spot, key } = labels ?? host;
  const together = container(spot, key, own, false);
  if (own.size > 0 || shared !== undefined)
    children.set('labels', shared === undefined ? together : joined(together, shared));
  return container(host.spot, null, children, false);
}

async function groupsInFiles(
  patterns: readonly string[],
  onFile: FileListener,
  problems: Problem[],
  where: Problem,
): Promise<SourceNode[]> {
  const groups: SourceNode[] = [];
  for (const pattern of patterns) {
    for (const file of await filesLike(pattern)) {
      await onFile(file);
      try {
        groups.push(...groupsIn({ file, text: await readFile(file, 'utf8') }, problems));
      } catch (error) {
        problems.push({ ...where, message: `cannot read ${file}: ${explainSystemError(error)}` });
      }
    }
  }
  return groups;
}

function groupsIn(
  source: { readonly file: string; readonly text: string },
  problems: Problem[],
): readonly SourceNode[] {
  const read = readForeignYaml(source, problems.length + 1);
  if (read.wellFormed && Array.isArray(read.root.value))
    return [...read.root.children.values()].filter(isGroup(problems));
  const message = 'expected a list of groups, such as [{ "targets": ["a:1"] }]';
  problems.push(...(read.wellFormed ? [{ place: placeOf(read.root.spot), path: [], message }] : read.problems));
  return [];
}

const isGroup = (problems: Problem[]) => (group: SourceNode) => {
  const targets = find(group, ['targets']);
  const isGood = isTexts(targets?.value);
  if (!isGood)
    problems.push({ place: placeOf(group.spot), path: [], message: 'expected a group with a list of targets' });
  return isGood;
};

function* namesIn(list: SourceNode | undefined): Iterable<string> {
  if (typeof list?.value === 'string') yield list.value;
  for (const { value } of list?.children.values() ?? []) if (typeof value === 'string') yield value;
}
