import { isDeepStrictEqual } from 'node:util';
import { parseJson } from '#kernel/json.ts';
import { messageOf } from '#kernel/errors.ts';
import type { Failure } from '../outcome.ts';
import { compilePattern } from '../pattern.ts';
import type { Body } from './body.ts';
import type { Head } from './head.ts';
import { compilePath, PathError } from './json-path.ts';
import type { HttpExpectation, JsonExpectation } from './spec.ts';
import { problem, quote } from './unmet.ts';

/** Where a body is not what it should be; null where it is. What was cut off could still hold anything. */
export function bodyFailure(
  expected: NonNullable<HttpExpectation['body']>,
  body: Body,
  head: Pick<Head, 'headers'>,
): Failure | null {
  const text = decodedBody(body, head);
  const { contains = [], not_contains = [], regex = [], not_regex = [], json = [] } = expected;
  const cut = () =>
    problem('too_large', `the body is larger than ${body.bytes} bytes: only its beginning was examined`);
  const lacking = contains.find((wanted) => !text.includes(wanted));
  const unmatched = regex.find((pattern) => !compilePattern(pattern).test(text));
  if (lacking !== undefined || unmatched !== undefined) {
    if (!body.complete) return cut();
    const missing = lacking === undefined ? `match ${unmatched ?? ''}` : `contain ${quote(lacking)}`;
    return problem('body', `the body does not ${missing}`);
  }
  const unwanted = not_contains.find((phrase) => text.includes(phrase));
  if (unwanted !== undefined) return problem('body', `the body contains ${quote(unwanted)}`);
  const matched = not_regex.find((pattern) => compilePattern(pattern).test(text));
  if (matched !== undefined) return problem('body', `the body matches ${matched}`);
  if (not_contains.length === 0 && not_regex.length === 0 && json.length === 0) return null;
  if (!body.complete) return cut();
  return jsonFailure(json, text);
}

function jsonFailure(conditions: readonly JsonExpectation[], text: string): Failure | null {
  if (conditions.length === 0) return null;
  const document = parseJson(text);
  if (document === undefined) return problem('body', 'the body is not JSON');
  for (const expected of conditions) {
    const wrong = jsonMismatch(expected, document);
    if (wrong !== null) return problem('body', wrong);
  }
  return null;
}

function jsonMismatch(expected: JsonExpectation, document: unknown): string | null {
  const { path, equals, not, regex, min, max, exists = true } = expected;
  const found = valuesAt(path, document);
  if (!found.ok) return found.message;
  const { values } = found;
  const [first] = values;
  if (!exists) return values.length === 0 ? null : `${path} is there: ${quote(first)}`;
  if (values.length === 0) return `${path} is not in the body`;
  const is = `${path} is ${quote(first)}, expected`;
  if (equals !== undefined && !values.some((value) => isDeepStrictEqual(value, equals)))
    return `${is} ${quote(equals)}`;
  if (not !== undefined && values.some((value) => isDeepStrictEqual(value, not))) return `${path} is ${quote(not)}`;
  if (regex !== undefined && !values.some((value) => isText(value) && compilePattern(regex).test(String(value)))) {
    return `${is} it to match ${regex}`;
  }
  const bounds = [...(min === undefined ? [] : [`at least ${min}`]), ...(max === undefined ? [] : [`at most ${max}`])];
  if (bounds.length === 0) return null;
  const within = (value: unknown) =>
    typeof value === 'number' && value >= (min ?? -Infinity) && value <= (max ?? Infinity);
  return values.some(within) ? null : `${is} ${bounds.join(' and ')}`;
}

function isText(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number';
}

type JsonMatches =
  | { readonly ok: true; readonly values: readonly unknown[] }
  | { readonly ok: false; readonly message: string };

function valuesAt(path: string, document: unknown): JsonMatches {
  try {
    return { ok: true, values: compilePath(path).valuesIn(document) };
  } catch (error) {
    if (error instanceof PathError) return { ok: false, message: `${path} cannot be read: ${messageOf(error)}` };
    throw error;
  }
}

function charsetOf({ headers }: Pick<Head, 'headers'>): string {
  return /;\s*charset="?([\w.:-]+)/i.exec(headers['content-type'] ?? '')?.[1] ?? 'utf-8';
}

/** A body as text, in the character set that its head names. */
export function decodedBody({ content }: Body, head: Pick<Head, 'headers'>): string {
  const charset = charsetOf(head);
  const bytes = content ?? new Uint8Array();
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch (error) {
    // A label that the encoding standard does not know.
    if (error instanceof RangeError) return new TextDecoder().decode(bytes);
    throw error;
  }
}
