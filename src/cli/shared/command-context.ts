import type { Writable } from 'node:stream';
import type { StopGuard } from '#kernel/stop-watch.ts';

/** What a command gets from outside: everything that main.ts alone may touch. */
export interface CommandContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly version: string;
  readonly pid: number;
  /** Aborted by the first SIGINT or SIGTERM. */
  readonly stop: AbortSignal;
  /** From now on the process ends soon after SIGTERM or SIGINT, even if its main thread hangs. */
  readonly guardStop: () => StopGuard | null;
  /** From now on SIGHUP calls `action` instead of ending the process. */
  readonly onHangup: (action: () => void) => void;
  /**
   * From now on these signals call `action` instead of ending the process or aborting `stop`, until it is disposed.
   */
  readonly onSignals: (signals: readonly NodeJS.Signals[], action: (signal: NodeJS.Signals) => void) => Disposable;
  /** Where the output of commands that we run goes, and their errors. */
  readonly output: Writable;
  readonly errors: Writable;
  /** True if the output is a terminal. */
  readonly interactive: boolean;
  /** Sends SIGHUP to another process. Throws if there is none. */
  readonly hangUp: (pid: number) => void;
  /** How many characters fit in a line of the terminal, and how many lines on it. */
  readonly columns: number;
  readonly rows: number;
  /** The terminal if both input and output are one, else null. */
  readonly terminal: Terminal | null;
  /** The first line of standard input. On a terminal it is asked for with these words, and what is typed is not shown. */
  readonly readLine: (question: string) => Promise<string>;
  readonly print: (text: string) => void;
  readonly printError: (text: string) => void;
}

export interface Terminal {
  size(): { readonly columns: number; readonly rows: number };
  onResize(action: () => void): Disposable;
  /** Calls back for every key or key sequence and hides their echo, until disposed. */
  onKey(action: (key: string) => void): Disposable;
}
