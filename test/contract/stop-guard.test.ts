import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';

const child = new URL('../support/stop-guard-child.ts', import.meta.url).pathname;

// What is terminated while it binds the C library aborts the process.
test('a guard may be relieved at any moment of its start, and the process may end then', () => {
  const { status, stderr } = spawnSync(process.execPath, [child], { encoding: 'utf8', timeout: 60_000 });
  expect([status, stderr]).toEqual([0, '']);
});
