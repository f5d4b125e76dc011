import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { checkOf, checkTypeNames, FailureCode, FailureSource } from '#checks/index.ts';
import { Fact, Phase } from '#checks/outcome-schemas.ts';
import { withOptionTables } from '../../support/check-options.ts';

const page = readFileSync(new URL('../../../docs/checks.md', import.meta.url), 'utf8');

test('the tables of options are those of the program: npm run docs writes them', () => {
  expect(page).toBe(withOptionTables(page));
});

const marks = '<!-- options of ping -->\n\n';

test.each([
  { name: 'with one empty line', between: '\n' },
  { name: 'with no empty line', between: '' },
  { name: 'with several', between: '\n\n\n' },
])('a section that has no table yet gets one, $name between its marks', ({ between }) => {
  const begin = page.indexOf(marks) + marks.trimEnd().length;
  const end = page.indexOf('<!-- end of options -->', begin);
  expect(withOptionTables(`${page.slice(0, begin)}\n${between}${page.slice(end)}`)).toBe(page);
});

const endMark = '<!-- end of options -->';
const endOfPing = page.indexOf(endMark, page.indexOf(marks));
const withEnd = (end: string) => page.slice(0, endOfPing) + end + page.slice(endOfPing + endMark.length);

test.each([
  { name: 'its end is gone', text: withEnd('') },
  { name: 'its end is misspelt', text: withEnd('<!-- end options -->') },
  { name: 'it has no marks', text: page.replace(marks, '') },
  { name: 'it has two', text: marks + page },
])('a section is refused, rather than deleted, if $name', ({ text }) => {
  expect(() => withOptionTables(text)).toThrow(/^docs\/checks\.md: .*ping/);
});

test('every option has a meaning', () => {
  expect(page.match(/^\| `.*\|\s*\|$/gm) ?? []).toEqual([]);
});

test.each([
  ['failure code', FailureCode.options],
  ['source of failures', FailureSource.options],
  ['phase', Phase.options],
  ['fact', Fact.options],
  ['check type', checkTypeNames],
] as const)('every %s is explained in a line of its own', (_, words: readonly string[]) => {
  const explained = new Set([...page.matchAll(/^\| `([a-z\d_]+)` \|/gm)].map(([, word]) => word));
  expect(words.filter((word) => !explained.has(word))).toEqual([]);
});

test('the table of types says which phases and facts each has', () => {
  for (const type of checkTypeNames) {
    const { phases, facts } = checkOf(type);
    const line = page.split('\n').find((one) => one.startsWith(`| \`${type}\` |`)) ?? '';
    const cells = line.split(' | ');
    const wordsOf = (cell = '') => [...cell.matchAll(/`([a-z\d_]+)`/g)].map(([, word]) => word);
    expect([type, wordsOf(cells[2]), wordsOf(cells[3])]).toEqual([type, phases, facts]);
  }
});
