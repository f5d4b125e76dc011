import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { testedProgram } from '../../support/tested-program.ts';

const root = new URL('../../../', import.meta.url).pathname;

/** Runs words of a shell in which `$watchpost` is the program. */
function shell(words: string) {
  const { stdout, stderr, status } = spawnSync('bash', ['-c', words], {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, watchpost: `${process.execPath} ${testedProgram}` },
  });
  return { stdout, stderr, status };
}

test('a reader that leaves early ends a command without a word', () => {
  // The pipe holds 64 KiB, and the reader leaves before there is anything to read.
  const { stdout, stderr } = shell('$watchpost config schema | true; echo "${PIPESTATUS[0]}"');
  expect({ stdout, stderr }).toEqual({ stdout: '0\n', stderr: '' });
});

test.each(['config schema', 'man', '--help'])('%s says that its output is incomplete on a full disk', (words) => {
  const { stderr, status } = shell(`$watchpost ${words} > /dev/full`);
  expect(status).toBe(1);
  expect(stderr).toMatch(/^watchpost: the output is incomplete: .*no space left on device.*\n$/);
});
