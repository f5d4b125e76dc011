import {
  type Alias,
  Composer,
  type CST,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Pair,
  type ParsedNode,
  Parser,
  type Scalar,
  type YAMLError,
  type YAMLMap,
  YAMLParseError,
} from 'yaml';
import { singleLine } from '#kernel/text.ts';
import { type EnvironmentVariables, expand } from './environment.ts';
import { container, leaf, type SourceNode, placeOf, type SourceRange, type Text, within } from './located.ts';
import { inOneGo, type Steps } from '#kernel/turns.ts';
import type { ErrorPath } from '#kernel/wording.ts';
import type { Problem } from './problem.ts';
import type { SourceText } from './source.ts';

export interface YamlDocument {
  readonly root: SourceNode;
  readonly problems: readonly Problem[];
  /** False if the text is no YAML, or no map: the root is then empty. */
  readonly wellFormed: boolean;
}

/** Parts of a file that may be written by `*alias`; beyond this the file is an attack or an accident. */
const aliasBudget = 100_000;
const deepest = 64;

// How many words of a file are read in one step.
const wordsAtOnce = 64;

/** One YAML file as a value that knows its places, with anchors, merge keys and `${ENV}` resolved. */
export function readYaml(source: SourceText, order: number, env: EnvironmentVariables): YamlDocument {
  return inOneGo(yamlSteps(source, order, env));
}

/** A YAML file of another program: `${` means nothing in it, and `!!binary` is known. */
export function readForeignYaml(source: SourceText, order: number): YamlDocument {
  return inOneGo(yamlSteps(source, order, null));
}

/** The same in steps: ten thousand targets take about a second. Without `env` it is a file of another program. */
export function* yamlSteps(source: SourceText, order: number, env: EnvironmentVariables | null): Steps<YamlDocument> {
  const lines = new LineCounter();
  const document = yield* documentSteps(source.text, lines, env === null ? ['binary'] : null);
  const text: Text = { file: source.file, order, text: source.text, lines };
  const top: SourceRange = { text, start: 0, end: source.text.length };
  const nothing = container(top, top, new Map(), false);
  const faults = [...document.errors, ...document.warnings];
  if (faults.length > 0) return { root: nothing, problems: syntaxProblems(faults, text), wellFormed: false };

  if (document.contents === null) return { root: nothing, problems: [], wellFormed: true };

  const walk = new YamlWalk(text, env);
  const root = walk.node(document.contents, top, []);
  if (isPlainMap(root) || (env === null && Array.isArray(root.value)))
    return { root, problems: walk.problems, wellFormed: true };
  const problem = {
    place: placeOf(root.spot),
    path: [],
    message: 'expected keys such as "targets:" at the top of the file',
  };
  return { root: nothing, problems: [problem], wellFormed: false };
}

// As `parseDocument` of the library does it, in one go.
function* documentSteps(text: string, lines: LineCounter, customTags: ['binary'] | null): Steps<Document.Parsed> {
  const parser = new Parser(lines.addNewLine);
  const tokens: CST.Token[] = [];
  lines.addNewLine(0);
  let words = 0;
  for (const word of new Lexer().lex(text)) {
    for (const token of parser.next(word)) tokens.push(token);
    words += 1;
    if (words % wordsAtOnce === 0) yield;
  }
  for (const token of parser.end()) tokens.push(token);
  yield;
  const composer = new Composer({ strict: true, uniqueKeys: false, customTags });
  const [first, second] = composer.compose(tokens, true, text.length);
  yield;
  if (first === undefined) throw new Error('a text without a document');
  if (second !== undefined) {
    const [start, end] = second.range;
    first.errors.push(new YAMLParseError([start, end], 'MULTIPLE_DOCS', 'it contains another document'));
  }
  return first;
}

class YamlWalk {
  readonly problems: Problem[] = [];
  readonly #text: Text;
  readonly #env: EnvironmentVariables | null;
  readonly #anchors = new Map<string, ParsedNode>();
  readonly #open = new Set<ParsedNode>();
  #aliased = 0;
  #inAlias = 0;

  constructor(text: Text, env: EnvironmentVariables | null) {
    this.#text = text;
    this.#env = env;
  }

