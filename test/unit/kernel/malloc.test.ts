import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const child = new URL('../../support/freed-memory-child.ts', import.meta.url).pathname;
const hasGlibc = 'glibcVersionRuntime' in (process.report.getReport() as { header: object }).header;

test.skipIf(!hasGlibc)('what was freed goes back to the system half a minute after the start', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--no-warnings', '--expose-gc', child]);
  const { before, after, stays } = JSON.parse(stdout) as Record<'before' | 'after' | 'stays', number>;
  expect(stays).toBe(1_000);
  // A thousand pieces of 60 kB are free; their first and last pages may be shared with what stays.
  expect(before - after).toBeGreaterThan(40_000_000);
});
