import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { runProgram } from '#cli/run-program.ts';
import type { CommandContext } from '#cli/shared/command-context.ts';
import { silentContext } from './silent-context.ts';
import { mortal } from './children.ts';
import { testedProgram } from './tested-program.ts';

const root = new URL('../../', import.meta.url).pathname;

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** The real program, or another copy of it, run to its end. */
export async function command(args: readonly string[], house?: string): Promise<Ended> {
  const script = house === undefined ? testedProgram : join(house, 'src/watchpost.js');
  const child = mortal(
    spawn(process.execPath, [script, ...args], {
      cwd: house ?? root,
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  );
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return { code: child.exitCode, out, err };
}

/** The same in this process. */
export async function commandHere(args: readonly string[], context: Partial<CommandContext> = {}): Promise<Ended> {
  let [out, err] = ['', ''];
  const code = await runProgram(args, {
    ...silentContext(),
    print: (text) => void (out += text),
    printError: (text) => void (err += text),
    ...context,
  });
  return { code, out, err };
}
