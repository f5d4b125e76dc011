import { spawnSync } from 'node:child_process';
import type { TestContext } from 'vitest';

/** Skips the test, with the reason, where the program is not installed; fails it in CI. */
export function needsProgram(context: TestContext, program: string, debianPackage: string): void {
  const found = spawnSync(program, [program === 'tmux' ? '-V' : '--version'], { stdio: 'ignore' });
  if (found.error === undefined) return;
  const reason = `${program} is not installed (apt-get install ${debianPackage})`;
  if (process.env['CI'] !== undefined) throw new Error(reason);
  context.skip(reason);
}
