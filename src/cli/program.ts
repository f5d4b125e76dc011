import { Argument, type Command, CommanderError, Option } from 'commander';
import { messageOf, WatchpostError } from '#kernel/errors.ts';
import { logLevels } from '#kernel/log.ts';
import { addAlertCommands } from './control/alert-commands.ts';
import { addBeatCommands } from './beat/beat.ts';
import { addCheckCommands } from './check/check.ts';
import { shapesOf } from './shared/commands.ts';
import { completionOf, type Shell, shells } from './help/completion.ts';
import { addConfigCommands } from './config/config-commands.ts';
import { addControlCommands } from './control/control.ts';
import { configOption as optionOfConfig, needsConfig } from './shared/default-config.ts';
import { addExclusionCommands } from './control/exclusion-commands.ts';
import { addHistoryCommands } from './history/history-commands.ts';
import { addEditCommands } from './config/edit-targets.ts';
import { addImportCommands } from './config/import.ts';
import { init } from './config/init.ts';
import { manualOf } from './help/manual.ts';
import { createPatientCommand } from './shared/mistakes.ts';
import { addHubCommands } from './hubs/hub-commands.ts';
import { addNodeCommands } from './nodes/node-commands.ts';
import { addUserCommands } from './users.ts';
import { addDemoCommand } from './demo/demo-command.ts';
import type { CommandContext } from './shared/command-context.ts';

const examples = `
Examples:
  watchpost demo
  watchpost init
  watchpost check http https://example.com
  watchpost check ping example.com --service https://check.example.com
  watchpost config check --config watchpost.yaml
  watchpost run --config watchpost.yaml`;

/** Runs the command that the arguments name and gives the exit code, one of those in exit-codes.ts. */
export async function runProgram(args: readonly string[], context: CommandContext): Promise<number> {
  let exitCode = 0;
  const program = createProgram(context, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (context.stop.aborted && error === context.stop.reason) return 130;
    context.printError(`${error instanceof WatchpostError ? error.message : `unexpected: ${messageOf(error)}`}\n`);
    if (error instanceof WatchpostError) return error.exitCode;
    context.printError(`${error instanceof Error ? error.stack : ''}\n`);
    return 1;
  }
}

/** The whole command line. What a command ends with goes to `finish`. */
export function createProgram(context: CommandContext, finish: (code: number) => void): Command {
  const program = createPatientCommand('watchpost')
    .description('Uptime monitor and distributed check service.')
    .version(context.version)
    .exitOverride()
    .showSuggestionAfterError()
    // Options that stand after the name of a command are that command's own, also if one above it has some of the same name.
    .enablePositionalOptions()
    .configureOutput({ writeOut: context.print, writeErr: context.printError })
    .addHelpText('after', examples);
  program.hook('preAction', (_, command) => needsConfig(command, context));
  const configOption = optionOfConfig(context);

  program
    .command('init')
    .description('write a first configuration')
    .argument('[file]', 'the file to write; it must not be there yet', 'watchpost.yaml')
    .option('--json', 'print JSON')
    .action(async (file, options) => finish(await init(file, options, context)));
  program
    .command('run')
    .description('watch the targets until SIGTERM')
    .addOption(configOption)
    .addOption(new Option('--log-level <level>', 'least level to log').choices(logLevels).default('info'))
    .option('--once [target]', 'check every target, or this one, once, and print what came of it')
    .option('--json', 'with --once: print JSON')
    .action(async ({ once, ...options }) => {
      // Only these two need the daemon's parts, which take longer to load than a check takes.
      const [{ run }, { runOnce }] = await Promise.all([import('./run/run.ts'), import('./run/run-once.ts')]);
      finish(once === undefined ? await run(options, context) : await runOnce({ ...options, once }, context));
    });

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
