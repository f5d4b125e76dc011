import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const child = new URL('../../support/garbage-child.ts', import.meta.url).pathname;

test('what starting made and nothing needs is collected half a minute after the start', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--no-warnings', child]);
  const { before, after } = JSON.parse(stdout) as Record<'before' | 'after', number>;
  // An object with one property has at least twenty bytes beside its place in the list.
  expect(before - after).toBeGreaterThan(400_000 * 20);
});
