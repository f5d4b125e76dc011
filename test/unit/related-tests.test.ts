import { expect, test } from 'vitest';
import { readImports, relatedTests } from '../../.ci/related-tests.ts';

const imports = new Map([
  ['src/a.ts', []],
  ['src/b.ts', ['src/a.ts']],
  ['src/c.ts', ['src/b.ts', 'src/d.ts']],
  ['src/d.ts', ['src/c.ts']],
  ['test/support/made.ts', ['src/a.ts']],
  ['test/unit/a.test.ts', ['src/a.ts']],
  ['test/unit/b.test.ts', ['src/b.ts']],
  ['test/unit/c.test.ts', ['src/d.ts']],
  ['test/unit/made.test.ts', ['test/support/made.ts']],
  ['test/unit/other.test.ts', []],
]);

test('the nearest tests of a changed file come first', () => {
  expect(relatedTests(['src/a.ts'], imports, 10)).toEqual([
    'test/unit/a.test.ts',
    'test/unit/b.test.ts',
    'test/unit/made.test.ts',
    'test/unit/c.test.ts',
  ]);
  expect(relatedTests(['src/a.ts'], imports, 2)).toEqual(['test/unit/a.test.ts', 'test/unit/b.test.ts']);
});

test('a changed test is related to itself, and files in a cycle end', () => {
  expect(relatedTests(['test/unit/other.test.ts', 'src/c.ts'], imports, 10)).toEqual([
    'test/unit/other.test.ts',
    'test/unit/c.test.ts',
  ]);
  expect(relatedTests(['docs/checks.md', 'src/gone.ts'], imports, 10)).toEqual([]);
});

test('imports of this checkout are files of it', () => {
  const found = readImports(new URL('../..', import.meta.url).pathname);
  expect(found.get('test/unit/related-tests.test.ts')).toEqual(['.ci/related-tests.ts']);
  expect(found.get('src/schedule/wheel.ts')).toEqual([
    'src/kernel/clock.ts',
    'src/schedule/backlog.ts',
    'src/schedule/schedule.ts',
    'src/schedule/wheel-entry.ts',
  ]);
});
