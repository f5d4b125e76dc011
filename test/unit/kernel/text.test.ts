import { execFileSync } from 'node:child_process';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { shellWord, singleLine } from '#kernel/text.ts';
import { anyText } from '../../support/any-text.ts';

test.each([
  { name: 'breaks become spaces', text: 'a\r\nb\u2028c', line: 'a b c' },
  { name: 'runs of blanks become one', text: '  a \t  b  ', line: 'a b' },
  { name: 'controls go', text: 'a\u0000\u001B[31mb', line: 'a [31mb' },
  { name: 'bidirectional overrides go', text: 'invoice\u202Egnp.exe', line: 'invoice gnp.exe' },
  { name: 'zero width characters go', text: 'a\u200Bb\uFEFF', line: 'a b' },
  { name: 'letters of any language stay', text: 'Größe 日本', line: 'Größe 日本' },
])('$name', ({ text, line }) => {
  expect(singleLine(text)).toBe(line);
});

test('text that is too long ends with an ellipsis', () => {
  expect(singleLine('abcdef', 4)).toBe('abc…');
  expect(singleLine('abcd', 4)).toBe('abcd');
  expect(singleLine('x'.repeat(300))).toHaveLength(200);
});

test('whatever comes in, one short line without anything invisible comes out', () => {
  fc.assert(
    fc.property(anyText({ maxLength: 50 }), fc.integer({ min: 2, max: 40 }), (text, length) => {
      const line = singleLine(text, length);
      expect(line.length).toBeLessThanOrEqual(length);
      expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
      expect(line.isWellFormed()).toBe(true);
    }),
  );
});

test('a cut never splits a character in two', () => {
  expect(singleLine('ab😀cd', 4)).toBe('ab…');
});

test.each(['shop/down/1767268890000', 'own node overload/node_overload/1', "it's $(date)/down/1", 'größe/down/1'])(
  'a shell reads %s as one word',
  (text) => {
    expect(execFileSync('sh', ['-c', `printf %s ${shellWord(text)}`]).toString()).toBe(text);
  },
);

test('a word without signs of a shell has no quotes', () => {
  expect(shellWord('shop/down/1767268890000')).toBe('shop/down/1767268890000');
});
