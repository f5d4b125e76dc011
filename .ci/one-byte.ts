// What ASCII lacks, by UTF-16 units.
const wide = /[^\x00-\x7f]/g; // oxlint-disable-line no-control-regex -- these are characters of ASCII too
const widened = '\\u0000'.length - 1;
const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** A chunk, and the `mappings` of its source map (ECMA-426). */
export interface MappedCode {
  readonly code: string;
  readonly mappings: string;
}

/**
 * The same code with an escape for each character that ASCII lacks: a source with one of them takes two bytes of memory for each of its
 * characters, because Node reads it so. Throws if one is in a template that is read as it is written, where an escape says something else.
 */
export function inOneByte({ code, mappings }: MappedCode): MappedCode {
  const raw = /\braw`[^`]*[^\x00-\x7f][^`]*`/.exec(code)?.[0]; // oxlint-disable-line no-control-regex -- as above
  if (raw !== undefined) throw new TypeError(`write escapes in ${raw}`);
  const lines = code.split('\n').map((line) => [...line.matchAll(wide)].map(({ index }) => index));
  return {
    code: code.replaceAll(wide, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
    mappings: mappings
      .split(';')
      .map((line, index) => shifted(line, lines[index] ?? []))
      .join(';'),
  };
}

// The first number of a segment is how far it begins after the one before it in its line.
function shifted(line: string, places: readonly number[]): string {
  if (places.length === 0 || line === '') return line;
  let column = 0;
  let last = 0;
  let passed = 0;
  const segments = line.split(',').map((segment) => {
    const { value, length } = readNumber(segment);
    column += value;
    while ((places[passed] ?? Number.POSITIVE_INFINITY) < column) passed += 1;
    const begin = column + passed * widened;
    const text = writeNumber(begin - last) + segment.slice(length);
    last = begin;
    return text;
  });
  return segments.join(',');
}

// Base64 VLQ: five bits in each digit, the lowest first; the lowest bit of all is the sign.
function readNumber(text: string): { readonly value: number; readonly length: number } {
  let bits = 0;
  for (let length = 0; length < text.length; length += 1) {
    const digit = digits.indexOf(text.charAt(length));
    bits |= (digit & 31) << (length * 5);
    if (digit < 32) return { value: (bits & 1) === 1 ? -(bits >>> 1) : bits >>> 1, length: length + 1 };
  }
  throw new TypeError(`"${text}" is no segment of a source map`);
}

function writeNumber(value: number): string {
  let bits = value < 0 ? (-value << 1) | 1 : value << 1;
  let text = '';
  do {
    const digit = bits & 31;
    bits >>>= 5;
    text += digits.charAt(bits > 0 ? digit | 32 : digit);
  } while (bits > 0);
  return text;
}
