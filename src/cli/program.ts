import { Command, CommanderError, Option } from 'commander';
import { messageOf, WatchpostError } from '#kernel/errors.ts';
import { logLevels } from '#kernel/log.ts';
import { testAlert } from './alert.ts';
import { checkConfig, printSchema } from './config.ts';
import { listDeliveries, retryDeliveries } from './deliveries.ts';
import { run } from './run.ts';
import type { World } from './world.ts';

const defaultConfig = '/config/watchpost.yaml';

/** Runs the command that the arguments name and gives the exit code: 0 done, 1 failed, 2 wrong input. */
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
    .configureOutput({ writeOut: world.print, writeErr: world.printError });
  const configOption = new Option('-c, --config <path>', 'configuration file or folder').default(defaultConfig);

  program
    .command('run')
    .description('run the daemon until SIGTERM')
    .addOption(configOption)
    .addOption(new Option('--log-level <level>', 'least level to log').choices(logLevels).default('info'))
    .action(async (options) => finish(await run(options, world)));

  const config = program.command('config').description('look at a configuration without running it');
  config
    .command('check')
    .description('report every mistake with its file, line and column')
    .addOption(configOption)
    .action(async (options) => finish(await checkConfig(options, world)));
  config
    .command('schema')
    .description('print the JSON Schema of the configuration for editors')
    .option('--webhook', 'that of the body of a webhook instead')
    .action((options) => finish(printSchema(options, world)));

  const deliveries = program.command('deliveries').description('look at the messages of the running daemon');
  deliveries
    .command('list')
    .description('list messages: those that are dead and those that wait')
    .addOption(configOption)
    .addOption(new Option('--state <state>', 'another state').choices(['dead', 'pending', 'sent', 'merged', 'all']))
    .option('--limit <count>', 'how many of each state at most', '100')
    .option('--json', 'print JSON')
    .action(async (options) => finish(await listDeliveries(options, world)));
  deliveries
    .command('retry')
    .description('try dead messages again')
    .argument('[number...]', 'numbers of messages, as the list shows them')
    .addOption(configOption)
    .option('--all', 'every dead one')
    .action(async (ids, options) => finish(await retryDeliveries(ids, options, world)));

  const alert = program.command('alert').description('try out how people are told');
  alert
    .command('test')
    .description('send a sample of each kind of message and print what the server answers')
    .argument('[notify]', 'a name under notify; default: all')
    .addOption(configOption)
    .option('--kind <kind>', 'one kind only, such as opened')
    .action(async (name, options) => finish(await testAlert(name, options, world)));
  return program;
}
