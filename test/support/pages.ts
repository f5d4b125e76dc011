import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { testedProgram } from './tested-program.ts';

const root = new URL('../../', import.meta.url).pathname;

/** The commands that a page of the documentation shows, in their order: the lines of its blocks of `sh`, and what stands after `$` in others. */
export function commandsOf(page: string): readonly string[] {
  const text = readFileSync(join(root, page), 'utf8');
  return [...text.matchAll(/^ *```(\w*)\n([^]*?)^ *```$/gm)].flatMap(([, language, block = '']) => {
    const lines = block
      .trimEnd()
      .split('\n')
      .map((line) => line.trimStart());
    if (language === 'sh') return lines;
    return lines.filter((line) => line.startsWith('$ ')).map((line) => line.slice(2));
  });
}

export interface Ended {
  readonly line: string;
  readonly code: number;
  readonly text: string;
}

/** A shell in a folder, where `watchpost` and `npx watchpost` are the program. */
export interface Shell {
  readonly run: (line: string) => Promise<Ended>;
  /** Puts a program where the shell finds it. */
  readonly install: (name: string, script: string) => string;
}

export function openShell(folder: string): Shell {
  const bin = join(folder, 'bin');
  mkdirSync(bin, { recursive: true });
  // A script is not read again once it runs, whatever else the folder holds.
  const install = (name: string, script: string) => {
    const path = join(bin, name);
    writeFileSync(path, `#!/bin/sh\n${script}\n`);
    chmodSync(path, 0o755);
    return path;
  };
  const watchpost = `'${process.execPath}' '${testedProgram}'`;
  install('watchpost', `exec ${watchpost} "$@"`);
  install('npx', `test "$1" = watchpost && shift && exec ${watchpost} "$@"`);
  return {
    install,
    run: async (line) => {
      const env = { ...process.env, PATH: `${bin}${delimiter}${process.env['PATH'] ?? ''}` };
      return new Promise((resolve) => {
        execFile('sh', ['-c', line], { cwd: folder, env, timeout: 120_000 }, (error, out, err) => {
          resolve({ line, code: error === null ? 0 : Number(error.code ?? -1), text: `${out}${err}` });
        });
      });
    },
  };
}

/** Runs the commands of a page one after the other; gives those that did not end as expected: with 0, where nothing else is said. */
export async function runAll(
  commands: readonly string[],
  run: (line: string) => Promise<Ended>,
  others: Readonly<Record<string, number>> = {},
): Promise<readonly Ended[]> {
  const failed: Ended[] = [];
  for (const line of commands) {
    const ended = await run(line);
    if (ended.code !== (others[line] ?? 0)) failed.push(ended);
  }
  return failed;
}
