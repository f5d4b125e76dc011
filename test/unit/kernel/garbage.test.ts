import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const child = new URL('../../support/garbage-child.ts', import.meta.url).pathname;
// An object with one property has at least twenty bytes beside its place in the list.
const madeBytes = 400_000 * 20;

async function freed(...more: readonly string[]): Promise<number> {
  const { stdout } = await promisify(execFile)(process.execPath, ['--no-warnings', child, ...more]);
  const { before, after } = JSON.parse(stdout) as Record<'before' | 'after', number>;
  return before - after;
}

test('what starting made and nothing needs is collected half a minute after the start', async () => {
  expect(await freed()).toBeGreaterThan(madeBytes);
});

test('a thread to which much comes does not stand still for it: what it has is collected in steps', async () => {
  expect(await freed('much')).toBeLessThan(madeBytes);
});
