import { z } from 'zod';
import { PatternText } from './pattern-schema.ts';
import { unescape } from './escapes.ts';

const escapeHint = 'unknown escape: \\r, \\n, \\t, \\0, \\\\ and \\xHH are understood';
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
