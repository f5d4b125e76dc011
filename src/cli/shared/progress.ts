import { systemClock } from '#kernel/clock.ts';
import type { CommandContext } from './command-context.ts';

/** Tells a person who waits how much is done. */
export interface ProgressBar {
  step(): void;
  /** Takes the line away. */
  end(): void;
}

type ProgressContext = Pick<CommandContext, 'interactive' | 'printError'>;

const patienceMs = 1_000;

/** A line on standard error once it has taken a second; nothing if no person looks. */
export function createProgress(
  what: string,
  total: number,
  { interactive, printError }: ProgressContext,
  clock = systemClock,
): ProgressBar {
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

/** A progress line that is updated each second; nothing in the first second, and nothing without a terminal. */
export async function awaited<Result>(
  work: Promise<Result>,
  words: () => string,
  { interactive, printError }: ProgressContext,
  clock = systemClock,
): Promise<Result> {
  let seconds = 0;
  const show = () => {
    seconds += 1;
    printError(`\r\u{1b}[K${words()}, ${seconds} s`);
    timer = clock.after(patienceMs, show);
  };
  let timer = interactive ? clock.after(patienceMs, show) : null;
  try {
    return await work;
  } finally {
    timer?.[Symbol.dispose]();
    if (seconds > 0) printError('\r\u{1b}[K');
  }
}
