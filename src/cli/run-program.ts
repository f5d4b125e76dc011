import '#kernel/light-schemas.ts'; // oxlint-disable-line import/no-unassigned-import -- it changes zod before anything uses it
import { type Command, CommanderError } from 'commander';
import { inFull } from './beat/short-form.ts';
import { addRunCommand, createBareProgram } from './run/run-command.ts';
import type { CommandContext } from './shared/command-context.ts';
import { configOption } from './shared/default-config.ts';
import { reportFailure } from './shared/report-failure.ts';

/** Runs the command that the arguments name and gives the exit code, one of those in exit-codes.ts. */
export async function runProgram(args: readonly string[], context: CommandContext): Promise<number> {
  let exitCode = 0;
  const program = await programFor(args, context, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync(inFull(args), { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    return reportFailure(error, context);
  }
}

// A daemon needs no other command, and would have them all in memory for as long as it runs.
async function programFor(
  args: readonly string[],
  context: CommandContext,
  finish: (code: number) => void,
): Promise<Command> {
  if (args[0] !== 'run') return (await import('./program.ts')).createProgram(context, finish);
  const program = createBareProgram(context);
  addRunCommand(program, configOption(context), context, finish);
  return program;
}
