import type { EvidenceDocument } from './detail.ts';
import type { Redaction } from './redaction.ts';

// A message between a node and a hub has 64 KiB (`messageLimit`), some of them for what is around the document.
const largestBytes = 60 * 1_024;

// The least important first.
const dispensable = ['received', 'response', 'names', 'tls', 'path', 'uplink'] as const;

/** The document without secrets anywhere, and no larger than 60 KiB as JSON: what is left out is in `missing`. */
export function bounded(document: EvidenceDocument, redaction: Redaction): EvidenceDocument {
  let left = redacted(document, redaction);
  for (const part of dispensable) {
    if (sizeOf(left) <= largestBytes) return left;
    if (sizeOf(left[part] ?? null) <= largestBytes / dispensable.length) continue;
    const reason = 'left out: the document would be larger than 60 KiB';
    left = { ...left, [part]: null, missing: [...left.missing, { part, reason }] };
  }
  return left;
}

const sizeOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

// Words of ours, times and numbers: a secret that equals one of them is none.
const closed: ReadonlySet<string> = new Set([
  'kind',
  'end',
  'protocol',
  'record',
  'rcode',
  'version',
  'expiresAt',
  'notBefore',
  'notAfter',
  'part',
  'result',
]);

const shortestLimit = 64;

function redacted(document: EvidenceDocument, redaction: Redaction): EvidenceDocument {
  const text = (key: string, value: string) => (closed.has(key) ? value : shortened(redaction.text(value), value));
  return withTexts(document, text);
}

/** A value of JSON with all its texts replaced, by the key that they are at. */
function withTexts<Value>(whole: Value, replace: (key: string, text: string) => string): Value {
  const walk = (value: unknown, key: string): unknown => {
    if (typeof value === 'string') return replace(key, value);
    if (Array.isArray(value)) return value.map((one) => walk(one, key));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, walk(inner, name)]));
  };
  // Sound because nothing but texts is replaced, and by texts.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return walk(whole, '') as Value;
}

// What stands for a short secret may be longer than it, and each text has its longest length.
function shortened(text: string, before: string): string {
  return text.length > before.length && text.length > shortestLimit ? text.slice(0, before.length) : text;
}
