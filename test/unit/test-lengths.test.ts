import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { longestFirst, testLengths } from '../support/test-lengths.ts';

const root = new URL('../../', import.meta.url).pathname;

test('every test file whose length is listed is there', () => {
  const gone = Object.keys(testLengths).filter((name) => !existsSync(`${root}test/${name}.test.ts`));
  expect(gone).toEqual([]);
});

const ordered = (names: readonly string[]) => longestFirst(names, (name) => `/anywhere/test/${name}.test.ts`);

test('the longest file of a folder comes first, and those that are not listed last, as they were', () => {
  const [longest = '', second = ''] = Object.keys(testLengths).filter((name) => name.startsWith('integration/'));
  const names = ['integration/other', second, 'integration/another', longest];
  expect(ordered(names)).toEqual([longest, second, 'integration/other', 'integration/another']);
});

test('folders take turns, in proportion to the lengths of their files', () => {
  const names = ['e2e/a', 'e2e/b', 'unit/a', 'unit/b', 'unit/c', 'unit/d'];
  expect(ordered(names)).toEqual(['e2e/a', 'unit/a', 'unit/b', 'e2e/b', 'unit/c', 'unit/d']);
});
