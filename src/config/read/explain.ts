import type { z } from 'zod';
import { channelTypes } from '#channels/index.ts';
import {
  formsOf,
  isKindError,
  type Issue,
  intendedIssues,
  optionsOf,
  unknownKey,
  wordIssue,
  hintFor,
} from '#kernel/schema-words.ts';
import { singleLine } from '#kernel/text.ts';
import type { ErrorPath } from '#kernel/wording.ts';
import { find, type SourceNode, problemAt, problemAtKey, within, placeOf, written } from './located.ts';
import type { Problem } from './problem.ts';

export type { Issue } from '#kernel/schema-words.ts';

export interface ValidationResult<Output> {
  /** What came out, or null if there are issues. */
  readonly output: Output | null;
  readonly issues: readonly Issue[];
}

/** Parses with the words of `wordIssue` for everything that a schema does not word itself. */
export function validate<Schema extends z.ZodType>(schema: Schema, value: unknown): ValidationResult<z.output<Schema>> {
  const parsed = schema.safeParse(value, { error: wordIssue });
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
  // `wordIssue` hands the allowed keys over in the message.
  const allowed = issue.message.split(' ').filter((key) => key !== '');
  return issue.keys.map((key) => {
    return problemAtKey(root, [...path, key], unknownKey(key, allowed));
  });
}

// The form that got furthest is the one that was meant; if none did, all forms are named.
function explainUnion(issue: z.core.$ZodIssueInvalidUnion, root: SourceNode, path: ErrorPath): readonly Problem[] {
  const meant = intendedIssues(issue);
  if (meant !== null) return meant.flatMap((one) => explain(one, root, path));
  const message = formsOf(issue);
  const here = find(root, path);
  const remark = here === null ? '' : remarks(issue, here, path);
  return [problemAt(root, path, `${message}${remark}`)];
}

function remarks(issue: Issue, here: SourceNode, path: ErrorPath): string {
  const found = saysWhatIsExpected(issue) ? describeFound(issue, here, path) : null;
  const parts = [found, hintFor(here.value, optionsOf(issue))].filter((part) => part !== null);
  return parts.length === 0 ? '' : ` (${parts.join('; ')})`;
}

const saysWhatIsExpected = (issue: Issue) => issue.code !== 'custom' || /^(?:expected|must)\b/.test(issue.message);

const ofChannels: ReadonlySet<unknown> = new Set(channelTypes.flatMap(({ sections }) => Object.keys(sections)));
const confidential = /pass|secret|token|auth|cookie|header|^url$|api_?key/i;

function describeFound(issue: Issue, { value, expanded, spot }: SourceNode, path: ErrorPath): string | null {
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
