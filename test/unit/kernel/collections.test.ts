import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { garbageAfter, heapWithGarbage } from '#kernel/collections.ts';
import { limitResources, limitsObstacle } from '../../support/resource-limits.ts';
import { tempFolder } from '../../support/store.ts';

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
  expect(garbageAfter({ ...collection, heapBytes: heapWithGarbage(0) }, allowed, 50)).toBe(expected);
});

test.each([
  ['a machine without a limit, as Linux says it', 18_446_744_073_709_552_000, 220],
  ['a container with a gigabyte', 1_024e6, 220],
  ['one with 256 MB', 256e6, 115],
])('%s: how large garbage may make the heap', (_, limit, megabytes) => {
  expect(Math.round(heapWithGarbage(limit) / 1e6)).toBe(megabytes);
});

test('where memory is limited, less garbage is allowed than the time would want', () => {
  const collection = { tookMs: 500, sinceMs: 10_000, liveBytes: 60e6, heapBytes: heapWithGarbage(256e6) };
  expect(garbageAfter(collection, 50, 50)).toBe(92);
});

test('where garbage is made so fast that collecting it takes much of the time, more of it is allowed', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--no-warnings', child]);
  const { start, busy } = JSON.parse(stdout) as Record<'start' | 'busy', number>;
  expect(start).toBe(50);
  expect(busy).toBeGreaterThan(start);
});

const obstacle = limitsObstacle();

test.skipIf(obstacle !== null)(
  `less of it is allowed where memory is limited${obstacle === null ? '' : ` (${obstacle})`}`,
  async () => {
    // What takes the types out of sources takes tens of megabytes, and is not what is limited here: the first run leaves them without.
    using cache = tempFolder();
    const env = { ...process.env, NODE_COMPILE_CACHE: cache.path };
    await promisify(execFile)(process.execPath, ['--no-warnings', child], { env });
    using limits = limitResources({ memoryBytes: 80 * 2 ** 20 });
    const [command = '', ...words] = limits.prefix;
    const { stdout } = await promisify(execFile)(command, [...words, process.execPath, '--no-warnings', child], {
      env,
    });
    const { busy, heapBytes } = JSON.parse(stdout) as Record<'busy' | 'heapBytes', number>;
    expect(heapBytes).toBe(0.45 * 80 * 2 ** 20);
    // What is in use is at least a third of that, and without a limit it is 200.
    expect(busy).toBeLessThan(200);
  },
);
