import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { placesOf, secondsOf, testLengths } from '../support/test-lengths.ts';

const root = new URL('../../', import.meta.url).pathname;

test('every test file whose length is listed is there', () => {
  const gone = Object.keys(testLengths).filter((name) => !existsSync(`${root}test/${name}.test.ts`));
  expect(gone).toEqual([]);
});

test('the longest file comes first, and each at the share of the work before it', () => {
  const [longest = '', second = ''] = Object.keys(testLengths);
  const paths = ['other', second, longest].map((name) => `/anywhere/test/${name}.test.ts`);
  const whole = paths.reduce((sum, path) => sum + secondsOf(path), 0);
  expect(placesOf(paths, (path) => path)).toEqual([
    { file: paths[2], place: 0 },
    { file: paths[1], place: secondsOf(paths[2] ?? '') / whole },
    { file: paths[0], place: (secondsOf(paths[2] ?? '') + secondsOf(paths[1] ?? '')) / whole },
  ]);
});
