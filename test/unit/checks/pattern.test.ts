import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { meaningOf } from '#checks/error-words.ts';
import { checkOf } from '#checks/index.ts';
import { compilePath } from '#checks/http/json-path.ts';
import { compilePattern } from '#checks/pattern.ts';

test.each([
  ['^(a+)+$', 'a', 'b'],
  ['(x+x+)+y', 'x', ''],
  ['^(a|a)*$', 'a', 'b'],
  ['(.*)*=', 'x', ''],
  ['(\\w+\\s?)+$', 'word ', '!'],
])('%s, which a backtracking engine never ends, ends against half a megabyte', (source, unit, end) => {
  const text = unit.repeat(500_000 / unit.length) + end;
  expect(compilePattern(source).test(text)).toBe(false);
  expect(compilePattern(source, { lines: true }).test(text)).toBe(false);
});

test.each([
  ['a look-ahead', '(?=a)b'],
  ['a negative look-ahead', '^(?!.*error)'],
  ['a reference to a group', '(a+)\\1'],
  ['a reference to a named group', '(?<x>a+)\\k<x>'],
])('%s cannot run in linear time and is refused', (_, source) => {
  expect(() => compilePattern(source)).toThrow('cannot run in linear time');
});

test.each([
  ['an open group', '(a'],
  ['a repeat of thousands', '(a{1000}){1000}'],
  ['a range from the wrong end', '[b-a]'],
])('%s is no valid regular expression', (_, source) => {
  expect(() => compilePattern(source)).toThrow('is no valid regular expression');
});

test.each([
  ['escaped characters that look like a reference', '\\\\1', 'C:\\1', true],
  ['a look-behind', '(?<=€)\\d+', '€12', true],
  ['code points by number', '^\\u{1f600}\\u0041$', '\u{1f600}A', true],
  ['a named group', '(?<year>\\d{4})', 'in 2026', true],
  ['a property', '\\p{Lu}\\p{Ll}+', 'Grüße', true],
  ['other letters', '(?i:grüsse)', 'GRÜSSE', true],
  ['the end of the text alone', 'a$', 'a\nb', false],
])('%s', (_, source, text, expected) => {
  expect(compilePattern(source).test(text)).toBe(expected);
});

test.each([
  ['PONG$', '+PONG\r\n', true],
  ['^220 .* ESMTP$', '220 a ESMTP\r\n250 b', true],
  ['PONG\\r\\n', '+PONG\r\n', true],
  ['^b', 'a\r\nb', true],
  ['^b', 'ab', false],
])('in lines, %s against %j', (source, text, expected) => {
  expect(compilePattern(source, { lines: true }).test(text)).toBe(expected);
});

// What both engines understand alike.
const atom = fc.constantFrom('a', 'b', '[ab]', '[^a]', '\\w', '\\d', '(?:ab)', '(a|bb)', ' ', '\\.', '^', '$');
const source = fc
  .array(fc.tuple(atom, fc.constantFrom('', '?', '+', '*', '{2}')))
  .map((parts) => parts.map(([one, count]) => (one === '^' || one === '$' ? one : one + count)).join(''));

test('it finds what a backtracking engine finds', () => {
  fc.assert(
    fc.property(
      source,
      fc.string({ unit: fc.constantFrom('a', 'b', ' ', '.', '1', '\n'), maxLength: 12 }),
      (source, text) => {
        expect(compilePattern(source).test(text)).toBe(new RegExp(source, 'u').test(text));
      },
    ),
  );
});

test.each([
  ['a descendant behind another', '$..a..b', '".." stands behind'],
  ['a descendant in the filter of another', '$..[?@..a]', '".." stands behind'],
  ['a search of the whole document for each value', '$.a[?@.b == count($..c)]', 'not search it'],
  ['the same values taken twice', '$[*,*][*,*]', 'only one of'],
  ['a pattern out of the document', '$[?match(@.a, $.b)]', 'written out'],
  ['a pattern that needs backtracking', "$[?search(@.a, '(a+)\\\\1')]", 'cannot run in linear time'],
  ['no path', '$[', 'unclosed'],
])('JSONPath: %s is refused', (_, path, words) => {
  expect(() => compilePath(path)).toThrow(words);
});

test.each([
  ['$.a.b', { a: { b: 1 } }, [1]],
  ['$..b', { a: { b: 1 } }, [1]],
  ['$.a[?@.b > 1].c', { a: [{ b: 1 }, { b: 2, c: 3 }] }, [3]],
  ['$.a[?@..c]', { a: [{ b: 1 }, { b: { c: 2 } }] }, [{ b: { c: 2 } }]],
  ['$.a[?@.b == $.x]', { x: 2, a: [{ b: 1 }, { b: 2 }] }, [{ b: 2 }]],
  ["$.a[?match(@, '(a+)+')]", { a: ['aaa', 'aab', 1] }, ['aaa']],
  ["$.a[?search(@, '^b')]", { a: ['aaa', 'bab'] }, ['bab']],
  ['$.a[0,1]', { a: [1, 2, 3] }, [1, 2]],
])('JSONPath: %s finds what it should', (path, document, expected) => {
  expect(compilePath(path).valuesIn(document)).toEqual(expected);
});

test('JSONPath: match() ends against any text', () => {
  const path = compilePath("$[?match(@, '(x+x+)+y')]");
  expect(path.valuesIn(['x'.repeat(200_000)])).toEqual([]);
});

test('the words of a row are read in the same time however long they are', () => {
  const words = 'name '.repeat(400_000);
  expect(meaningOf(words)).toEqual({ source: 'target', code: 'unreachable' });
  expect(checkOf('udp').row?.fromRow([{ error: `name servers of ${words}` }])).toMatchObject({ status: 'down' });
});
