import { z } from 'zod';
import { channelTypes } from '#channels/index.ts';
import { singleLine } from '#kernel/text.ts';
import { find, type SourceNode, problemAt, problemAtKey, within, placeOf, written } from './located.ts';
import { alternatives, nearest, type ErrorPath, type Problem, suggestion } from './problem.ts';

export type Issue = z.core.$ZodIssue;
type RawIssue = Parameters<z.core.$ZodErrorMap>[0];

export interface ValidationResult<Output> {
  /** What came out, or null where there are issues. */
  readonly output: Output | null;
  readonly issues: readonly Issue[];
}

/** Parses with the words of this file for everything that a schema does not word itself. */
export function validate<Schema extends z.ZodType>(schema: Schema, value: unknown): ValidationResult<z.output<Schema>> {
  const parsed = schema.safeParse(value, { error: word });
  return parsed.success ? { output: parsed.data, issues: [] } : { output: null, issues: parsed.error.issues };
}

/** What is wrong and where, for a reader of the file. Nothing for nodes that are known to be broken. */
export function explain(issue: Issue, root: SourceNode, base: ErrorPath = []): readonly Problem[] {
  const path = [...base, ...issue.path];
  const here = find(root, path);
  if (here?.broken === true) return [];
  if (issue.code === 'unrecognized_keys') return explainKeys(issue, root, path);
  if (issue.code === 'invalid_key') return [problemAtKey(root, path, issue.issues[0]?.message ?? issue.message)];
  if (issue.code === 'invalid_union' && issue.message === '') return explainUnion(issue, root, path);
  if (here === null || here.value === undefined) {
    const message = issue.code === 'custom' ? issue.message : `is missing: ${issue.message}`;
    return [problemAt(root, path, message)];
  }
  if (issue.code === 'custom' && here.children.size > 0) return [problemAtKey(root, path, issue.message)];
  const part: unknown = issue.code === 'custom' ? issue.params?.['part'] : undefined;
  const spot = typeof part === 'string' ? within(here.spot, part) : here.spot;
  return [{ place: placeOf(spot), path, message: `${issue.message}${remarks(issue, here, path)}` }];
}

function explainKeys(issue: z.core.$ZodIssueUnrecognizedKeys, root: SourceNode, path: ErrorPath): readonly Problem[] {
  // `word` hands the allowed keys over in the message.
  const allowed = issue.message.split(' ').filter((key) => key !== '');
  return issue.keys.map((key) => {
    const near = suggestion(key, allowed);
    const known = near === '' && allowed.length > 0 ? `; known here: ${allowed.join(', ')}` : near;
    return problemAtKey(root, [...path, key], `unknown key${known}`);
  });
}

// The form that got furthest is the one that was meant; where none did, all forms are named.
function explainUnion(issue: z.core.$ZodIssueInvalidUnion, root: SourceNode, path: ErrorPath): readonly Problem[] {
  const meant = issue.errors.filter((issues) => issues.every((one) => one.path.length > 0 || !isKindError(one)));
  const only = meant[0];
  if (only !== undefined && meant.length === 1) return only.flatMap((one) => explain(one, root, path));
  const forms = issue.errors.flatMap((issues) =>
    issues.slice(0, 1).map((one) => one.message.replace(/^expected /, '')),
  );
  const message = forms.length === 0 ? 'is none of the allowed forms' : `expected ${[...new Set(forms)].join(', or ')}`;
  const here = find(root, path);
  const remark = here === null ? '' : remarks(issue, here, path);
  return [problemAt(root, path, `${message}${remark}`)];
}

const isKindError = (issue: Issue) => issue.code === 'invalid_type' || issue.code === 'invalid_value';

function remarks(issue: Issue, here: SourceNode, path: ErrorPath): string {
  const near = typeof here.value === 'string' ? nearest(here.value, optionsOf(issue)) : null;
  const found = saysWhatIsExpected(issue) ? shown(issue, here, path) : null;
  const parts = [found, near === null ? null : `did you mean "${near}"?`].filter((part) => part !== null);
  return parts.length === 0 ? '' : ` (${parts.join('; ')})`;
}

const saysWhatIsExpected = (issue: Issue) => issue.code !== 'custom' || /^(?:expected|must)\b/.test(issue.message);

function optionsOf(issue: Issue): readonly string[] {
  if (issue.code === 'invalid_value') return issue.values.map(String);
  if (issue.code === 'custom') return z.array(z.string()).catch([]).parse(issue.params?.['options']);
  if (issue.code !== 'invalid_union') return [];
  const discriminators = 'options' in issue ? (issue.options ?? []) : [];
  return [...discriminators.map(String), ...issue.errors.flat().flatMap(optionsOf)];
}

const ofChannels: ReadonlySet<unknown> = new Set(channelTypes.flatMap(({ sections }) => Object.keys(sections)));
const confidential = /pass|secret|token|auth|cookie|header|^url$|api_?key/i;

function shown(issue: Issue, { value, expanded, spot }: SourceNode, path: ErrorPath): string | null {
  if (value === null) return 'found nothing';
  if (typeof value === 'object') {
    return isKindError(issue) || issue.code === 'invalid_union'
      ? `found a ${Array.isArray(value) ? 'list' : 'map'}`
      : null;
  }
  // The second part is a user's name, except in a channel's own section.
  if (path.some((part, depth) => (depth !== 1 || ofChannels.has(path[0])) && confidential.test(String(part))))
    return null;
  if (expanded) return `found ${singleLine(written(spot), 80)}`;
  if (typeof value !== 'string') return `found ${singleLine(written(spot), 40)}`;
  return `found "${singleLine(value.replace(/\/\/[^/@]*@/, '//...@'), 60)}"`;
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

function word(issue: RawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `expected ${kinds[issue.expected] ?? issue.expected}${quoteHint(issue.expected, issue.input)}`;
    case 'invalid_value':
      return `expected ${alternatives(issue.values.map(String))}`;
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
