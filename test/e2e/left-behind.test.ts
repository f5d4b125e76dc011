import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { mortal } from '../support/children.ts';
import { eventually } from '../support/program.ts';

const root = new URL('../../', import.meta.url).pathname;
const vitest = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs');

test('a test that times out leaves no daemon behind, so that those who wait for its output hear its end', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'watchpost-hanging-'));
  try {
    const pidFile = join(folder, 'pid');
    const runner = mortal(
      spawn(process.execPath, [vitest, 'run', '--config', 'test/fixtures/hanging/vitest.config.ts'], {
        cwd: root,
        env: { ...process.env, PID_FILE: pidFile, TMPDIR: folder },
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
    );
    // Both end only when nobody holds them any more: the daemon has them too.
    const [out, err] = await Promise.all([text(runner.stdout), text(runner.stderr)]);
    expect(out + err).toContain('Test timed out in 100ms');
    const pid = Number(readFileSync(pidFile, 'utf8'));
    expect(pid).toBeGreaterThan(1);
    await eventually(30_000, () => expect(['gone', 'Z']).toContain(stateOf(pid)));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

// What was killed may be there for a moment, until whoever has taken it over asks for its end (proc_pid_stat(5)).
function stateOf(pid: number): string {
  const path = `/proc/${pid}/stat`;
  return existsSync(path) ? (/\) (\w) /.exec(readFileSync(path, 'utf8'))?.[1] ?? '') : 'gone';
}
