import { container, type SourceNode, placeOf } from './located.ts';
import type { Problem } from './problem.ts';

export interface MergedSources {
  readonly root: SourceNode;
  readonly problems: readonly Problem[];
}

/**
 * The files of a folder as one. Sections are joined key by key; a key of a section, or a value at the top, is set in one
 * file only. A section with nothing in it counts as absent.
 */
export function merge(roots: readonly SourceNode[]): MergedSources {
  const [first, ...others] = roots;
  if (first === undefined) throw new RangeError('there is nothing to merge');
  const problems: Problem[] = [];
  const sections = new Map<string, SourceNode>();
  for (const root of [first, ...others]) {
    for (const [name, section] of root.children) {
      const before = sections.get(name);
      if (before === undefined || before.value === undefined) sections.set(name, orAbsent(section));
      else if (section.value !== null) sections.set(name, join(name, before, section, problems));
    }
  }
  return { root: container(first.spot, first.key, sections, false), problems };
}

function join(name: string, before: SourceNode, section: SourceNode, problems: Problem[]): SourceNode {
  if (!isMap(before) || !isMap(section)) {
    problems.push(setTwice([name], before, section));
    return before;
  }
  const children = new Map(before.children);
  for (const [key, child] of section.children) {
    const other = children.get(key);
    if (other === undefined) children.set(key, child);
    else problems.push(setTwice([name, key], other, child));
  }
  return container(before.spot, before.key, children, false);
}

function setTwice(path: readonly string[], before: SourceNode, again: SourceNode): Problem {
  const { file, line, column } = placeOf(before.key ?? before.spot);
  return { place: placeOf(again.key ?? again.spot), path, message: `is set twice; first at ${file}:${line}:${column}` };
}

const orAbsent = (section: SourceNode): SourceNode =>
  section.value === null ? { ...section, value: undefined } : section;

const isMap = ({ value }: SourceNode) => typeof value === 'object' && value !== null && !Array.isArray(value);
