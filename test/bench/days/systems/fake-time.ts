import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command, SetUp } from './system.ts';

// faketime(1): the library gives a program, and what it starts, the wall clock that a file says. Programs in Go ask the kernel directly.

const library = `/usr/lib/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu/faketime/libfaketimeMT.so.1`;

/** Gives the commands of a system a clock that can be set; null where Debian's libfaketime is not installed. */
export function withFakeTime(
  folder: string,
  commands: readonly Command[],
): Required<Pick<SetUp, 'commands' | 'setClock'>> | null {
  if (!existsSync(library)) return null;
  const file = join(folder, 'fake-time');
  const setClock = (aheadMs: number) => {
    writeFileSync(`${file}.new`, `${aheadMs < 0 ? '' : '+'}${aheadMs / 1_000}s\n`);
    renameSync(`${file}.new`, file);
  };
  setClock(0);
  const environment = {
    LD_PRELOAD: library,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_CACHE_DURATION: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  };
  const preloaded = commands.map((command) =>
    command.isApart === true ? command : { ...command, environment: { ...command.environment, ...environment } },
  );
  return { commands: preloaded, setClock };
}
