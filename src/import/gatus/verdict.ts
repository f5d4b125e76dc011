import type { WholeResponse } from '#checks/index.ts';
import type { EnvironmentVariables } from '#config/read/environment.ts';
import { foreignDuration } from '../convert.ts';
import { originallyDown, type OriginalJudge, originallyUp } from '../original.ts';
import { matchesGlob } from './glob.ts';
import { valueAt } from './go-json.ts';
import type { GatusEndpoint } from './schema.ts';

/**
 * How Gatus 5 judges a response by the conditions of an http(s) endpoint (config/endpoint/condition.go and placeholder.go). Without a
 * response conditions are judged as well: `[STATUS] != 500` holds then. Undefined if it needs more than a response.
 */
export function judgeOfEndpoint(
  { url, conditions: written, dns }: GatusEndpoint,
  env: EnvironmentVariables,
): OriginalJudge | undefined {
  const conditions = written.map((condition) =>
    condition.replaceAll(/\$\$\{|\$\{(\w+)\}/g, (_, name?: string) => (name === undefined ? '${' : (env[name] ?? ''))),
  );
  if (dns !== undefined || !/^https?:\/\//.test(url) || conditions.some((one) => beyond.test(one))) return undefined;
  const readsBody = conditions.some((condition) => condition.includes('[BODY]'));
  return async (response) => {
    const facts = factsOf(response, readsBody);
    const failed = conditions.filter((condition) => !holds(condition, facts));
    return failed.length === 0 ? originallyUp : originallyDown(failed.join('; '));
  };
}

// What is known beside a response, or as time passes; wildcards differ by version.
const beyond = /\[(?:DOMAIN_EXPIRATION|CONTEXT|DNS_RCODE)\]|\bage\(|\[\*\]/i;

interface EndpointFacts {
  /** By their placeholder in capital letters. */
  readonly plain: ReadonlyMap<string, string>;
  readonly body: string;
  readonly valuesOf: WholeResponse['valuesOf'];
}

function factsOf(response: WholeResponse | null, readsBody: boolean): EndpointFacts {
  const ms = (value: number) => String(Math.trunc(value));
  const expiresAt = response?.certificateExpiresAt ?? null;
  const plain = new Map([
    ['[STATUS]', String(response?.status ?? 0)],
    ['[IP]', response?.address ?? ''],
    ['[RESPONSE_TIME]', ms((response?.headSeconds ?? 0) * 1_000)],
    ['[CONNECTED]', String(response !== null)],
    ['[CERTIFICATE_EXPIRATION]', ms(expiresAt === null ? 0 : expiresAt - (response?.receivedAt ?? 0))],
  ]);
  const body = readsBody ? new TextDecoder('utf-8', { ignoreBOM: true }).decode(response?.body ?? undefined) : '';
  return { plain, body, valuesOf: response?.valuesOf ?? (() => []) };
}

const comparisons = [
  ['<=', (left: bigint, right: bigint) => left <= right],
  ['>=', (left: bigint, right: bigint) => left >= right],
  ['>', (left: bigint, right: bigint) => left > right],
  ['<', (left: bigint, right: bigint) => left < right],
] as const;

function holds(condition: string, facts: EndpointFacts): boolean {
  const sides = (operator: string) => condition.split(operator).map((side) => resolved(side.trim(), facts));
  for (const operator of [' == ', ' != ']) {
    if (!condition.includes(operator)) continue;
    const [left = '', right = ''] = sides(operator);
    return isEqual(left, right) === (operator === ' == ');
  }
  for (const [operator, compare] of comparisons) {
    if (!condition.includes(` ${operator} `)) continue;
    const [left = 0n, right = 0n] = sides(` ${operator} `).map(numberOf);
    return compare(left, right);
  }
  return false;
}

/** The text that one side of a condition stands for; with ` (INVALID)` where it stands for nothing. */
function resolved(side: string, { plain, body, valuesOf }: EndpointFacts): string {
  const [, wrap = null, inside = side] = /^(len|has)\((.*)\)$/s.exec(side) ?? [];
  const name = inside.toUpperCase();
  const invalid = wrap === 'has' ? 'false' : `${side} (INVALID)`;
  const known = plain.get(name);
  if (known !== undefined) return wrapped(known, wrap);
  if (name === '[BODY]') {
    const text = goTrimmed(body);
    return wrap === 'len' ? String(valueAt('', body)?.length ?? Buffer.byteLength(text)) : wrapped(text, wrap);
  }
  if (name.startsWith('[BODY].') || name.startsWith('[BODY][')) {
    const found = valueAt(inside.slice('[BODY]'.length).replace(/^\./, ''), body);
    if (wrap === 'has') return String(found !== null);
    if (found === null) return invalid;
    return wrap === 'len' ? String(found.length) : found.text;
  }
  if (name.startsWith('[HEADER].')) {
    const [value] = valuesOf(inside.slice('[HEADER].'.length).toLowerCase());
    if (wrap === 'has') return String(value !== undefined);
    return value === undefined ? invalid : wrapped(value, wrap);
  }
  return wrap === null ? side : invalid;
}

function wrapped(text: string, wrap: string | null): string {
  if (wrap === 'has') return String(text !== '');
  return wrap === 'len' ? String(Buffer.byteLength(text)) : text;
}

const goTrimmed = (text: string) => text.replaceAll(/^[\s\u{85}]+|[\s\u{85}]+$/gu, '');

function isEqual(left: string, right: string): boolean {
  const [pattern, other] = [left, right].map(insideOf('pat'));
  if (pattern !== null && pattern !== undefined && other === null) return matchesGlob(pattern, right);
  if (other !== null && other !== undefined && pattern === null) return matchesGlob(other, left);
  const [some, others] = [left, right].map(insideOf('any'));
  if (typeof some === 'string' && others === null) return optionsOf(some).includes(right);
  if (typeof others === 'string' && some === null) return optionsOf(others).includes(left);
  const [one, two] = [integerOf(left), integerOf(right)];
  return one !== null && two !== null ? one === two : left === right;
}

const insideOf = (name: string) => (text: string) =>
  text.startsWith(`${name}(`) && text.endsWith(')') ? text.slice(name.length + 1, -1) : null;

const optionsOf = (text: string) => text.split(',').map((option) => option.trim());

// strconv.ParseInt with base 0: prefixes, and underscores after them.
function integerOf(text: string): bigint | null {
  const [, sign = '', digits] =
    /^([+-]?)(0x_?[\da-f]+(?:_[\da-f]+)*|0b_?[01]+(?:_[01]+)*|0o?_?[0-7]+(?:_[0-7]+)*|[1-9]\d*(?:_\d+)*|0)$/i.exec(
      text,
    ) ?? [];
  if (digits === undefined) return null;
  const bare = digits.replaceAll('_', '').toLowerCase();
  const value = BigInt(/^0[0-7]/.test(bare) ? `0o${bare.slice(1)}` : bare);
  const signed = sign === '-' ? -value : value;
  return BigInt.asIntN(64, signed) === signed ? signed : null;
}

/** A duration in milliseconds, an integer, or what is left of a decimal number; 0 for anything else. */
function numberOf(text: string): bigint {
  const duration = foreignDuration(text);
  if (duration !== null && duration !== 0 && !/[dwy]/.test(text)) return BigInt(duration);
  const integer = integerOf(text);
  if (integer !== null) return integer;
  const decimal = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text) ? Number(text) : 0;
  return Number.isFinite(decimal) ? BigInt(Math.trunc(decimal)) : 0n;
}
