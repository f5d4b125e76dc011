import { equalByText, escapeRegex, literalsOf } from '../convert.ts';
import type { PlainMap } from '../draft.ts';
import type { KumaMonitor } from './schema.ts';

/** What becomes of a JSON query: an expectation, or why there is none; and how its verdicts differ, if they do. */
export interface ConvertedQuery {
  readonly json: PlainMap | null;
  readonly lost: string | null;
  readonly differs: string | null;
}

const operators = new Set(['<', '<=', '>', '>=']);

/**
 * The JSON query of a monitor as JSONPath. Kuma compares the value's text with the expected text: 15 equals "15", and `true` equals "true". A
 * value that is missing, null, an object or a list is down, whatever the operator.
 */
export function jsonExpectation({
  json_path: query = '$',
  json_path_operator: operator = '==',
  expected_value: expected = '',
}: KumaMonitor): ConvertedQuery {
  const path = jsonPathOf(query);
  const converted = (json: PlainMap, differs: string | null = null) => ({ json, lost: null, differs });
  const lost = (why: string) => ({ json: null, lost: why, differs: null });
  if (path === null) return lost(`the JSON query ${query}: only simple paths can be carried over`);
  if (operator === '==') return converted(equalTo(path, expected));
  if (operator === 'contains') return converted(containing(path, expected));
  if (operator === '!=') {
    const others = literalsOf(expected).map((literal) => `${path} != ${JSON.stringify(literal)}`);
    return converted({ path: `$[?${isScalar(path)} && ${others.join(' && ')}]` });
  }
  const limit = Number(expected);
  if (!operators.has(operator) || expected.trim() === '' || !Number.isFinite(limit))
    return lost(`the JSON query ${query} ${operator} ${expected}: it compares numbers, and this is none`);
  return converted({ path: `$[?${path} ${operator} ${limit}]` }, 'a number in quotes is not compared as a number');
}

// search() of JSONPath takes texts only, and `regex` texts and numbers.
function containing(path: string, expected: string): PlainMap {
  if (expected === '') return { path: `$[?${isScalar(path)}]` };
  const truths = [true, false].filter((one) => String(one).includes(expected)).map((one) => ` || ${path} == ${one}`);
  const pattern = escapeRegex(expected);
  if (truths.length === 0) return { path, regex: pattern };
  return { path: `$[?search(${path}, ${JSON.stringify(pattern)})${truths.join('')}]` };
}

function equalTo(path: string, expected: string): PlainMap {
  const tests = literalsOf(expected).map((literal) => `${path} == ${JSON.stringify(literal)}`);
  return equalByText(path, expected) ?? { path: `$[?${tests.join(' || ')}]` };
}

// RFC 9535, section 2.3.5.2.2: only values of one kind are greater or less; what is missing is nothing of it.
const isScalar = (path: string) =>
  `(${path} >= "" || ${path} >= 0 || ${path} < 0 || ${path} == true || ${path} == false)`;

/** A path of JSONata as JSONPath: it writes `a.b[0]`, with "$" or "$." before it if it likes, and backticks around odd names. Null for all else. */
export function jsonPathOf(query: string): string | null {
  const rest = query.trim().replace(/^\$\.?/, '');
  if (rest === '') return '$';
  const parts = rest.match(/`[^`]+`|\[-?\d+\]|[A-Za-z_]\w*/g) ?? [];
  if (parts.join('.').replaceAll('.[', '[') !== rest) return null;
  return `$${parts.map((part) => (part.startsWith('[') ? part : part.startsWith('`') ? `[${JSON.stringify(part.slice(1, -1))}]` : `.${part}`)).join('')}`;
}
