import { checkTypeNames } from '#checks/index.ts';
import { defaultRules } from '#monitor/judge/rule.ts';
import { asksForeignService } from '../shape/foreign-service.ts';
import { find, type SourceNode, placeOf, problemAtKey } from '../read/located.ts';
import { type ErrorPath, suggestion } from '#kernel/wording.ts';
import type { Problem } from '../read/problem.ts';

/**
 * Names that name nothing, and names that stand twice in a list. It reads what was written, not what was accepted, so that
 * one mistake does not hide another.
 */
export function referenceProblems(
  root: SourceNode,
  enrolled: readonly string[],
  mayNodesCome: boolean,
): readonly Problem[] {
  const nodes = find(root, ['nodes']) === null ? ['zz1'] : namesUnder(root, 'nodes');
  const known: Readonly<Record<string, ReadonlySet<string>>> = {
    // Only another service knows its nodes.
    ...(asksForeignService(root) || mayNodesCome ? {} : { nodes: new Set([...nodes, ...enrolled]) }),
    rules: new Set([...Object.keys(defaultRules), ...namesUnder(root, 'rules')]),
    notify: new Set(namesUnder(root, 'notify')),
  };
  const targets = new Set(namesUnder(root, 'targets'));
  const maintenance = [...(find(root, ['maintenance'])?.children.keys() ?? [])].flatMap((index) => {
    const path = ['maintenance', Number(index), 'targets'];
    const here = find(root, path);
    return here === null ? [] : listProblems(here, path, 'targets', targets);
  });
  const places: readonly ErrorPath[] = [
    ['defaults'],
    ...checkTypeNames.map((name) => ['defaults', name]),
    ...namesUnder(root, 'groups').map((name) => ['groups', name]),
    ...namesUnder(root, 'targets').map((name) => ['targets', name]),
  ];
  const summary = find(root, ['summary', 'notify']);
  const inSummary =
    summary === null ? [] : listProblems(summary, ['summary', 'notify'], 'notify', known['notify'] ?? new Set());
  // The nodes inside one of several hubs are enrolled like others.
  const clashes = find(root, ['hubs']) === null ? enrolled.filter((name) => nodes.includes(name)) : [];
  const twice = clashes.map((name) =>
    problemAtKey(root, ['nodes', name], 'is the name of an enrolled node too; rename one of them'),
  );
  const named = places.flatMap((place) =>
    Object.entries(known).flatMap(([kind, names]) => {
      const path = [...place, kind];
      const here = find(root, path);
      return here === null ? [] : [...listProblems(here, path, kind, names), ...countProblems(here, path, kind, names)];
    }),
  );
  return [
    ...twice,
    ...named,
    ...dependencyProblems(root, targets),
    ...maintenance,
    ...inSummary,
    ...pageProblems(root, targets),
  ];
}

// Targets of a source come and go: those are not asked for.
function pageProblems(root: SourceNode, targets: ReadonlySet<string>): readonly Problem[] {
  return [...pageTargetProblems(root, targets), ...domainProblems(root), ...subscribeProblems(root)];
}

function subscribeProblems(root: SourceNode): readonly Problem[] {
  return namesUnder(root, 'pages').flatMap((page) => {
    const path = ['pages', page, 'subscribe'];
    if (find(root, path)?.value !== true) return [];
    if (find(root, ['smtp']) === null) return [problemAtKey(root, path, 'needs a mail server: set smtp')];
    const hasAddress = find(root, ['http', 'public_url']) !== null || find(root, ['pages', page, 'domain']) !== null;
    return hasAddress
      ? []
      : [problemAtKey(root, path, 'needs an address for links in mails: set http.public_url or domain')];
  });
}

// At the domain of a page there is nothing but that page.
function domainProblems(root: SourceNode): readonly Problem[] {
  const publicUrl = find(root, ['http', 'public_url'])?.value;
  const own = typeof publicUrl === 'string' ? URL.parse(publicUrl)?.hostname : undefined;
  if (own === undefined) return [];
  return namesUnder(root, 'pages').flatMap((page) => {
    const path = ['pages', page, 'domain'];
    const domain = find(root, path)?.value;
    if (typeof domain !== 'string' || domain.toLowerCase() !== own) return [];
    return [problemAtKey(root, path, 'is the host of http.public_url, which has all pages; give this one another')];
  });
}

