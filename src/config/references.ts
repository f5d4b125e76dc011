import { defaultRules } from '#monitor/rule.ts';
import { find, type Located, placeOf } from './located.ts';
import { type Path, type Problem, suggestion } from './problem.ts';

/**
 * Names that name nothing, and names that stand twice in a list. It reads what was written, not what was accepted, so that
 * one mistake does not hide another.
 */
export function referenceProblems(root: Located): readonly Problem[] {
  const nodes = namesUnder(root, 'nodes');
  const known: Readonly<Record<string, readonly string[]>> = {
    nodes: nodes.length === 0 ? ['zz1'] : nodes,
    rules: [...new Set([...Object.keys(defaultRules), ...namesUnder(root, 'rules')])],
    notify: namesUnder(root, 'notify'),
  };
  const places: readonly Path[] = [['defaults'], ...namesUnder(root, 'targets').map((name) => ['targets', name])];
  const summary = find(root, ['summary', 'notify']);
  const inSummary =
    summary === null ? [] : listProblems(summary, ['summary', 'notify'], 'notify', known['notify'] ?? []);
  const inPlaces = places.flatMap((place) =>
    Object.entries(known).flatMap(([kind, names]) => {
      const path = [...place, kind];
      const here = find(root, path);
      return here === null ? [] : [...listProblems(here, path, kind, names), ...countProblems(here, path, kind, names)];
    }),
  );
  return [...inPlaces, ...inSummary];
}

const singular: Readonly<Record<string, string>> = { nodes: 'node', rules: 'rule', notify: 'recipient' };

function listProblems(list: Located, path: Path, kind: string, names: readonly string[]): readonly Problem[] {
  const seen = new Set<unknown>();
  return [...list.children].flatMap(([index, { value, spot, broken }]) => {
    if (typeof value !== 'string' || broken) return [];
    const problem = (message: string) => ({ place: placeOf(spot), path: [...path, Number(index)], message });
    if (seen.has(value)) return [problem(`"${value}" is named twice`)];
    seen.add(value);
    if (names.includes(value)) return [];
    const none =
      names.length === 0 ? `: there are no ${kind === 'notify' ? 'recipients' : kind}` : suggestion(value, names);
    return [problem(`no ${singular[kind]} "${value}" under ${kind}${none}`)];
  });
}

function countProblems(count: Located, path: Path, kind: string, names: readonly string[]): readonly Problem[] {
  if (kind !== 'nodes' || typeof count.value !== 'number' || count.value <= names.length) return [];
  const message = `asks for ${count.value} nodes, but there ${names.length === 1 ? 'is 1' : `are ${names.length}`}`;
  return [{ place: placeOf(count.spot), path, message }];
}

const namesUnder = (root: Located, section: string) => [...(root.children.get(section)?.children.keys() ?? [])];
