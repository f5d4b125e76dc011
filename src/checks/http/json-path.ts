import { createRequire } from 'node:module';
import type * as JsonP3 from 'json-p3';
import type { JSONPathEnvironment, JSONPathQuery, jsonpath } from 'json-p3';
import { messageOf } from '#kernel/errors.ts';
import { NewestEntries } from '#kernel/newest-entries.ts';
import { compilePattern, PatternError } from '../pattern.ts';

/** The fault of a path, for its author. */
export class PathError extends Error {
  override readonly name = 'PathError';
}

/** A JSONPath (RFC 9535) that takes time in proportion to the document, whatever that is. */
export interface JsonPath {
  /** The values at the path. Throws a `PathError` for a document that is nested too deeply. */
  valuesIn(document: unknown): readonly unknown[];
}

const mostKept = 500;
const kept = new NewestEntries<string, JsonPath>(mostKept);

/** Compiles a path. Throws a `PathError` for one that is none, and for one whose time could grow faster than the document. */
export function compilePath(path: string): JsonPath {
  const known = kept.get(path);
  if (known !== undefined) return known;
  const query = parse(path);
  refuseSlow(query, { everywhere: false, isFilter: false });
  const compiled: JsonPath = {
    valuesIn(document) {
      try {
        return query.query(asJson(document)).values();
      } catch (error) {
        throw error instanceof library().JSONPathError ? new PathError(messageOf(error), { cause: error }) : error;
      }
    },
  };
  kept.set(path, compiled);
  return compiled;
}

type Json = Parameters<JSONPathQuery['query']>[0];

// The library's type of JSON does not take `unknown`, which is what `JSON.parse` gives out here.
function asJson(document: unknown): Json {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return document as Json;
}

const load = createRequire(import.meta.url);

// Loaded with the first path: most programs have none.
function library(): typeof JsonP3 {
  // Sound because the types are those of this very package.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return load('json-p3') as typeof JsonP3;
}

let environment: JSONPathEnvironment | null = null;

function createEnvironment(): JSONPathEnvironment {
  const { FunctionExpressionType, JSONPathEnvironment: Environment } = library();
  const created = new Environment();
  for (const name of ['match', 'search'] as const) {
    created.functionRegister.set(name, {
      argTypes: [FunctionExpressionType.ValueType, FunctionExpressionType.ValueType],
      returnType: FunctionExpressionType.LogicalType,
      call(text: unknown, source: unknown) {
        if (typeof text !== 'string' || typeof source !== 'string') return false;
        const pattern = compilePattern(source);
        return name === 'match' ? pattern.matches(text) : pattern.test(text);
      },
    });
  }
  return created;
}

function parse(path: string): JSONPathQuery {
  environment ??= createEnvironment();
  try {
    return environment.compile(path);
  } catch (error) {
    throw error instanceof library().JSONPathError ? new PathError(messageOf(error), { cause: error }) : error;
  }
}

interface PathSegment {
  /** Whether a descendant segment led here: then what costs a whole document would cost it for each of its values. */
  readonly everywhere: boolean;
  readonly isFilter: boolean;
}

const slow = 'cannot run in linear time';

function refuseSlow(query: JSONPathQuery, place: PathSegment): void {
  let { everywhere } = place;
  for (const segment of query.segments) {
    if (segment.toString().startsWith('..')) {
      if (everywhere) throw new PathError(`${slow}: ".." stands behind or inside another ".."`);
      everywhere = true;
    }
    const wide = segment.selectors.filter((selector) => !isSingle(selector));
    if (wide.length > 1) throw new PathError(`${slow}: brackets may hold only one of "*", a slice and a filter`);
    for (const selector of wide) {
      if (selector instanceof library().jsonpath.selectors.FilterSelector) {
        refuseSlowExpression(selector.expression, { everywhere, isFilter: true });
      }
    }
  }
}

function isSingle(selector: unknown): boolean {
  const { NameSelector, IndexSelector } = library().jsonpath.selectors;
  return selector instanceof NameSelector || selector instanceof IndexSelector;
}

function refuseSlowExpression(expression: jsonpath.expressions.FilterExpression, place: PathSegment): void {
  const { FunctionExtension, InfixExpression, LogicalExpression, PrefixExpression, RelativeQuery, RootQuery } =
    library().jsonpath.expressions;
  if (expression instanceof LogicalExpression) refuseSlowExpression(expression.expression, place);
  if (expression instanceof PrefixExpression) refuseSlowExpression(expression.right, place);
  if (expression instanceof InfixExpression) {
    refuseSlowExpression(expression.left, place);
    refuseSlowExpression(expression.right, place);
  }
  if (expression instanceof RelativeQuery) refuseSlow(expression.path, place);
  if (expression instanceof RootQuery) {
    const single = expression.path.segments.every(
      (segment) =>
        !segment.toString().startsWith('..') && segment.selectors.length === 1 && segment.selectors.every(isSingle),
    );
    if (!single) throw new PathError(`${slow}: a filter may look at one value of the whole document, not search it`);
  }
  if (expression instanceof FunctionExtension) {
    for (const argument of expression.args) refuseSlowExpression(argument, place);
    if (expression.name === 'match' || expression.name === 'search') refuseBadPattern(expression.args[1]);
  }
}

function refuseBadPattern(pattern: unknown): void {
  if (!(pattern instanceof library().jsonpath.expressions.StringLiteral)) {
    throw new PathError('match() and search() take a pattern that is written out');
  }
  try {
    compilePattern(pattern.value);
  } catch (error) {
    throw error instanceof PatternError
      ? new PathError(`the pattern ${JSON.stringify(pattern.value)} ${error.message}`)
      : error;
  }
}
