import { systemClock } from '#kernel/clock.ts';
import type { CommandContext } from './command-context.ts';

/** Tells a person who waits how much is done. */
export interface Progress {
  step(): void;
  /** Takes the line away. */
  end(): void;
}

const patienceMs = 1_000;

/** A line on standard error once it has taken a second; nothing where no person looks. */
export function createProgress(
  what: string,
  total: number,
  { interactive, printError }: Pick<CommandContext, 'interactive' | 'printError'>,
  clock = systemClock,
): Progress {
  let done = 0;
  let isShown = false;
  const show = () => {
    isShown = true;
    printError(`\r\u{1b}[K${done} of ${total} ${what}`);
  };
  const timer = interactive ? clock.after(patienceMs, show) : null;
  return {
    step() {
      done += 1;
      if (isShown) show();
    },
    end() {
      timer?.[Symbol.dispose]();
      if (isShown) printError('\r\u{1b}[K');
    },
  };
}
