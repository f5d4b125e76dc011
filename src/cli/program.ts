import { Argument, type Command } from 'commander';
import { addAlertCommands } from './control/alert-commands.ts';
import { addBeatCommands } from './beat/beat.ts';
import { addCheckCommands } from './check/check.ts';
import { shapesOf } from './shared/commands.ts';
import { completionOf, type Shell, shells } from './help/completion.ts';
import { addConfigCommands } from './config/config-commands.ts';
import { addControlCommands } from './control/control.ts';
import { configOption as optionOfConfig } from './shared/default-config.ts';
import { addExclusionCommands } from './control/exclusion-commands.ts';
import { addHistoryCommands } from './history/history-commands.ts';
import { addEditCommands } from './config/edit-targets.ts';
import { addImportCommands } from './config/import.ts';
import { init } from './config/init.ts';
import { manualOf } from './help/manual.ts';
import { addHubCommands } from './hubs/hub-commands.ts';
import { addNodeCommands } from './nodes/node-commands.ts';
import { addRunCommand, createBareProgram } from './run/run-command.ts';
import { addUserCommands } from './users.ts';
import { addDemoCommand } from './demo/demo-command.ts';
import type { CommandContext } from './shared/command-context.ts';

/** The whole command line. What a command ends with goes to `finish`. */
export function createProgram(context: CommandContext, finish: (code: number) => void): Command {
  const program = createBareProgram(context);
  const configOption = optionOfConfig(context);

  program
    .command('init')
    .description('write a first configuration')
    .argument('[file]', 'the file to write; it must not be there yet', 'watchpost.yaml')
    .option('--json', 'print JSON')
    .action(async (file, options) => finish(await init(file, options, context)));
  addRunCommand(program, configOption, context, finish);
  addDemoCommand(program, context, finish);

  program
    .command('health')
    .description('check whether the running daemon is healthy')
    .addOption(configOption)
    .option('--ready', 'check whether it is ready for requests instead')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExit code: 0 healthy, 1 not healthy or no answer, 2 wrong usage.')
    .action(async (options) => {
      const { health } = await import('./run/health.ts');
      finish(await health(options, context));
    });

  program
    .command('top')
    .description('show the states of all targets as they change; q quits')
    .addOption(configOption)
    .option('--json', 'print JSON, once')
    .action(async (options) => {
      const { showTop } = await import('./top/top.ts');
      finish(await showTop(options, context));
    });

  addCheckCommands(program, context, finish);
  addEditCommands(program, configOption, context, finish);
  addControlCommands(program, configOption, context, finish);
  addExclusionCommands(program, configOption, context, finish);
  addHistoryCommands(program, configOption, context, finish);
  addUserCommands(program, context);
  addBeatCommands(program, context, finish);
  addConfigCommands(program, configOption, context, finish);
  addAlertCommands(program, configOption, context, finish);
  addNodeCommands(program, configOption, context, finish);
  addHubCommands(program, configOption, context, finish);
  addImportCommands(program, context, finish);
  program
    .command('completion')
    .description('print the script that completes commands and options in a shell')
    .addArgument(new Argument('<shell>', 'which shell').choices(shells))
    .action((shell: Shell) => context.print(completionOf(shapesOf(program), shell)));
  program
    .command('man')
    .description('print the manual page: watchpost man | man -l -')
    .action(() => context.print(manualOf(shapesOf(program), context.version)));
  return program;
}
