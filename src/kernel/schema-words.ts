import { z } from 'zod';
import { alternatives, type ErrorPath, formatPath, nearest, suggestion } from './wording.ts';

export type Issue = z.core.$ZodIssue;
type RawIssue = Parameters<z.core.$ZodErrorMap>[0];

/** Whether a value is of another kind than expected, such as a list instead of text. */
export const isKindError = (issue: Issue) => issue.code === 'invalid_type' || issue.code === 'invalid_value';

/** The issues of the one form of a union that was meant: the only one whose kind fits. Null if several or none fit. */
export function intendedIssues(issue: z.core.$ZodIssueInvalidUnion): readonly Issue[] | null {
  const meant = issue.errors.filter((issues) => issues.every((one) => one.path.length > 0 || !isKindError(one)));
  return meant.length === 1 ? (meant[0] ?? null) : null;
}

/** What a value that is none of the forms of a union should have been. */
export function formsOf(issue: z.core.$ZodIssueInvalidUnion): string {
  const forms = issue.errors.flatMap((issues) =>
    issues.slice(0, 1).map((one) => one.message.replace(/^expected /, '')),
  );
  return forms.length === 0 ? 'is none of the allowed forms' : `expected ${[...new Set(forms)].join(', or ')}`;
}

/** The words that an issue would have taken. */
export function optionsOf(issue: Issue): readonly string[] {
  if (issue.code === 'invalid_value') return issue.values.map(String);
  if (issue.code === 'custom') return z.array(z.string()).catch([]).parse(issue.params?.['options']);
  if (issue.code !== 'invalid_union') return [];
  const discriminators = 'options' in issue ? (issue.options ?? []) : [];
  return [...discriminators.map(String), ...issue.errors.flat().flatMap(optionsOf)];
}

/**
 * One sentence that begins with where the issue is: `options.method: expected "GET" or "HEAD" (did you mean "HEAD"?)`. For values that
 * were parsed with `wordIssue`.
 */
export function describeIssue(issue: Issue, value: unknown, base: ErrorPath = []): string {
  const path = [...base, ...issue.path];
  if (issue.code === 'unrecognized_keys') {
    const allowed = issue.message.split(' ').filter((key) => key !== '');
    const [key = ''] = issue.keys;
    return `${formatPath([...path, key])}: ${unknownKey(key, allowed)}`;
  }
  if (issue.code === 'invalid_key') return `${formatPath(path)}: ${issue.issues[0]?.message ?? issue.message}`;
  if (issue.code === 'invalid_union' && issue.message === '') {
    const [first] = intendedIssues(issue) ?? [];
    if (first !== undefined) return describeIssue(first, valueAt(value, issue.path), path);
    return `${formatPath(path)}: ${formsOf(issue)}`;
  }
  const hint = hintFor(valueAt(value, issue.path), optionsOf(issue));
  return `${formatPath(path)}: ${issue.message}${hint === null ? '' : ` (${hint})`}`;
}

/** What to write instead, if one of these words is near: `did you mean "GET"?`. */
export function hintFor(written: unknown, words: readonly string[]): string | null {
  const near = typeof written === 'string' ? nearest(written, words) : null;
  if (near === null) return null;
  // A number in quotes is text.
  return near === written ? 'without quotes' : `did you mean "${near}"?`;
}

/** What is wrong with a key that is none of those allowed. */
export function unknownKey(key: string, allowed: readonly string[]): string {
  const near = suggestion(key, allowed);
  return `unknown key${near === '' && allowed.length > 0 ? `; known here: ${allowed.join(', ')}` : near}`;
}

function valueAt(value: unknown, path: ErrorPath): unknown {
  let found = value;
  for (const key of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key)) return undefined;
    found = Reflect.get(found, key);
  }
  return found;
}

const kinds: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list, such as [a, b]',
  tuple: 'a list',
  object: 'a map of keys and values',
  record: 'a map of keys and values',
  null: 'nothing',
};

/** Words everything that a schema does not word itself. An unknown key gets the allowed keys, with blanks between them. */
export function wordIssue(issue: RawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `expected ${kinds[issue.expected] ?? issue.expected}${quoteHint(issue.expected, issue.input)}`;
    case 'invalid_value':
      return `expected ${alternatives(issue.values)}`;
    case 'unrecognized_keys':
      return issue.inst instanceof z.ZodObject ? Object.keys(issue.inst.shape).join(' ') : '';
    case 'invalid_union':
      return Array.isArray(issue.options) ? `expected ${alternatives(issue.options.map(String))}` : '';
    case 'too_small':
      return wordBound(issue.origin, 'at least', Number(issue.minimum));
    case 'too_big':
      return wordBound(issue.origin, 'at most', Number(issue.maximum));
    case 'invalid_format':
      return `expected ${formats[issue.format] ?? `text of the form ${issue.pattern ?? issue.format}`}`;
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    default:
      return 'is not allowed here';
  }
}

const formats: Readonly<Record<string, string>> = {
  email: 'a mail address, such as "ops@example.com"',
  url: 'an URL, such as "https://example.com"',
  ipv4: 'an IPv4 address',
  ipv6: 'an IPv6 address',
  datetime: 'a time, such as "2026-11-21T04:35:00Z"',
};

function quoteHint(expected: string, input: unknown): string {
  const plain = typeof input === 'number' || typeof input === 'boolean';
  return expected === 'string' && plain ? ': put it in quotes' : '';
}

function wordBound(origin: string, bound: string, count: number): string {
  if (origin === 'string') return count === 1 ? 'must not be empty' : `must have ${bound} ${count} characters`;
  if (origin === 'number' || origin === 'int') return `must be ${bound} ${count}`;
  return `must have ${bound} ${count} ${count === 1 ? 'entry' : 'entries'}`;
}
