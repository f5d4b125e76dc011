import { messageOf, WatchpostError } from '#kernel/errors.ts';
import type { CommandContext } from './command-context.ts';

/** Prints why a command failed, and gives the exit code, one of those in exit-codes.ts. */
export function reportFailure(error: unknown, context: Pick<CommandContext, 'stop' | 'printError'>): number {
  if (context.stop.aborted && error === context.stop.reason) return 130;
  context.printError(`${error instanceof WatchpostError ? error.message : `unexpected: ${messageOf(error)}`}\n`);
  if (error instanceof WatchpostError) return error.exitCode;
  context.printError(`${error instanceof Error ? error.stack : ''}\n`);
  return 1;
}
