import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';

const root = new URL('../..', import.meta.url).pathname;

test.each([
  { flaky: 3, exit: 0 },
  { flaky: 4, exit: 1 },
])('$flaky tests that pass only when they are tried again end a run with $exit', ({ flaky, exit }) => {
  const args = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/fixtures/flaky/vitest.config.ts'];
  const { status, stdout } = spawnSync(process.execPath, args, {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, FLAKY: String(flaky) },
  });
  expect(stdout.match(/passed only after 1 more/g)).toHaveLength(flaky);
  expect(stdout.includes('at most 3 may')).toBe(exit === 1);
  expect(status).toBe(exit);
});
