import type { CommandContext } from './shared/command-context.ts';

/** A command for its usual arguments; null, with nothing done, if they need the reader of all commands. */
export type LightCommand = (args: readonly string[], context: CommandContext) => number | null | Promise<number | null>;

// Commands that run often, or for as long as another program, and need little of this one. Each loads only its own files.
const lightCommands: ReadonlyMap<string | undefined, LightCommand> = new Map<string, LightCommand>([
  ['health', async (args, context) => (await import('./run/plain-health.ts')).plainHealth(args, context)],
  ['beat', async (args, context) => (await import('./beat/plain-beat.ts')).plainBeat(args, context)],
  ['--version', printVersion],
  ['-V', printVersion],
]);

/** Runs the command that the arguments name without loading the others if it is a light one; gives null if not. */
export async function runLightCommand(
  [name, ...args]: readonly string[],
  context: CommandContext,
): Promise<number | null> {
  return (await lightCommands.get(name)?.(args, context)) ?? null;
}

function printVersion(_: readonly string[], { version, print }: Pick<CommandContext, 'version' | 'print'>): number {
  print(`${version}\n`);
  return 0;
}
