import { z } from 'zod';
import { compilePattern, PatternText } from './pattern.ts';

const escapeHint = 'unknown escape: \\r, \\n, \\t, \\0, \\\\ and \\xHH are understood';
const escapePattern = /\\(x[0-9a-f]{2}|.|$)/gis;
const escapes: ReadonlyMap<string, string> = new Map([
  ['r', '\r'],
  ['n', '\n'],
  ['t', '\t'],
  ['0', '\0'],
  ['\\', '\\'],
]);

const largestBytes = 16_384;

/** Text with the escapes `\r \n \t \0 \\ \xHH`, sent as UTF-8; `\xHH` is one byte. */
export const PayloadText = z
  .string()
  .min(1)
  .max(largestBytes)
  .refine((text) => unescape(text) !== null, { error: escapeHint });

export const PayloadHex = z.strictObject({
  hex: z
    .string()
    .max(3 * largestBytes)
    .regex(/^(?:[0-9a-f]{2}[\s:]*)+$/i, { error: 'expected pairs of hexadecimal digits such as "0d0a"' })
    .describe('Bytes as pairs of hexadecimal digits, with spaces or colons between them if wanted.'),
});

const PayloadBase64 = z.strictObject({
  base64: z
    .base64()
    .min(1)
    .max(2 * largestBytes)
    .describe('Bytes in base64.'),
});

/** Bytes to send: text with escapes, `{ hex }` or `{ base64 }`. */
export const Payload = z.union([PayloadText, PayloadHex, PayloadBase64]);
export type Payload = z.output<typeof Payload>;

const PayloadRegex = z.strictObject({
  regex: PatternText({ lines: true }).describe(
    'A regular expression (RE2: no look-aheads, no references to groups), with ^ and $ at line ends, over the answer read as UTF-8.',
  ),
});

/** What an answer must contain: text with escapes, `{ regex }` or `{ hex }`. */
export const AnswerPattern = z.union([PayloadText, PayloadRegex, PayloadHex]);
export type AnswerPattern = z.output<typeof AnswerPattern>;

export function bytesOf(payload: Payload): Buffer {
  if (typeof payload === 'string') return unescape(payload) ?? Buffer.from(payload);
  return 'hex' in payload ? hexBytes(payload.hex) : Buffer.from(payload.base64, 'base64');
}

/** A test for what has been read so far. */
export function matcherOf(expectation: AnswerPattern): (answer: Buffer) => boolean {
  if (typeof expectation === 'object' && 'regex' in expectation) {
    const pattern = compilePattern(expectation.regex, { lines: true });
    return (answer) => pattern.test(answer.toString('utf8'));
  }
  const bytes = bytesOf(expectation);
  return (answer) => answer.includes(bytes);
}

/** Where the first match of an expectation ends: behind the line it is in where it is a pattern. All of it where it has none. */
export function endOfMatch(expectation: AnswerPattern, answer: Buffer): number {
  if (typeof expectation === 'string' || !('regex' in expectation)) {
    const bytes = bytesOf(expectation);
    const start = answer.indexOf(bytes);
    return start === -1 ? answer.length : start + bytes.length;
  }
  const matches = matcherOf(expectation);
  for (let end = answer.indexOf('\n') + 1; end > 0; end = answer.indexOf('\n', end) + 1) {
    if (matches(answer.subarray(0, end))) return end;
  }
  return answer.length;
}

/** An expectation in a sentence. */
export function describeExpectation(expectation: AnswerPattern): string {
  if (typeof expectation === 'string') return JSON.stringify(expectation);
  return 'regex' in expectation ? `/${expectation.regex}/` : `the bytes ${expectation.hex}`;
}

function hexBytes(text: string): Buffer {
  return Buffer.from(text.replaceAll(/[\s:]/g, ''), 'hex');
}

function unescape(text: string): Buffer | null {
  const parts: Buffer[] = [];
  let end = 0;
  for (const match of text.matchAll(escapePattern)) {
    const [whole, escaped = ''] = match;
    parts.push(Buffer.from(text.slice(end, match.index)));
    const character = escapes.get(escaped);
    if (character !== undefined) parts.push(Buffer.from(character));
    else if (/^x[0-9a-f]{2}$/i.test(escaped)) parts.push(Buffer.from(escaped.slice(1), 'hex'));
    else return null;
    end = match.index + whole.length;
  }
  parts.push(Buffer.from(text.slice(end)));
  return Buffer.concat(parts);
}
