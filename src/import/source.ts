import { container, find, leaf, type SourceNode, placeOf } from '#config/read/located.ts';
import type { ErrorPath } from '#kernel/wording.ts';
import { configError } from '#config/read/problem.ts';
import type { SourceText } from '#config/read/source.ts';
import { readForeignYaml } from '#config/read/yaml.ts';

/** A YAML file of another program. Rejects with `config_invalid` if it is no YAML. */
export function readForeign(source: SourceText, order: number): SourceNode {
  const { root, problems, wellFormed } = readForeignYaml(source, order);
  if (!wellFormed) throw configError(problems);
  return root;
}

/** `gatus.yaml:12:5` of what stands at the path, or of what is nearest to it. */
export function placeAt(root: SourceNode, path: ErrorPath): string {
  for (let length = path.length; length >= 0; length -= 1) {
    const here = find(root, path.slice(0, length));
    if (here === null) continue;
    const { file, line, column } = placeOf(length < path.length ? (here.key ?? here.spot) : here.spot);
    return `${file}:${line}:${column}`;
  }
  return '';
}

/** Several files as one: maps are joined, lists put one after the other; of two plain values the first stays. */
export function joinDeep(roots: readonly SourceNode[]): SourceNode {
  const [first, ...others] = roots;
  if (first === undefined) throw new RangeError('there is nothing to join');
  return others.reduce(joinTwo, first);
}

function joinTwo(one: SourceNode, two: SourceNode): SourceNode {
  if (Array.isArray(one.value) && Array.isArray(two.value)) {
    const items = [...one.children.values(), ...two.children.values()];
    return container(one.spot, one.key, new Map(items.map((item, index) => [String(index), item])), true);
  }
  if (!isMap(one.value) || !isMap(two.value)) return one.value === null ? two : one;
  const children = new Map(one.children);
  for (const [key, child] of two.children) {
    const other = children.get(key);
    children.set(key, other === undefined ? child : joinTwo(other, child));
  }
  return container(one.spot, one.key, children, false);
}

/** The same with every text put through `change`. */
export function mapTexts(root: SourceNode, change: (text: string) => string): SourceNode {
  if (typeof root.value === 'string') return leaf(change(root.value), root.spot, root.key);
  if (root.children.size === 0) return root;
  const children = new Map([...root.children].map(([key, child]) => [key, mapTexts(child, change)]));
  return container(root.spot, root.key, children, Array.isArray(root.value));
}

const isMap = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value);
