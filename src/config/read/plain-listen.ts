import { isIP } from 'node:net';

export interface PlainAddress {
  readonly host: string;
  readonly port: number;
}

/** Where a daemon listens; `admin` is where it serves its operator, if that is another place. */
export interface PlainListen extends PlainAddress {
  readonly admin: PlainAddress | null;
}

const usual: PlainAddress = { host: '127.0.0.1', port: 8080 };
// A line that begins a key of the whole, a comment or nothing, or one that belongs to what is above it.
const topKey = /^(?<key>[a-z_]+):(?:\s+(?<value>.*))?$/;
const otherLine = /^(?:\s.*|#.*)?$/;
const inBlock = /^ +(?<key>[a-z_]+):(?: +(?<value>.*))?$/;
const comment = /^#/;
const address =
  /^(?<quote>["']?)(?:\[(?<six>[\da-f:]+)\]|(?<name>[a-z\d](?:[a-z\d.-]*[a-z\d])?)):(?<port>\d{1,5})\k<quote>(?:\s+#.*)?$/;
const letters = /^[a-z][a-z\d-]*(?:\.[a-z][a-z\d-]*)*$/;

/**
 * `http.listen` and `http.admin` of configuration files that say them in the usual way, read without YAML: each key on a line of its
 * own, or both in one pair of braces. Null where that is not sure, because something is written in another way.
 */
export function plainListen(texts: readonly string[]): PlainListen | null {
  let section: readonly SectionEntry[] | null = null;
  for (const text of texts) {
    const found = sectionOf(text);
    if (found === 'unsure' || (found !== null && section !== null)) return null;
    section = found ?? section;
  }
  const addresses: Partial<Record<string, PlainAddress>> = {};
  for (const { key, value } of section ?? []) {
    if (key !== 'listen' && key !== 'admin') continue;
    const read = addressOf(value);
    if (read === null || addresses[key] !== undefined) return null;
    addresses[key] = read;
  }
  return { ...(addresses['listen'] ?? usual), admin: addresses['admin'] ?? null };
}

interface SectionEntry {
  readonly key: string;
  readonly value: string;
}

// The keys of `http`, null if there is none.
function sectionOf(text: string): readonly SectionEntry[] | null | 'unsure' {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  let at = -1;
  for (const [index, line] of lines.entries()) {
    const key = topKey.exec(line)?.groups?.['key'];
    if (key === undefined && !otherLine.test(line)) return 'unsure';
    if (key === 'http' && at !== -1) return 'unsure';
    if (key === 'http') at = index;
  }
  if (at === -1) return null;
  const value = topKey.exec(lines[at] ?? '')?.groups?.['value'] ?? '';
  return value === '' || comment.test(value) ? blockOf(lines.slice(at + 1)) : bracesOf(value);
}

function blockOf(lines: readonly string[]): readonly SectionEntry[] | 'unsure' {
  const entries: SectionEntry[] = [];
  let indent: number | null = null;
  for (const line of lines) {
    if (/^\s*(?:#.*)?$/.test(line)) continue;
    if (/^\S/.test(line)) break;
    const own = line.search(/[^ ]/);
    indent ??= own;
    // What is deeper belongs to the key above.
    if (own > indent) continue;
    const { key = '', value = '' } = inBlock.exec(line)?.groups ?? {};
    if (key === '' || own < indent) return 'unsure';
    entries.push({ key, value });
  }
  return entries;
}

function bracesOf(value: string): readonly SectionEntry[] | 'unsure' {
  const inside = /^\{(?<inside>[^{}[\]#]*|(?:[^{}#]*\[[\da-f:]+\]:\d+[^{}[\]#]*)+)\}\s*(?:#.*)?$/.exec(value)?.groups?.[
    'inside'
  ];
  if (inside === undefined) return 'unsure';
  const parts = inside.split(',').map((part) => /^\s*(?<key>[a-z_]+): +(?<value>\S.*?)\s*$/.exec(part)?.groups);
  const entries = parts.flatMap((part) =>
    part === undefined ? [] : [{ key: part['key'] ?? '', value: part['value'] ?? '' }],
  );
  return entries.length === parts.length ? entries : 'unsure';
}

function addressOf(value: string): PlainAddress | null {
  const { six, name, port, quote } = address.exec(value)?.groups ?? {};
  const host = six ?? name;
  if (host === undefined || Number(port) > 65_535) return null;
  // Without quotes a bracket begins a list.
  if (six !== undefined && (quote === '' || isIP(six) !== 6)) return null;
  return isIP(host) !== 0 || letters.test(host) ? { host, port: Number(port) } : null;
}
