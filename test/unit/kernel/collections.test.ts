import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { garbageAfter } from '#kernel/collections.ts';

const child = new URL('../../support/collections-child.ts', import.meta.url).pathname;

test.each([
  ['a whole core: 70 ms every ten seconds', { tookMs: 70, sinceMs: 10_000, liveBytes: 60e6 }, 50, 50],
  [
    'a quarter of one: 500 ms every ten seconds would want five times as much',
    { tookMs: 500, sinceMs: 10_000, liveBytes: 60e6 },
    50,
    200,
  ],
  ['just as often as wanted', { tookMs: 500, sinceMs: 50_000, liveBytes: 60e6 }, 120, 120],
  ['more seldom than wanted', { tookMs: 500, sinceMs: 100_000, liveBytes: 60e6 }, 120, 60],
  ['there is only so much room', { tookMs: 1_000, sinceMs: 5_000, liveBytes: 110e6 }, 50, 100],
  ['no room at all', { tookMs: 2_000, sinceMs: 10_000, liveBytes: 400e6 }, 50, 50],
])('garbage after a collection, %s', (_, collection, allowed, expected) => {
  expect(garbageAfter(collection, allowed, 50)).toBe(expected);
});

test('where garbage is made so fast that collecting it takes much of the time, more of it is allowed', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--no-warnings', child]);
  const { start, busy } = JSON.parse(stdout) as Record<'start' | 'busy', number>;
  expect(start).toBe(50);
  expect(busy).toBeGreaterThan(start);
});
