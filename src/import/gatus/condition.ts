/** One side of a condition. */
export interface Operand {
  /** `STATUS`, `BODY` and so on; null for a plain text. */
  readonly of: string | null;
  /** What follows `[BODY]`, as JSONPath; `$` for the whole body. */
  readonly path: string;
  readonly wrap: 'len' | 'has' | null;
  /** The texts of `any(...)`, else one. */
  readonly texts: readonly string[];
  readonly isPattern: boolean;
}

export type Operator = '==' | '!=' | '<=' | '>=' | '>' | '<';

export interface GatusCondition {
  readonly left: Operand;
  readonly operator: Operator;
  readonly right: Operand;
}

const operators: readonly Operator[] = ['==', '!=', '<=', '>=', '>', '<'];

/** A Gatus condition with its placeholder at the left, or null if it is none. */
export function parseCondition(text: string): GatusCondition | null {
  const operator = operators.find((one) => text.includes(` ${one} `));
  if (operator === undefined) return null;
  const [first = '', second = '', ...rest] = text.split(` ${operator} `);
  const [left, right] = [operandOf(first.trim()), operandOf(second.trim())];
  if (rest.length > 0 || left === null || right === null) return null;
  if (left.of !== null) return { left, operator, right };
  return right.of === null ? null : { left: right, operator: mirrored[operator], right: left };
}

const mirrored = { '==': '==', '!=': '!=', '<=': '>=', '>=': '<=', '>': '<', '<': '>' } as const;

const placeholder =
  /^(?:(len|has)\()?\[(STATUS|IP|DNS_RCODE|RESPONSE_TIME|BODY|CONNECTED|CERTIFICATE_EXPIRATION|DOMAIN_EXPIRATION|CONTEXT)\]([^)]*)(\))?$/i;

function operandOf(text: string): Operand | null {
  const [whole, wrap, name, path = '', close] = placeholder.exec(text) ?? [];
  if (whole === undefined || name === undefined) return textOperand(text);
  const jsonPath = jsonPathOf(path);
  if (jsonPath === null || (wrap === undefined) !== (close === undefined)) return null;
  const wrapped = wrap === undefined ? null : wrap.toLowerCase() === 'len' ? 'len' : 'has';
  return { of: name.toUpperCase(), path: jsonPath, wrap: wrapped, texts: [], isPattern: false };
}

function textOperand(text: string): Operand {
  const [, name, inside = ''] = /^(pat|any)\((.*)\)$/s.exec(text) ?? [];
  const texts = name === 'any' ? inside.split(',').map((one) => one.trim()) : [name === 'pat' ? inside : text];
  return { of: null, path: '', wrap: null, texts, isPattern: name === 'pat' };
}

// `.data[0].some-key` as RFC 9535 writes it: `$.data[0]["some-key"]`.
function jsonPathOf(path: string): string | null {
  const rest = path.replace(/^\./, '');
  if (rest === '') return '$';
  const parts = rest.match(/\[\d+\]|[^.[\]]+/g) ?? [];
  if (parts.join('').length !== rest.replaceAll('.', '').length) return null;
  return `$${parts.map(segmentOf).join('')}`;
}

function segmentOf(part: string): string {
  if (part.startsWith('[')) return part;
  return /^[A-Za-z_]\w*$/.test(part) ? `.${part}` : `[${JSON.stringify(part)}]`;
}

/** The regular expression of a pattern with `*`, `?` and `[a-z]`, without anchors; `dot` is what any character is. */
export function globRegex(pattern: string, dot: string): string {
  return pattern.replaceAll(/\*|\?|\[[^\]]+\]|[\\^$.+()[\]{}|]/g, (found) => {
    if (found === '*') return `${dot}*`;
    if (found === '?') return dot;
    return found.startsWith('[') && found.length > 1 ? found : `\\${found}`;
  });
}
