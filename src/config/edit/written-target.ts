import { isDeepStrictEqual } from 'node:util';
import { type Document, isAlias, isMap, isPair, isScalar, parseDocument, visit } from 'yaml';
import { WatchpostError } from '#kernel/errors.ts';
import type { SourceText } from '../read/source.ts';
import { endOfLine, indentOf, rangeOf, startOfLine, targetsIn } from './target-lines.ts';

/** Where a target is written, and whether its lines can be changed by a program. */
export interface TargetPosition {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** Why people have to change it by hand, or null. */
  readonly byHand: string | null;
}

interface TargetLines extends TargetPosition {
  readonly name: string;
  /** Its lines as they stand in the file, with those newlines; without any if it has to be changed by hand. */
  readonly lines: string;
  readonly start: number;
  readonly end: number;
}

/** The targets that a file has. */
export function writtenTargets(source: SourceText): readonly TargetLines[] {
  const { text, file } = source;
  const map = targetsIn(source)?.map ?? null;
  if (map === null) return [];
  return map.items.flatMap(({ key, value }) => {
    if (!isScalar(key)) return [];
    const [start] = rangeOf(key, source);
    const [, end] = rangeOf(value ?? key, source);
    const range = { start: startOfLine(text, start), end: endOfLine(text, end) };
    const byHand = map.flow === true ? 'stands on a line with other targets' : handworkOf(key, source);
    const line = text.slice(0, start).split('\n').length;
    const lines = byHand === null ? text.slice(range.start, range.end) : '';
    return [{ name: String(key.value), file, line, byHand, lines, ...range }];
  });
}

function handworkOf(key: object, source: SourceText): string | null {
  try {
    indentOf({ key }, source);
    return null;
  } catch (error) {
    if (!(error instanceof WatchpostError)) throw error;
    return 'does not begin its line';
  }
}

interface ExchangedLines {
  readonly text: string;
  /** The name that the target has in them; null if they are no YAML: the reader of the text reports that with its line. */
  readonly name: string | null;
}

/**
 * The text with other lines for a target. Throws `usage` unless they are one target and nothing else of the file changes, and if they
 * refer to a file, a variable or an anchor that the old ones do not: what the process may read is not for everyone who may edit.
 */
export function withLines(
  { text, file }: SourceText,
  { name, start, end, lines }: TargetLines,
  written: string,
): ExchangedLines {
  const newline = lines.includes('\r\n') ? '\r\n' : '\n';
  const plain = written.replaceAll(/\r\n?|\n/g, newline).replace(/\s*$/, '');
  const isLast = end === text.length && !text.endsWith('\n');
  const after = `${text.slice(0, start)}${plain}${isLast ? '' : newline}${text.slice(end)}`;
  const [old, fresh] = [parseDocument(text), parseDocument(after)];
  if (fresh.errors.length > 0) return { text: after, name: null };
  const [before, now] = [namesIn(old), namesIn(fresh)];
  const at = before.indexOf(name);
  const renamed = now[at];
  const isAlone = isDeepStrictEqual(before.toSpliced(at, 1), now.toSpliced(at, 1));
  if (renamed === undefined || !isAlone) throw more(file);
  // Before anything is resolved: what is known can be resolved.
  const known = new Set(referencesOf(old, name));
  const news = referencesOf(fresh, renamed).filter((one) => !known.has(one));
  if (news.length > 0)
    throw new WatchpostError(
      'usage',
      `${news.join(', ')}: references to files, variables and anchors are added by hand, in ${file}`,
    );
  if (!isDeepStrictEqual(withoutOne(old, name), withoutOne(fresh, renamed))) throw more(file);
  return { text: after, name: renamed };
}

const more = (file: string) =>
  new WatchpostError('usage', `${file}: the lines must be one target, and change nothing else in the file`);

function namesIn({ contents }: Document): readonly string[] {
  const map = isMap(contents) ? contents.get('targets') : null;
  return isMap(map) ? map.items.map(({ key }) => (isScalar(key) ? String(key.value) : '')) : [];
}

/** Everything else that a file says. */
function withoutOne(document: Document, name: string): unknown {
  const whole: unknown = document.toJS({ maxAliasCount: -1 });
  if (!isTree(whole)) return whole;
  const { targets, ...rest } = whole;
  if (!isTree(targets)) return whole;
  const { [name]: _, ...others } = targets;
  return [rest, others];
}

const isTree = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What a target refers to: variables, aliases, and the files under keys that end in `_file`. */
function referencesOf(document: Document, name: string): readonly string[] {
  const found: string[] = [];
  visit(document, (_, node, path) => {
    if (isPair(node)) {
      const { key, value } = node;
      const isFile = isScalar(key) && String(key.value).endsWith('_file');
      const named = isScalar(value) ? String(value.value) : JSON.stringify(value);
      if (isFile && isIn(path, name)) found.push(`${String(key.value)}: ${named}`);
    }
    if (isAlias(node) && isIn(path, name)) found.push(`*${node.source}`);
    if (isScalar(node) && typeof node.value === 'string' && isIn(path, name))
      found.push(...(node.value.match(/\$\{[^}]*\}/g) ?? []));
  });
  return found;
}

const isIn = (path: readonly unknown[], name: string) => {
  const keys = path.filter((one) => isPair(one)).map(({ key }) => (isScalar(key) ? String(key.value) : ''));
  return keys[0] === 'targets' && keys[1] === name;
};
