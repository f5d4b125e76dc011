import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { longestFirst, testLengths } from '../support/test-lengths.ts';

const root = new URL('../../', import.meta.url).pathname;

test('every test file whose length is listed is there', () => {
  const gone = Object.keys(testLengths).filter((name) => !existsSync(`${root}test/${name}.test.ts`));
  expect(gone).toEqual([]);
});

test('the longest file comes first, and those that are not listed last, as they were', () => {
  const [longest = '', second = ''] = Object.keys(testLengths);
  const paths = ['other', second, 'another', longest].map((name) => `/anywhere/test/${name}.test.ts`);
  expect(longestFirst(paths, (path) => path)).toEqual([paths[3], paths[1], paths[0], paths[2]]);
});
