import { checkOf } from '#checks/index.ts';
import { dayMs, formatDuration } from '#kernel/units.ts';
import type { PlainValue } from './draft.ts';

const unitsMs: ReadonlyMap<string, number> = new Map([
  ['ns', 1e-6],
  ['us', 1e-3],
  ['µs', 1e-3],
  ['ms', 1],
  ['s', 1_000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', dayMs],
  ['w', 604_800_000],
  ['y', 31_536_000_000],
]);

/** Milliseconds of a duration as Go and Prometheus write it (`1h30m`, `1.5s`, `2w`); null if it is none. */
export function foreignDuration(text: string): number | null {
  if (!/^(?:\d+(?:\.\d+)?(?:ns|us|µs|ms|[smhdwy]))+$/.test(text)) return null;
  let total = 0;
  for (const [, count, unit = ''] of text.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|[smhdwy])/g)) {
    total += Number(count) * (unitsMs.get(unit) ?? 0);
  }
  return Math.round(total);
}

/** Milliseconds as a configuration writes them, held between two bounds. */
export function durationWithin(ms: number, leastMs: number, mostMs: number): string {
  return formatDuration(Math.min(Math.max(Math.round(ms), leastMs), mostMs));
}

/** A time limit that every check type takes, and that fits between two rounds. */
export function timeoutFor(ms: number, everyMs: number): string {
  return durationWithin(Math.min(ms, everyMs), 100, 60_000);
}

/** The codes from 100 to 999 that are accepted, as `expect.status` writes them; null if there is none. */
export function statusRanges(accepts: (code: number) => boolean): PlainValue | null {
  const ranges: (string | number)[] = [];
  for (let code = 100; code <= 999; code += 1) {
    if (!accepts(code)) continue;
    const from = code;
    while (code < 999 && accepts(code + 1)) code += 1;
    ranges.push(from === code ? from : `${from}-${code}`);
  }
  const [only] = ranges;
  if (only === undefined || ranges.length > 20) return null;
  return ranges.length === 1 ? only : ranges;
}

/** A regular expression that matches this text and nothing else. */
export function escapeRegex(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
}

/** The text that a pattern without any operator matches, or null. */
export function literalOfRegex(pattern: string): string | null {
  const plain = pattern.replaceAll(/\\([^A-Za-z0-9])/g, (_, character: string) => `\0${character}`);
  if (/(?<!\0)[\\^$.*+?()[\]{}|]/.test(plain) || plain.includes('\\')) return null;
  return plain.replaceAll('\0', '');
}

/** Text as a configuration writes it, where `${` stands for an environment variable. */
export function literal(value: PlainValue): PlainValue {
  if (typeof value === 'string') return value.replaceAll('${', () => '$${');
  if (Array.isArray(value)) return value.map(literal);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, entry]) => [key, entry === undefined ? undefined : literal(entry)]),
  );
}

/** Bytes as `send` and `expect` write them. */
export function payloadText(text: string): string {
  return text.replaceAll(/[\\\r\n\t\0]/g, (character) => shortEscapes[character] ?? character);
}

const shortEscapes: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\r': '\\r',
  '\n': '\\n',
  '\t': '\\t',
  '\0': '\\0',
};

/** The DNS record types that a `dns` check can ask for. */
export const recordTypes: readonly string[] = checkOf('dns').Spec.shape.record.unwrap().options;

/** The JSON values whose text is this: the text, and the number or the truth value that is written like it. */
export function literalsOf(text: string): readonly (string | number | boolean)[] {
  if (text === 'true' || text === 'false') return [text, text === 'true'];
  return text !== '' && String(Number(text)) === text && Number.isFinite(Number(text)) ? [text, Number(text)] : [text];
}

/** An expectation that a value's text is this one, if it needs no filter: truth values do. */
export function equalByText(
  path: string,
  text: string,
): { readonly path: string; readonly [key: string]: string } | null {
  const [, other] = literalsOf(text);
  if (other === undefined) return { path, equals: text };
  return typeof other === 'number' ? { path, regex: `^${escapeRegex(text)}$` } : null;
}

/** A host with a port; an IPv6 address in brackets. */
export function hostAndPort(host: string | undefined, port: string | undefined, usual: number): string {
  const name = host ?? '';
  return `${name.includes(':') ? `[${name}]` : name}:${port ?? usual}`;
}
