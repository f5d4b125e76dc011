import * as fc from 'fast-check';

// fast-check's unit "binary" is the same, but takes a second of work to make: it has a table of a million characters.
const codePoint = fc.oneof(fc.integer({ min: 0, max: 0xd7_ff }), fc.integer({ min: 0xe0_00, max: 0x10_ff_ff }));
const character = codePoint.map((code) => String.fromCodePoint(code));

/** Any text: of any characters, or of plain ones and the names that objects have of their own. */
export function anyText(constraints: { readonly maxLength?: number } = {}): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 3, arbitrary: fc.string({ ...constraints, unit: character }) },
    { weight: 1, arbitrary: fc.string(constraints) },
  );
}
