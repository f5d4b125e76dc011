import type { LineCounter } from 'yaml';
import type { ErrorPath } from '#kernel/wording.ts';
import type { SourcePosition, Problem } from './problem.ts';

/** A file in the making of the configuration. */
export interface Text {
  readonly file: string;
  readonly order: number;
  readonly text: string;
  readonly lines: LineCounter;
}

/** A stretch of a file. */
export interface SourceRange {
  readonly text: Text;
  readonly start: number;
  readonly end: number;
}

/** A plain value that still knows where each part of it was written. */
export interface SourceNode {
  readonly value: unknown;
  readonly spot: SourceRange;
  /** Where its key stands, or null for entries of a list and the whole file. */
  readonly key: SourceRange | null;
  /** True if an environment variable is part of it: such a value is never shown. */
  readonly expanded: boolean;
  /** True if there is a problem with it already, so that its value says nothing. */
  readonly broken: boolean;
  /** By key, or by index for a list. */
  readonly children: ReadonlyMap<string, SourceNode>;
}

/** A map or list with these children. */
export function container(
  spot: SourceRange,
  key: SourceRange | null,
  children: ReadonlyMap<string, SourceNode>,
  isList: boolean,
): SourceNode {
  const values = [...children].map(([name, child]) => [name, child.value] as const);
  const value = isList ? values.map(([, entry]) => entry) : Object.fromEntries(values);
  return { value, spot, key, expanded: false, broken: false, children };
}

/** A value without parts. */
export function leaf(value: unknown, spot: SourceRange, key: SourceRange | null): SourceNode {
  return { value, spot, key, expanded: false, broken: false, children: new Map() };
}

/** What stands at the path, or null. */
export function find(root: SourceNode, path: ErrorPath): SourceNode | null {
  let here: SourceNode | undefined = root;
  for (const part of path) {
    here = here.children.get(String(part));
    if (here === undefined) return null;
  }
  return here;
}

/** The nearest thing to the path that was written: itself, or what it is missing from. */
function findNearest(root: SourceNode, path: ErrorPath): SourceNode {
  for (let length = path.length; length > 0; length -= 1) {
    const found = find(root, path.slice(0, length));
    if (found !== null) return found;
  }
  return root;
}

export function placeOf({ text, start }: SourceRange): SourcePosition {
  const { line, col } = text.lines.linePos(start);
  return { file: text.file, order: text.order, line: Math.max(line, 1), column: Math.max(col, 1) };
}

/** The spot of a part of a scalar, or the whole one if the part is not written there as it is. */
export function within(spot: SourceRange, part: string): SourceRange {
  const at = written(spot).indexOf(part);
  return at === -1 ? spot : { ...spot, start: spot.start + at, end: spot.start + at + part.length };
}

/** The source text of a spot. */
export function written({ text, start, end }: SourceRange): string {
  return text.text.slice(start, end);
}

/** A problem with the value at the path: at the value if there is one, else at the key of what it is missing from. */
export function problemAt(root: SourceNode, path: ErrorPath, message: string): Problem {
  const exact = find(root, path);
  const nearest = exact ?? findNearest(root, path);
  const spot = exact === null ? (nearest.key ?? nearest.spot) : exact.spot;
  return { place: placeOf(spot), path, message };
}

/** A problem with the key at the path. */
export function problemAtKey(root: SourceNode, path: ErrorPath, message: string): Problem {
  const nearest = findNearest(root, path);
  return { place: placeOf(nearest.key ?? nearest.spot), path, message };
}
