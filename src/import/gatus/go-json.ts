import { parseJson } from '#kernel/json.ts';

/** A value of a body as Gatus writes it in conditions. */
export interface FoundValue {
  readonly text: string;
  /** Bytes of a text, elements of an array. */
  readonly length: number;
}

/**
 * The value at a path such as `data[0].name`, as `jsonpath.Eval` of Gatus finds it; null if there is none. A path that goes on after an
 * array, a number or a truth value ends there.
 */
export function valueAt(path: string, body: string): FoundValue | null {
  if (path === '' && !(body.startsWith('[') && body.endsWith(']'))) return found(body);
  const document = parseJson(body);
  return document === undefined ? null : walk(keysOf(path), document);
}

const found = (text: string): FoundValue => ({ text, length: Buffer.byteLength(text) });

// Dots in brackets do not part keys.
const keysOf = (path: string): readonly string[] => path.match(/(?:\[[^\]]*\]|[^.[])+|(?<=^|\.)(?=\.|$)/g) ?? [''];

function walk([key = '', ...rest]: readonly string[], object: unknown): FoundValue | null {
  const value = extract(key, object);
  if (value === null || value === undefined) return null;
  if (typeof value === 'string') return rest.length > 0 ? null : found(value);
  if (Array.isArray(value)) return { text: goText(value), length: value.length };
  if (typeof value !== 'object') return found(goText(value));
  return rest.length === 0 ? found(marshalled(value)) : walk(rest, value);
}

function extract(key: string, value: unknown): unknown {
  const [, name = '', index, more = ''] = /^([^[]*)\[([^\]]*)\](.*)$/s.exec(key) ?? [];
  if (index === undefined) {
    if (Array.isArray(value) || !isMap(value)) return value;
    return Object.hasOwn(value, key) ? value[key] : undefined;
  }
  const holder = name === '' ? value : isMap(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  if (!Array.isArray(holder) || !/^\d+$/.test(index)) return undefined;
  const element: unknown = holder[Number(index)];
  return more === '' ? element : extract(more, element);
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A value as `%v` of Go prints it. */
function goText(value: unknown): string {
  if (value === null || value === undefined) return '<nil>';
  if (typeof value === 'number') return goNumber(value);
  if (Array.isArray(value)) return `[${value.map(goText).join(' ')}]`;
  if (!isMap(value)) return typeof value === 'string' ? value : JSON.stringify(value);
  const entries = Object.entries(value).toSorted(byKey);
  return `map[${entries.map(([key, entry]) => `${key}:${goText(entry)}`).join(' ')}]`;
}

// strconv: the shortest digits, with an exponent below 1e-4 and from a million on.
function goNumber(value: number): string {
  const [digits = '', exponent = '0'] = value.toExponential().split('e');
  const power = Number(exponent);
  if (value === 0 || (power >= -4 && power < 6)) return Object.is(value, -0) ? '-0' : String(value);
  const size = String(Math.abs(power)).padStart(2, '0');
  return `${digits}e${power < 0 ? '-' : '+'}${size}`;
}

function marshalled(value: unknown): string {
  const escaped = (text: string) =>
    text.replaceAll(/[<>&\u2028\u2029]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return escaped(JSON.stringify(sorted(value)));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isMap(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(byKey)
      .map(([key, entry]) => [key, sorted(entry)]),
  );
}

const byKey = ([one]: readonly [string, unknown], [other]: readonly [string, unknown]) => (one < other ? -1 : 1);
