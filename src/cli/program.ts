import { Command, CommanderError, Option } from 'commander';
import { messageOf, WatchpostError } from '#kernel/errors.ts';
import { logLevels } from '#kernel/log.ts';
import { addAlertCommands } from './alerts.ts';
import { addCheckCommands } from './check.ts';
import { checkConfig, printSchema } from './config.ts';
import { addControlCommands } from './control.ts';
import { addImportCommands } from './import.ts';
import { addNodeCommands } from './node-commands.ts';
import { planConfig } from './plan.ts';
import type { World } from './world.ts';

const defaultConfig = '/config/watchpost.yaml';

const examples = `
Examples:
  watchpost check http https://example.com
  watchpost check ping example.com --service https://check.example.com
  watchpost config check --config watchpost.yaml
  watchpost run --config watchpost.yaml`;

/**
 * Runs the command that the arguments name and gives the exit code: 0 done, 1 failed, 2 wrong input. Commands that check
 * something give 0, 1 or 3 as it is up, down or unknown; a node that was revoked gives 77.
 */
export async function runProgram(args: readonly string[], world: World): Promise<number> {
  let exitCode = 0;
  const program = createProgram(world, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (world.stop.aborted && error === world.stop.reason) return 130;
    world.printError(`${error instanceof WatchpostError ? error.message : `unexpected: ${messageOf(error)}`}\n`);
    if (error instanceof WatchpostError) return error.exitCode;
    world.printError(`${error instanceof Error ? error.stack : ''}\n`);
    return 1;
  }
}

function createProgram(world: World, finish: (code: number) => void): Command {
  const program = new Command('watchpost')
    .description('Uptime monitor and distributed check service.')
    .version(world.version)
    .exitOverride()
    .showSuggestionAfterError()
    .configureOutput({ writeOut: world.print, writeErr: world.printError })
    .addHelpText('after', examples);
  const configOption = new Option('-c, --config <path>', 'configuration file or folder').default(defaultConfig);

  program
    .command('run')
    .description('watch the targets until SIGTERM')
    .addOption(configOption)
    .addOption(new Option('--log-level <level>', 'least level to log').choices(logLevels).default('info'))
    .option('--once [target]', 'check every target, or this one, once, and print what came of it')
    .action(async ({ once, ...options }) => {
      // Only these two need the daemon's parts, which take longer to load than a check takes.
      const { run, runOnce } = await import('./daemon.ts');
      finish(once === undefined ? await run(options, world) : await runOnce({ ...options, once }, world));
    });

  program
    .command('health')
    .description('ask the running daemon whether its parts make progress')
    .addOption(configOption)
    .option('--ready', 'ask whether it takes requests instead')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExit code: 0 healthy, 1 not healthy or no answer, 2 wrong usage.')
    .action(async (options) => {
      const { health } = await import('./health.ts');
      finish(await health(options, world));
    });

  addCheckCommands(program, world, finish);
  addControlCommands(program, configOption, world, finish);

  const config = program.command('config').description('look at a configuration without running it');
  config
    .command('check')
    .description('report every mistake with its file, line and column')
    .addOption(configOption)
    .action(async (options) => finish(await checkConfig(options, world)));
  config
    .command('plan')
    .description('tell what it will cost: checks, disk, Prometheus series')
    .addOption(configOption)
    .action(async (options) => finish(await planConfig(options, world)));
  config
    .command('schema')
    .description('print the JSON Schema of the configuration for editors')
    .option('--webhook', 'that of the body of a webhook instead')
    .action((options) => finish(printSchema(options, world)));

  addAlertCommands(program, configOption, world, finish);
  addNodeCommands(program, configOption, world, finish);
  addImportCommands(program, world, finish);
  return program;
}
