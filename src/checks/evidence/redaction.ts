import { singleLine } from '#kernel/text.ts';
import { compilePattern } from '../pattern.ts';

/** Replaces what must not be stored. */
export interface Redaction {
  /** A text of ours or of the target. `isCut` means that it may end within a secret. */
  text(written: string, isCut?: boolean): string;
  /** The value of a header. */
  header(name: string, value: string): string;
  /** A secret that came to be known meanwhile, such as a token. */
  add(secret: string): void;
}

const hidden = '***';
// Shorter ones would blank out ordinary words, and could be guessed.
const shortest = 4;

const secretHeader = /auth|cookie|token|secret|passw|key|session|credential|signature/i;
// Of a challenge the scheme and the realm are worth knowing.
const plainHeaders: ReadonlySet<string> = new Set(['www-authenticate', 'proxy-authenticate', 'public-key-pins']);

const secretName = String.raw`[\w-]{0,40}(?:passw(?:or)?d|passwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|session[_-]?id|credential|signature)[\w-]{0,40}`;

// What looks like a secret, whatever the spec says.
const patterns: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|$)/g, hidden],
  [/\beyJ[\w-]{5,}\.[\w-]{2,}\.[\w-]*/g, hidden],
  [/\b(Bearer|Basic|Digest|Negotiate)\s+(?![\w-]+=")[\w.~+/=-]{6,}/gi, `$1 ${hidden}`],
  [/\b(?:gh[oprsu]|glpat|xox[abprs]|sk|pk|rk)[-_][\w-]{16,}/g, hidden],
  [/\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g, hidden],
  [new RegExp(String.raw`(\b${secretName}\\?["']?\s{0,3}[:=]\s{0,3}\\?["']?)[^\s"'&;,<>\\]+`, 'gi'), `$1${hidden}`],
  [/:\/\/[^\s/@:]{1,200}:[^\s/@]{1,200}@/g, `://${hidden}@`],
  [/(?<![\w.+-])[\w.+-]{1,64}@(?=[\w-]{1,63}(?:\.[\w-]{1,63})+)/g, `${hidden}@`],
];

/** Redacts these secrets in every spelling, what looks like one, and what the RE2 patterns match. */
export function createRedaction(secrets: readonly string[], wanted: readonly string[]): Redaction {
  const custom = wanted.map((source) => compilePattern(source));
  const known = [...secrets];
  let spelled = spellings(known);
  const text = (written: string, isCut = false): string => {
    if (spelled === null) return hidden;
    let left = spelled.reduce((whole, secret) => withoutSecret(whole, secret, isCut), written);
    for (const [pattern, by] of patterns) left = left.replaceAll(pattern, by);
    return custom.reduce((whole, pattern) => pattern.replaceAll(whole, hidden), left);
  };
  return {
    text,
    header(name, value) {
      if (!secretHeader.test(name) || plainHeaders.has(name.toLowerCase())) return text(value);
      // The name of a cookie is none.
      const [, cookie] = /^([^=;\s]+)=/.exec(value) ?? [];
      return name.toLowerCase() === 'set-cookie' && cookie !== undefined ? `${text(cookie)}=${hidden}` : hidden;
    },
    add(secret) {
      known.push(secret);
      spelled = spellings(known);
    },
  };
}

function withoutSecret(text: string, secret: string, isCut: boolean): string {
  let left = text.replaceAll(secret, hidden);
  if (left.includes('…')) {
    const parts = left.split('…');
    left = parts.map((part, index) => (index < parts.length - 1 ? withoutStart(part, secret) : part)).join('…');
  }
  return isCut ? withoutStart(left, secret) : left;
}

// A text without the beginning of a secret at its end.
function withoutStart(text: string, secret: string): string {
  for (let length = Math.min(secret.length - 1, text.length); length >= shortest; length -= 1) {
    if (text.endsWith(secret.slice(0, length))) return `${text.slice(0, -length)}${hidden}`;
  }
  return text;
}

// Each is looked for in every text. Of a request with more parts nothing that could be an echo of it is shown.
const mostSecrets = 200;

// As a target may echo it: as it is, in a line, in a URL, in JSON, in HTML, in base64, with escapes.
function spellings(secrets: readonly string[]): readonly string[] | null {
  const distinct = new Set(secrets.filter((secret) => secret.length >= shortest));
  if (distinct.size > mostSecrets) return null;
  const all = [...distinct].flatMap((secret) => {
    const bytes = Buffer.from(secret);
    return [
      secret,
      secret.trim(),
      singleLine(secret, secret.length + 1),
      secret.isWellFormed() ? encodeURIComponent(secret) : secret,
      new URLSearchParams([['', secret]]).toString().slice(1),
      JSON.stringify(secret).slice(1, -1),
      secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;'),
      bytes.toString('base64'),
      bytes.toString('base64url'),
      printable(bytes),
      printable(Buffer.from(secret, 'latin1')),
    ];
  });
  return [...new Set(all)].filter((secret) => secret.length >= shortest).sort((a, b) => b.length - a.length);
}

const escapes: ReadonlyMap<number, string> = new Map([
  [0x09, '\\t'],
  [0x0a, '\\n'],
  [0x0d, '\\r'],
  [0x5c, '\\\\'],
]);

/** Bytes as text, with escapes for all but printable ASCII. */
export function printable(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) {
    const isPlain = byte >= 0x20 && byte < 0x7f && byte !== 0x5c;
    text += isPlain ? String.fromCodePoint(byte) : (escapes.get(byte) ?? `\\x${byte.toString(16).padStart(2, '0')}`);
  }
  return text;
}

/** The secrets of a text that is sent, such as a form or JSON: all of it, and each value in it. */
export function secretsInText(text: string): readonly string[] {
  return [text, ...leavesOf(text), ...text.split(/[\s=&;,"'{}<>]+/)];
}

function leavesOf(text: string): readonly string[] {
  try {
    const leaves: string[] = [];
    JSON.parse(text, (_key, value: unknown) => {
      if (typeof value === 'string') leaves.push(value);
      return value;
    });
    return leaves;
  } catch (error) {
    if (error instanceof SyntaxError) return [...new URLSearchParams(text).values()];
    throw error;
  }
}

// Values that stand in every answer.
const commonHeaders: ReadonlySet<string> = new Set([
  'accept',
  'accept-charset',
  'accept-encoding',
  'accept-language',
  'cache-control',
  'content-type',
  'host',
  'origin',
  'pragma',
  'referer',
  'user-agent',
]);

/** The secrets of request headers: the values of all but those that say nothing, and their parts. */
export function secretsInHeaders(headers: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    commonHeaders.has(name.toLowerCase()) ? [] : [value, ...value.split(/[\s=;,]+/)],
  );
}

/** The values of the query of an address whose names call them secret. */
export function secretsInUrl(url: string): readonly string[] {
  const [, query = ''] = url.split('?');
  return [...new URLSearchParams(query)].flatMap(([name, value]) => (secretHeader.test(name) ? [value] : []));
}
