import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { createByteParts } from '#metrics/byte-parts.ts';

function partsOf(texts: readonly string[], partBytes: number): readonly Uint8Array[] {
  const parts = createByteParts(partBytes);
  return [...texts.map((text) => parts.add(Buffer.from(text))), parts.end()].filter((part) => part !== null);
}

test('the parts are the bytes in their order', () => {
  const Texts = fc.array(fc.string({ unit: 'grapheme', maxLength: 40 }));
  fc.assert(
    fc.property(Texts, fc.integer({ min: 1, max: 64 }), (texts, partBytes) => {
      const parts = partsOf(texts, partBytes);
      expect(Buffer.concat(parts)).toEqual(Buffer.from(texts.map((text) => text.toWellFormed()).join('')));
      expect(parts.every(({ length }) => length > 0)).toBe(true);
    }),
  );
});

test('a text goes into the part before it if it fits, and a longer one than a part is one by itself', () => {
  const parts = partsOf(['ab', 'cd', 'e', 'fffffff', 'g'], 4);
  expect(parts.map((part) => Buffer.from(part).toString())).toEqual(['abcd', 'e', 'fffffff', 'g']);
});

test('begins anew after its end', () => {
  const parts = createByteParts(8);
  expect(parts.end()).toBeNull();
  parts.add(Buffer.from('ä'));
  const first = parts.end();
  parts.add(Buffer.from('b'));
  expect([first, parts.end()]).toEqual([Buffer.from('ä'), Buffer.from('b')]);
});

test('the room of a part is used again once so many more have begun', () => {
  const parts = createByteParts(2, 2);
  const given = ['aa', 'bb', 'cc', 'dd'].map((text) => parts.add(Buffer.from(text)));
  // `cc` took the room of `aa`, and `dd` that of `bb`.
  expect(given.map((part) => part && Buffer.from(part).toString())).toEqual([null, 'cc', 'dd', 'cc']);
});