function pageTargetProblems(root: SourceNode, targets: ReadonlySet<string>): readonly Problem[] {
  const sources = namesUnder(root, 'targets_from');
  const mayCome = (name: string) => sources.some((source) => name.startsWith(`${source}-`));
  return namesUnder(root, 'pages').flatMap((page) => {
    const path = ['pages', page, 'targets'];
    return [...(find(root, path)?.children.keys() ?? [])]
      .filter((name) => !targets.has(name) && !mayCome(name))
      .map((name) => {
        const none = targets.size === 0 ? ': there are no targets' : suggestion(name, targets);
        return problemAtKey(root, [...path, name], `no target "${name}" under targets${none}`);
      });
  });
}

// One problem for each circle, at the target in it that was written first.
function dependencyProblems(root: SourceNode, targets: ReadonlySet<string>): readonly Problem[] {
  const edges = new Map([...targets].map((name) => [name, dependenciesOf(root, name)]));
  const problems: Problem[] = [];
  const inCircle = new Set<string>();
  for (const name of targets) {
    const path = ['targets', name, 'depends_on'];
    const here = find(root, path);
    if (here === null) continue;
    problems.push(...listProblems(here, path, 'targets', targets));
    const circle = inCircle.has(name) ? null : circleFrom(name, edges);
    if (circle === null) continue;
    for (const one of circle) inCircle.add(one);
    const message = `depends on itself: ${[...circle, name].join(' -> ')}`;
    problems.push({ place: placeOf(here.spot), path, message });
  }
  return problems;
}

function dependenciesOf(root: SourceNode, name: string): readonly string[] {
  const value = find(root, ['targets', name, 'depends_on'])?.value;
  return [value].flat().filter((one) => typeof one === 'string');
}

// The shortest way from a name back to itself, or null.
function circleFrom(start: string, edges: ReadonlyMap<string, readonly string[]>): readonly string[] | null {
  const seen = new Set<string>();
  const ways: (readonly [string, ...string[]])[] = [[start]];
  for (const way of ways) {
    for (const next of edges.get(way.at(-1) ?? start) ?? []) {
      if (next === start) return way;
      if (!seen.has(next)) ways.push([...way, next]);
      seen.add(next);
    }
  }
  return null;
}

const singular: Readonly<Record<string, string>> = {
  nodes: 'node',
  rules: 'rule',
  notify: 'recipient',
  targets: 'target',
};

function listProblems(list: SourceNode, path: ErrorPath, kind: string, names: ReadonlySet<string>): readonly Problem[] {
  const seen = new Set<unknown>();
  const isOne = typeof list.value === 'string' && list.value !== 'all';
  return [...(isOne ? [['', list] as const] : list.children)].flatMap(([index, { value, spot, broken }]) => {
    if (typeof value !== 'string' || broken) return [];
    const problem = (message: string) => ({
      place: placeOf(spot),
      path: isOne ? path : [...path, Number(index)],
      message,
    });
    if (seen.has(value)) return [problem(`"${value}" is named twice`)];
    seen.add(value);
    if (names.has(value)) return [];
    const none =
      names.size === 0 ? `: there are no ${kind === 'notify' ? 'recipients' : kind}` : suggestion(value, names);
    return [problem(`no ${singular[kind]} "${value}" under ${kind}${none}`)];
  });
}

function countProblems(
  count: SourceNode,
  path: ErrorPath,
  kind: string,
  names: ReadonlySet<string>,
): readonly Problem[] {
  if (kind !== 'nodes' || typeof count.value !== 'number' || count.value <= names.size) return [];
  const message = `asks for ${count.value} nodes, but there ${names.size === 1 ? 'is 1' : `are ${names.size}`}`;
  return [{ place: placeOf(count.spot), path, message }];
}

const namesUnder = (root: SourceNode, section: string) => [...(root.children.get(section)?.children.keys() ?? [])];
