import { equalByText, escapeRegex, foreignDuration, literalsOf, statusRanges } from '../convert.ts';
import type { PlainValue } from '../draft.ts';
import { type GatusCondition, globRegex, type Operand, type Operator, parseCondition } from './condition.ts';

/** What the conditions of an endpoint ask for. */
export interface EndpointExpectations {
  readonly status: PlainValue | undefined;
  readonly latencyMs: number | null;
  readonly certificateMs: number | null;
  /** How long its domain has to last, by which condition. */
  readonly domain: { readonly leastMs: number; readonly index: number } | null;
  readonly body: { readonly [key: string]: PlainValue };
  /** Texts that the answer must be one of, if it is compared as a whole. */
  readonly answers: readonly string[];
  /** Texts that it must not be. */
  readonly refused: readonly string[];
  readonly rcode: string | null;
  /** Conditions that cannot be carried over, with the reason. */
  readonly lost: readonly { readonly index: number; readonly why: string }[];
  /** False if the endpoint has to be out of reach. */
  readonly isConnected: boolean;
}

interface Term {
  readonly simple: { readonly [key: string]: PlainValue } | null;
  readonly filter: string;
}

/** Reads the conditions of one endpoint, which all have to hold. */
export function readConditions(conditions: readonly string[]): EndpointExpectations {
  const lost: { index: number; why: string }[] = [];
  const statuses: ((code: number) => boolean)[] = [];
  const terms: Term[] = [];
  const body: Record<string, PlainValue> = {};
  const answers: string[] = [];
  const refused: string[] = [];
  let domain: EndpointExpectations['domain'] = null;
  let [latencyMs, certificateMs, rcode, isConnected]: [number | null, number | null, string | null, boolean] = [
    null,
    null,
    null,
    true,
  ];

  const takers: Readonly<Record<string, (condition: GatusCondition, index: number) => string | null>> = {
    STATUS({ operator, right }) {
      const accepts = statusTest(operator, right);
      if (accepts === null) return 'a status is compared with codes only';
      statuses.push(accepts);
      return null;
    },
    RESPONSE_TIME({ operator, right }) {
      const limit = millisecondsOf(right);
      if (limit === null || !['<', '<='].includes(operator)) return 'a response time can only be bounded from above';
      latencyMs = Math.min(latencyMs ?? Number.POSITIVE_INFINITY, limit);
      return null;
    },
    CERTIFICATE_EXPIRATION({ operator, right }) {
      const least = millisecondsOf(right);
      if (least === null || !['>', '>='].includes(operator)) return 'a certificate can only be asked to last longer';
      certificateMs = Math.max(certificateMs ?? 0, least);
      return null;
    },
    DOMAIN_EXPIRATION({ operator, right }, index) {
      const least = millisecondsOf(right);
      if (least === null || !['>', '>='].includes(operator)) return 'a domain can only be asked to last longer';
      domain = { leastMs: Math.max(domain?.leastMs ?? 0, least), index };
      return null;
    },
    CONNECTED({ operator, right }) {
      const wanted = right.texts[0]?.toLowerCase();
      if (operator !== '==' || (wanted !== 'true' && wanted !== 'false')) return 'it is neither true nor false';
      isConnected &&= wanted === 'true';
      return null;
    },
    DNS_RCODE({ operator, right }) {
      if (operator !== '==' || right.isPattern || right.texts.length !== 1) return 'one response code can be expected';
      rcode = right.texts[0] ?? null;
      return null;
    },
    BODY(condition) {
      if (condition.left.path !== '$' || condition.right.of === 'BODY') return readTerm(condition, terms);
      return readWholeBody(condition, body, { answers, refused }) ?? null;
    },
  };

  conditions.forEach((text, index) => {
    const condition = parseCondition(text);
    const take = takers[condition?.left.of ?? ''];
    const why = condition === null ? 'it cannot be read' : take === undefined ? noSuchThing : take(condition, index);
    if (why !== null) lost.push({ index, why });
  });
  const json = jsonOf(terms);
  return {
    status:
      statuses.length === 0
        ? undefined
        : (statusRanges((code) => statuses.every((accepts) => accepts(code))) ?? undefined),
    latencyMs,
    certificateMs,
    domain,
    body: json === null ? body : { ...body, json },
    answers,
    refused,
    rcode,
    lost,
    isConnected,
  };
}

const noSuchThing = 'there is no such expectation';

function statusTest(operator: Operator, right: Operand): ((code: number) => boolean) | null {
  if (right.of !== null) return null;
  if (operator === '==' || operator === '!=') {
    const tests = right.texts.map((text) =>
      right.isPattern
        ? (code: number) => new RegExp(`^${globRegex(text, '.')}$`).test(String(code))
        : (code: number) => code === Number(text),
    );
    return (code) => tests.some((test) => test(code)) === (operator === '==');
  }
  const limit = Number(right.texts[0]);
  if (Number.isNaN(limit)) return null;
  return (code) => compare(code, operator, limit);
}

