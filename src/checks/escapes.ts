const escapePattern = /\\(x[0-9a-f]{2}|.|$)/gis;
const escapes: ReadonlyMap<string, string> = new Map([
  ['r', '\r'],
  ['n', '\n'],
  ['t', '\t'],
  ['0', '\0'],
  ['\\', '\\'],
]);

/** The bytes of a text with escapes; null if it has an unknown one. */
export function unescape(text: string): Buffer | null {
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