  node(node: ParsedNode | null, key: SourceRange | null, path: ErrorPath): SourceNode {
    if (node === null) return leaf(null, key ?? this.#spot(null), key);
    if (this.#inAlias > 0) this.#aliased += 1;
    if (isAlias(node)) return this.#alias(node, key, path);
    if (node.anchor !== undefined) this.#anchors.set(node.anchor, node);
    if (isScalar(node)) return this.#scalar(node, key, path);
    const spot = this.#spot(node);
    if (path.length > deepest) return this.#fault(spot, key, path, `nested deeper than ${deepest} levels`);

    this.#open.add(node);
    const children = isMap(node) ? this.#entries(node, path) : this.#items(node.items, path);
    this.#open.delete(node);
    return container(spot, key, children, isSeq(node));
  }

  #items(items: readonly ParsedNode[], path: ErrorPath): Map<string, SourceNode> {
    return new Map(items.map((item, index) => [String(index), this.node(item, null, [...path, index])]));
  }

  #entries(map: YAMLMap.Parsed, path: ErrorPath): Map<string, SourceNode> {
    const children = new Map<string, SourceNode>();
    const merged = new Map<string, SourceNode>();
    for (const { key, value } of map.items) {
      const spot = this.#spot(key);
      if (!isScalar(key)) {
        this.#fault(spot, spot, path, 'a key has to be plain text');
        continue;
      }
      const name = key.source ?? String(key.value);
      if (name === '__proto__') {
        this.#fault(spot, spot, [...path, name], 'is a reserved word: take another');
        continue;
      }
      if (name === '<<' && key.type === 'PLAIN') {
        for (const [from, child] of this.#merge(value, spot, path)) if (!merged.has(from)) merged.set(from, child);
        continue;
      }
      const child = this.node(value, spot, [...path, name]);
      const first = children.get(name);
      if (first === undefined) children.set(name, child);
      else this.#fault(spot, spot, [...path, name], `is set twice; first at line ${lineOf(first)}`);
    }
    for (const [name, child] of merged) if (!children.has(name)) children.set(name, child);
    return children;
  }

  #merge(
    value: Pair<ParsedNode, ParsedNode | null>['value'],
    spot: SourceRange,
    path: ErrorPath,
  ): Iterable<[string, SourceNode]> {
    const from = this.node(value, spot, path);
    if (isPlainMap(from)) return from.children;
    const parts = [...from.children.values()];
    if (parts.length > 0 && parts.every(isPlainMap)) return parts.flatMap((part) => [...part.children]);
    this.#fault(from.spot, spot, [...path, '<<'], 'expected a map, or a list of maps, to take keys from');
    return [];
  }

  #alias(node: Alias.Parsed, key: SourceRange | null, path: ErrorPath): SourceNode {
    const spot = this.#spot(node);
    const target = this.#anchors.get(node.source);
    const name = singleLine(node.source, 60);
    if (target === undefined) {
      return this.#fault(spot, key, path, `no "&${name}" before this "*${name}"; quote the value if "*" is part of it`);
    }
    if (this.#open.has(target)) return this.#fault(spot, key, path, `"*${name}" would contain itself`);
    if (this.#aliased > aliasBudget) {
      return this.#fault(spot, key, path, `the aliases of this file stand for more than ${aliasBudget} values`);
    }
    this.#inAlias += 1;
    const located = this.node(target, key, path);
    this.#inAlias -= 1;
    return located;
  }

  #scalar(node: Scalar.Parsed, key: SourceRange | null, path: ErrorPath): SourceNode {
    const spot = this.#spot(node);
    if (typeof node.value !== 'string' || this.#env === null) return leaf(node.value, spot, key);
    const { text, changed, faults } = expand(node.value, this.#env);
    for (const fault of faults) this.#fault(within(spot, fault.written), key, path, fault.message);
    return { ...leaf(text, spot, key), expanded: changed, broken: faults.length > 0 };
  }

  #fault(spot: SourceRange, key: SourceRange | null, path: ErrorPath, message: string): SourceNode {
    this.problems.push({ place: placeOf(spot), path, message });
    return { ...leaf(undefined, spot, key), broken: true };
  }

  #spot(node: ParsedNode | null): SourceRange {
    const [start, end] = node === null ? [0, 0] : node.range;
    return { text: this.#text, start, end };
  }
}

const isPlainMap = ({ value }: SourceNode) => typeof value === 'object' && value !== null && !Array.isArray(value);

const lineOf = ({ key, spot }: SourceNode) => placeOf(key ?? spot).line;

// One mistake often makes the parser stumble several times on its line: the first time says enough.
function syntaxProblems(errors: readonly YAMLError[], text: Text): readonly Problem[] {
  const byLine = new Map<number, Problem>();
  for (const error of errors) {
    const place = placeOf({ text, start: error.pos[0], end: error.pos[1] });
    if (!byLine.has(place.line)) byLine.set(place.line, { place, path: [], message: explainSyntax(error, text) });
  }
  return [...byLine.values()];
}

const noColon = 'not valid YAML: expected "key: value" here; is a ":" missing, or the space after it?';

function explainSyntax(error: YAMLError, { text, lines }: Text): string {
  const start = lines.lineStarts[lines.linePos(error.pos[0]).line - 1] ?? 0;
  const [line = ''] = text.slice(start).split('\n', 1);
  if (/[[{,].*[^"']\$\{/.test(line)) return 'not valid YAML: inside { } and [ ] a value with ${...} needs quotes';
  switch (error.code) {
    case 'TAB_AS_INDENT':
      return 'this line is indented with a tab; use spaces';
    case 'MULTIPLE_DOCS':
      return 'a file holds one document; remove this "---" and what follows, or use a folder of files';
    case 'MISSING_CHAR':
      if (error.message.startsWith('Missing closing')) return 'not valid YAML: a quote that was opened is not closed';
      if (error.message.startsWith('Implicit map keys')) return noColon;
      return `not valid YAML: ${singleLine(error.message)}`;
    case 'MULTILINE_IMPLICIT_KEY':
      return noColon;
    case 'BAD_INDENT':
      return 'not valid YAML: wrong indentation, or a bracket that was opened before this is not closed';
    case 'BLOCK_AS_IMPLICIT_KEY':
      return 'not valid YAML: a second ": " on this line, or a next line indented too far; text with ": " needs quotes';
    case 'BAD_SCALAR_START':
      return `text that begins with ${text.slice(error.pos[0], error.pos[0] + 1)} needs quotes`;
    case 'UNEXPECTED_TOKEN':
      return `not valid YAML: ${singleLine(error.message)}; text that begins with * & ! | > or % needs quotes`;
    default:
      return `not valid YAML: ${singleLine(error.message)}`;
  }
}
