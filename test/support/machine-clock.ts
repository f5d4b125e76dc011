import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const preload = new URL('set-clock.js', import.meta.url).pathname;

/** The wall clock of the programs that are started with its environment, at first that of this machine. */
export interface MachineClock {
  readonly environment: Readonly<Record<string, string>>;
  readonly aheadMs: number;
  set(aheadMs: number): void;
}

export function createMachineClock(folder: string): MachineClock {
  const file = join(folder, 'clock');
  let ahead = 0;
  const write = () => {
    writeFileSync(`${file}.new`, String(ahead));
    renameSync(`${file}.new`, file);
  };
  write();
  return {
    environment: { NODE_OPTIONS: `--import=${preload}`, CLOCK_FILE: file },
    get aheadMs() {
      return ahead;
    },
    set(aheadMs) {
      ahead = aheadMs;
      write();
    },
  };
}
