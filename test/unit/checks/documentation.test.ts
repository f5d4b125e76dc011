import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { checkOf, checkTypeNames, FailureCode, FailureSource } from '#checks/index.ts';
import { Fact, Phase } from '#checks/outcome.ts';
import { withOptionTables } from '../../support/check-options.ts';

const page = readFileSync(new URL('../../../docs/checks.md', import.meta.url), 'utf8');

test('the tables of options are those of the program: npm run docs writes them', () => {
  expect(page).toBe(withOptionTables(page));
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
  const explained = new Set([...page.matchAll(/^\| `([a-z_]+)` \|/gm)].map(([, word]) => word));
  expect(words.filter((word) => !explained.has(word))).toEqual([]);
});

test('the table of types says which phases and facts each has', () => {
  for (const type of checkTypeNames) {
    const { phases, facts } = checkOf(type);
    const line = page.split('\n').find((one) => one.startsWith(`| \`${type}\` |`)) ?? '';
    const cells = line.split(' | ');
    const wordsOf = (cell = '') => [...cell.matchAll(/`([a-z_]+)`/g)].map(([, word]) => word);
    expect([type, wordsOf(cells[2]), wordsOf(cells[3])]).toEqual([type, phases, facts]);
  }
});
