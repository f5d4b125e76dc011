import { Command, CommanderError, Option } from 'commander';
import { nodeFlag, nodeKeys, nodeVariable } from '#config/node.ts';
import { messageOf, WatchpostError } from '#kernel/errors.ts';
import { logLevels } from '#kernel/log.ts';
import { checkConfig, printSchema } from './config.ts';
import { runNode } from './node.ts';
import { addNode, initNodes, listNodes, renameNode, revokeNode } from './nodes.ts';
import { run } from './run.ts';
import type { World } from './world.ts';

const defaultConfig = '/config/watchpost.yaml';

/** Runs the command that the arguments name and gives the exit code: 0 done, 1 failed, 2 wrong input, 77 revoked. */
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
    .action(() => finish(printSchema(world)));
  addNodeCommands(program, configOption, world, finish);
  return program;
}

type Finish = (code: number) => void;

function addNodeCommands(program: Command, configOption: Option, world: World, finish: Finish): void {
  const node = program
    .command('node')
    .description('run a node that serves a hub through NATS, until SIGTERM; ends with 77 when it was revoked')
    .option('-c, --config <path>', 'a YAML file of its settings')
    .addOption(new Option('--log-level <level>', 'least level to log').choices(logLevels).default('info'));
  for (const { key, description } of nodeKeys) {
    // A key on the command line is a key that everybody on the machine can read.
    const value = key === 'allow_private' ? '' : ' <value>';
    if (key !== 'seed') node.option(`${nodeFlag(key)}${value}`, `${description} (or ${nodeVariable(key)})`);
  }
  node.action(async ({ config, logLevel, ...flags }) => {
    const settings = Object.fromEntries(
      nodeKeys.flatMap(({ key }) => {
        const value: string | boolean | undefined =
          flags[key.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase())];
        return value === undefined ? [] : [[key, String(value)]];
      }),
    );
    finish(await runNode({ config, logLevel, settings }, world));
  });

  const nodes = program
    .command('nodes')
    .description('enrol nodes on other machines, list them, take their rights away');
  const enrolment = (name: string, description: string) =>
    nodes
      .command(name)
      .description(description)
      .addOption(configOption)
      .option('--pid-file <path>', 'where nats-server keeps its process id: it is told to read the list again')
      .option('--reload-command <command>', 'what makes nats-server read the list again');
  enrolment('init', 'make the key of the hub and the list for nats-server').action(async (options) =>
    finish(await initNodes(options, world)),
  );
  enrolment('add <name>', 'make a key for a node and print, once, what to run there')
    .option('--location <place>', 'country code, country and city: us,USA,"Los Angeles"')
    .option('--asn <number>', 'number of the network: AS64500')
    .option('--ip <address>', 'public address of the node')
    .action(async (name: string, options) => finish(await addNode(name, options, world)));
  enrolment('revoke <name>', 'take the rights of a node away').action(async (name: string, options) =>
    finish(await revokeNode(name, options, world)),
  );
  enrolment('rename <from> <to>', 'give a node another name').action(async (from: string, to: string, options) =>
    finish(await renameNode(from, to, options, world)),
  );
  nodes
    .command('list')
    .description('show the enrolled nodes and how they are')
    .addOption(configOption)
    .action(async (options) => finish(await listNodes(options, world)));
}
