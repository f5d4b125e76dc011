import { Document, isAlias, isMap, isScalar, type Pair, parseDocument, type YAMLMap } from 'yaml';
import { WatchpostError } from '#kernel/errors.ts';
import type { SourceText } from '../read/source.ts';

// Texts are changed line by line, not written anew: comments, order and spelling of everything else stay as they are.

/** A target as it is written into a configuration. */
export interface TargetEntry {
  readonly name: string;
  readonly keys: Readonly<Record<string, unknown>>;
}

/** The text with one more target, after the others. Throws `usage` if the targets are written in a form that only people can extend. */
export function withTarget(source: SourceText, { name, keys }: TargetEntry): string {
  const { text } = source;
  const newline = text.includes('\r\n') ? '\r\n' : '\n';
  const found = targetsIn(source);
  if (found === null) {
    const gap = text === '' ? '' : text.endsWith('\n') ? newline : `${newline}${newline}`;
    return `${text}${gap}targets:${newline}  ${lineOf(name, keys)}${newline}`;
  }
  const { pair, map } = found;
  const last = map?.items.at(-1);
  if (map === null || last === undefined) {
    const [start, end] = rangeOf(map ?? pair.key, source);
    const after = map === null ? endOfLine(text, end) : end;
    if (map === null)
      return `${withNewline(text.slice(0, after), newline)}  ${lineOf(name, keys)}${newline}${text.slice(after)}`;
    return `${text.slice(0, start).trimEnd()}${newline}  ${lineOf(name, keys)}${text.slice(after)}`;
  }
  const [, end] = rangeOf(last.value ?? last.key, source);
  if (map.flow === true) return `${text.slice(0, end)}, ${lineOf(name, keys)}${text.slice(end)}`;
  const at = endOfLine(text, end);
  const indent = indentOf(last, source);
  return `${withNewline(text.slice(0, at), newline)}${indent}${lineOf(name, keys)}${newline}${text.slice(at)}`;
}

/** The text without this target; null if it has no such target. Throws `usage` if it stands on a line with others. */
export function withoutTarget(source: SourceText, name: string): string | null {
  const { text, file } = source;
  const map = targetsIn(source)?.map ?? null;
  const pair = map?.items.find(({ key }) => isScalar(key) && String(key.value) === name);
  if (map === null || pair === undefined) return null;
  if (map.flow === true)
    throw new WatchpostError('usage', `${file}: ${name} stands on a line with other targets: remove it there by hand`);
  const [start] = rangeOf(pair.key, source);
  const [, end] = rangeOf(pair.value ?? pair.key, source);
  indentOf(pair, source);
  return text.slice(0, startOfLine(text, start)) + text.slice(endOfLine(text, end));
}

interface FoundTargets {
  readonly pair: Pair;
  /** Null if nothing stands after `targets:`. */
  readonly map: YAMLMap | null;
}

export function targetsIn({ file, text }: SourceText): FoundTargets | null {
  const { contents } = parseDocument(text);
  if (contents === null) return null;
  if (!isMap(contents) || contents.flow === true)
    throw handwork(file, 'the file is not a list of keys, one on each line');
  const pair = contents.items.find(({ key }) => isScalar(key) && key.value === 'targets');
  if (pair === undefined) return null;
  const { value } = pair;
  if (isMap(value)) return { pair, map: value };
  if (isAlias(value)) throw handwork(file, 'targets is an alias');
  if (value === null || (isScalar(value) && value.value === null)) return { pair, map: null };
  throw handwork(file, 'targets is no map');
}

function handwork(file: string, why: string): WatchpostError {
  return new WatchpostError('usage', `${file}: ${why}: change it by hand, or name another file with --file`);
}

/** Where a node begins, and where what it says ends. */
export function rangeOf(node: unknown, { file }: SourceText): readonly [start: number, end: number] {
  const range: unknown = typeof node === 'object' && node !== null && 'range' in node ? node.range : null;
  if (!Array.isArray(range)) throw handwork(file, 'a target has no place in the text');
  const [start, end]: unknown[] = range;
  return [Number(start), Number(end)];
}

export function indentOf(pair: Pick<Pair, 'key'>, source: SourceText): string {
  const [start] = rangeOf(pair.key, source);
  const before = source.text.slice(startOfLine(source.text, start), start);
  if (!/^ *$/.test(before)) throw handwork(source.file, 'a target does not begin its line');
  return before;
}

function lineOf(name: string, keys: TargetEntry['keys']): string {
  const entry = new Document({ [name]: keys });
  const value = isMap(entry.contents) ? entry.contents.items[0]?.value : null;
  if (isMap(value)) value.flow = true;
  return entry.toString({ lineWidth: 0, flowCollectionPadding: true }).trimEnd();
}

export const startOfLine = (text: string, at: number) => text.lastIndexOf('\n', at - 1) + 1;

// A block ends at the beginning of the next line.
export function endOfLine(text: string, at: number): number {
  if (text[at - 1] === '\n') return at;
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end + 1;
}

const withNewline = (text: string, newline: string) =>
  text === '' || text.endsWith('\n') ? text : `${text}${newline}`;