function compare(value: number, operator: Operator, limit: number): boolean {
  if (operator === '<') return value < limit;
  if (operator === '<=') return value <= limit;
  return operator === '>' ? value > limit : value >= limit;
}

function millisecondsOf({ of, texts: [text = ''] }: Operand): number | null {
  if (of !== null) return null;
  return /^\d+(?:\.\d+)?$/.test(text) ? Math.trunc(Number(text)) : foreignDuration(text);
}

// The whole body: a text in it, no such text, or one of several texts.
function readWholeBody(
  { left, operator, right }: GatusCondition,
  body: Record<string, PlainValue>,
  { answers, refused }: { readonly answers: string[]; readonly refused: string[] },
): string | null {
  const [text = ''] = right.texts;
  const inside = right.isPattern ? /^\*([^*?[\]]+)\*$/.exec(text)?.[1] : undefined;
  if (left.wrap === 'has')
    return add((text === 'true') === (operator === '==') ? 'regex' : 'not_regex', String.raw`\S`, body);
  if (left.wrap === 'len') {
    if ((operator === '>' && text === '0') || (operator === '>=' && text === '1'))
      return add('regex', String.raw`\S`, body);
    return 'the length of a whole body cannot be compared';
  }
  if (operator !== '==' && operator !== '!=') return 'a whole body cannot be greater or smaller';
  const isWanted = operator === '==';
  if (inside !== undefined) return add(isWanted ? 'contains' : 'not_contains', inside, body);
  if (!right.isPattern) (isWanted ? answers : refused).push(...right.texts);
  const forms = right.texts.map((one) => (right.isPattern ? globRegex(one, String.raw`[\s\S]`) : escapeRegex(one)));
  return add(isWanted ? 'regex' : 'not_regex', String.raw`^\s*(?:${forms.join('|')})\s*$`, body);
}

type BodyKey = 'contains' | 'not_contains' | 'regex' | 'not_regex';

// One value stands without a list around it.
function add(key: BodyKey, value: string, body: Record<string, PlainValue>): null {
  const values = [body[key] ?? []].flat();
  if (!values.includes(value)) body[key] = values.length === 0 ? value : [...values, value];
  return null;
}

// A value in the body, by JSONPath.
function readTerm({ left, operator, right }: GatusCondition, terms: Term[]): string | null {
  if (left.wrap === 'has') {
    const exists = (right.texts[0]?.toLowerCase() === 'true') === (operator === '==');
    terms.push({ simple: { path: left.path, exists }, filter: exists ? left.path : `!${left.path}` });
    return null;
  }
  const value = left.wrap === 'len' ? `length(${left.path})` : left.path;
  if (right.of === 'BODY') {
    terms.push({
      simple: null,
      filter: `${value} ${operator} ${right.wrap === 'len' ? `length(${right.path})` : right.path}`,
    });
    return null;
  }
  if (right.of !== null) return noSuchThing;
  if (right.isPattern) {
    const match = `match(${value}, ${JSON.stringify(globRegex(right.texts[0] ?? '', '.'))})`;
    terms.push({ simple: null, filter: operator === '!=' ? `!${match}` : match });
    return null;
  }
  const isEquality = operator === '==' || operator === '!=';
  if (!isEquality || left.wrap === 'len') {
    const numbers = right.texts.map((text) => (text.trim() === '' ? Number.NaN : Number(text)));
    if (numbers.some(Number.isNaN) || (!isEquality && numbers.length > 1))
      return 'it is compared with something that is no number';
    terms.push({ simple: null, filter: joined(operator, value, numbers) });
    return null;
  }
  // Values are compared by their text: 15 equals "15".
  const [only, ...others] = right.texts;
  const literals = right.texts.flatMap((text) => literalsOf(text));
  terms.push({
    simple: operator === '==' && only !== undefined && others.length === 0 ? equalByText(left.path, only) : null,
    filter: joined(operator, value, literals),
  });
  return null;
}

// Equal to one of them, or to none.
function joined(operator: string, value: string, literals: readonly (string | number | boolean)[]): string {
  const tests = literals.map((literal) => `${value} ${operator} ${JSON.stringify(literal)}`);
  return tests.length === 1 ? tests.join('') : `(${tests.join(operator === '!=' ? ' && ' : ' || ')})`;
}

// Several conditions that are more than a value become one filter: it selects something if all of them hold.
function jsonOf(terms: readonly Term[]): PlainValue | null {
  const [only] = terms;
  if (only === undefined) return null;
  const simple = terms.flatMap((term) => term.simple ?? []);
  if (simple.length === terms.length) return terms.length === 1 ? (simple[0] ?? null) : simple;
  return { path: `$[?${terms.map(({ filter }) => filter).join(' && ')}]` };
}
