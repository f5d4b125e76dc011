import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { lineDiff } from '#web/pages/line-diff.ts';

const shown = (before: string, after: string) =>
  lineDiff(before, after).map(({ kind, text }) => `${{ same: ' ', added: '+', removed: '-' }[kind]}${text}`);

test('a line that changed is removed and added at its place', () => {
  expect(shown('a\nb\nc\n', 'a\nB\nc')).toEqual([' a', '-b', '+B', ' c']);
  expect(shown('a\r\nb', 'a\nb\nc')).toEqual([' a', ' b', '+c']);
});

test('a difference has both texts in it, and no line that both have twice', () => {
  const text = fc.array(fc.constantFrom('a', 'b', 'c', '  d'), { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(text, text, (before, after) => {
      const lines = lineDiff(before.join('\n'), after.join('\n'));
      const side = (other: string) => lines.filter(({ kind }) => kind !== other).map((line) => line.text);
      expect([side('added'), side('removed')]).toEqual([before, after]);
    }),
  );
});
