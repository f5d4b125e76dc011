import type { Command } from 'commander';

/** A command as help, completion and the manual show it. */
export interface CommandShape {
  /** Its words after `watchpost`: `nodes add`. */
  readonly path: string;
  readonly description: string;
  /** `<name>`, `[target...]`. */
  readonly takes: readonly { readonly term: string; readonly description: string }[];
  readonly options: readonly OptionShape[];
  /** Names of the commands below it. */
  readonly below: readonly string[];
}

export interface OptionShape {
  /** `-c, --config <path>`. */
  readonly flags: string;
  readonly names: readonly string[];
  readonly description: string;
  readonly choices: readonly string[];
  readonly takesValue: boolean;
}

/** Every command of the program, each before those below it. */
export function shapesOf(program: Command, path = ''): readonly CommandShape[] {
  const help = program.createHelp();
  const commands = help.visibleCommands(program).filter((command) => command.name() !== 'help');
  const own: CommandShape = {
    path,
    description: program.description(),
    takes: help.visibleArguments(program).map((argument) => ({
      term: `${argument.required ? '<' : '['}${argument.name()}${argument.variadic ? '...' : ''}${argument.required ? '>' : ']'}`,
      description: argument.description,
    })),
    options: help.visibleOptions(program).map((option) => ({
      flags: option.flags,
      names: [option.short, option.long].filter((name) => name !== undefined && name !== null),
      description: help.optionDescription(option),
      choices: option.argChoices ?? [],
      takesValue: option.required || option.optional,
    })),
    below: commands.map((command) => command.name()),
  };
  return [own, ...commands.flatMap((command) => shapesOf(command, `${path} ${command.name()}`.trim()))];
}
