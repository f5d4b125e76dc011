import type { PlainMap } from '../draft.ts';
import type { KumaMonitor } from './schema.ts';

/** The JSON query of a monitor as JSONPath, if it is a plain path; else null. */
export function jsonExpectation({
  json_path,
  json_path_operator: operator = '==',
  expected_value = '',
}: KumaMonitor): PlainMap | null {
  const path = jsonPathOf(json_path ?? '$');
  if (path === null) return null;
  const value = valueOf(expected_value);
  if (operator === '==') return { path, equals: value };
  if (operator === 'contains') return { path: `$[?search(${path}, ${JSON.stringify(patternOf(expected_value))})]` };
  return { path: `$[?${path} ${operator} ${JSON.stringify(value)}]` };
}

// JSONata writes `a.b[0]`, with "$" or "$." before it if it likes, and backticks around odd names.
function jsonPathOf(query: string): string | null {
  const rest = query.trim().replace(/^\$\.?/, '');
  if (rest === '') return '$';
  const parts = rest.match(/`[^`]+`|\[-?\d+\]|[A-Za-z_]\w*/g) ?? [];
  if (parts.join('.').replaceAll('.[', '[') !== rest) return null;
  return `$${parts.map((part) => (part.startsWith('[') ? part : part.startsWith('`') ? `[${JSON.stringify(part.slice(1, -1))}]` : `.${part}`)).join('')}`;
}

function valueOf(text: string): string | number | boolean {
  if (/^-?\d+(?:\.\d+)?$/.test(text)) return Number(text);
  return text === 'true' || (text === 'false' ? false : text);
}

const patternOf = (text: string) => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
