import { spawnSync } from 'node:child_process';
import type { TestContext } from 'vitest';

// To ask a browser for its version takes as long as a test of some kinds.
const found = new Map<string, boolean>();

/** Skips the test, with the reason, where the program is not installed; fails it in CI. */
export function needsProgram(context: TestContext, program: string, debianPackage: string): void {
  const isThere = found.get(program) ?? isInstalled(program);
  found.set(program, isThere);
  if (isThere) return;
  const reason = `${program} is not installed (apt-get install ${debianPackage})`;
  if (process.env['CI'] !== undefined) throw new Error(reason);
  context.skip(reason);
}

function isInstalled(program: string): boolean {
  return spawnSync(program, [program === 'tmux' ? '-V' : '--version'], { stdio: 'ignore' }).error === undefined;
}
