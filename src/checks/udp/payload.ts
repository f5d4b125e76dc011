import { z } from 'zod';

const longestPayload = 1_232;

export const PresetName = z.enum(['dns', 'ntp', 'stun']);
export type PresetName = z.infer<typeof PresetName>;

const Text = z.string().superRefine(refuse(readText));
const Hex = z.strictObject({ hex: z.string().superRefine(refuse(readHex)) });

/** Text with the escapes `\r \n \t \0 \\ \xHH`, or bytes in hex or base64. `{ text: dns }` is text, `dns` the preset. */
export const Payload = z.union([
  PresetName,
  Text,
  z.strictObject({ text: Text }),
  Hex,
  z.strictObject({ base64: z.string().superRefine(refuse(readBase64)) }),
]);
export type Payload = z.infer<typeof Payload>;

/** What a reply must contain: text, bytes in hex, or a match of a regular expression. */
export const Expectation = z.union([
  Text,
  z.strictObject({ text: Text }),
  Hex,
  z.strictObject({ regex: z.string().min(1).max(500).superRefine(refuse(readRegex)) }),
]);
export type Expectation = z.infer<typeof Expectation>;

type Read = { readonly ok: true; readonly bytes: Buffer } | { readonly ok: false; readonly message: string };

/** The bytes of a payload that is no preset. */
export function bytesOf(payload: Payload): Buffer {
  const read = readPayload(payload);
  if (!read.ok) throw new RangeError(read.message);
  return read.bytes;
}

/** Whether a reply is as expected. */
export function meets(expected: Expectation, reply: Buffer): boolean {
  if (typeof expected === 'object' && 'regex' in expected)
    return new RegExp(expected.regex, 's').test(reply.toString());
  return reply.includes(bytesOf(expected));
}

/** Reads text with escapes. */
export function readText(text: string): Read {
  const parts: Buffer[] = [];
  for (const [whole, plain, escape = ''] of text.matchAll(/([^\\]+)|\\(x[0-9a-f]{2}|.|$)/gisu)) {
    const byte = escapes.get(escape) ?? (escape.length === 3 ? Number.parseInt(escape.slice(1), 16) : null);
    if (plain !== undefined) parts.push(Buffer.from(plain));
    else if (byte !== null) parts.push(Buffer.from([byte]));
    else return { ok: false, message: `"${whole}" is no escape: \\r, \\n, \\t, \\0, \\\\ and \\xHH are` };
  }
  return sized(Buffer.concat(parts));
}

const escapes: ReadonlyMap<string, number> = new Map([
  ['r', 13],
  ['n', 10],
  ['t', 9],
  ['0', 0],
  ['\\', 92],
]);

function readPayload(payload: Payload): Read {
  if (typeof payload === 'string') return readText(payload);
  if ('text' in payload) return readText(payload.text);
  if ('hex' in payload) return readHex(payload.hex);
  return readBase64(payload.base64);
}

function readHex(hex: string): Read {
  const digits = hex.replaceAll(/[\s:]/g, '');
  if (!/^(?:[0-9a-f]{2})+$/i.test(digits)) return { ok: false, message: 'expected pairs of hexadecimal digits' };
  return sized(Buffer.from(digits, 'hex'));
}

function readBase64(text: string): Read {
  const bytes = Buffer.from(text, 'base64');
  const exact = bytes.toString('base64').replace(/=+$/, '') === text.replace(/=+$/, '');
  return exact ? sized(bytes) : { ok: false, message: 'expected base64' };
}

function readRegex(pattern: string): Read {
  try {
    return { ok: true, bytes: Buffer.from(new RegExp(pattern, 's').source) };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { ok: false, message: error.message };
  }
}

function sized(bytes: Buffer): Read {
  if (bytes.length === 0) return { ok: false, message: 'must not be empty' };
  if (bytes.length > longestPayload) return { ok: false, message: `is longer than ${longestPayload} bytes` };
  return { ok: true, bytes };
}

function refuse(read: (text: string) => Read) {
  return (text: string, context: z.core.$RefinementCtx<string>) => {
    const result = read(text);
    if (!result.ok) context.addIssue({ code: 'custom', input: text, message: result.message });
  };
}
