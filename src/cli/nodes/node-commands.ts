import { type Command, Option } from 'commander';
import { nodeFlag, nodeKeys, nodeVariable } from '#config/shape/node.ts';
import { logLevels } from '#kernel/log.ts';
import type { CommandContext } from '../shared/command-context.ts';

type Finish = (code: number) => void;

/** Commands of nodes on other machines. What they need is loaded only if they run. */
export function addNodeCommands(program: Command, configOption: Option, context: CommandContext, finish: Finish): void {
  const node = program
    .command('node')
    .description('run a node that serves a hub through NATS, until SIGTERM; ends with 77 when it was revoked')
    .option('-c, --config <path>', 'a YAML file of its settings')
    .addOption(new Option('--log-level <level>', 'least level to log').choices(logLevels).default('info'));
  for (const { key, description } of nodeKeys) {
    // A key on the command line can be read by every user of the machine.
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
    const { runNode } = await import('./node.ts');
    finish(await runNode({ config, logLevel, settings }, context));
  });

  const load = async () => import('./nodes.ts');
  const nodes = program.command('nodes').description('enrol, list, rename and revoke nodes on other machines');
  const enrolment = (name: string, description: string) =>
    nodes
      .command(name)
      .description(description)
      .addOption(configOption)
      .option('--pid-file <path>', 'the process id file of nats-server, which is signalled to reload the list')
      .option('--reload-command <command>', 'the command that makes nats-server reload the list')
      .option('--json', 'print JSON');
  enrolment('init', "create the hub's key and the list for nats-server")
    .option('--hub <name>', 'one of several hubs, for a key of its own')
    .action(async (options) => finish(await (await load()).initNodes(options, context)));
  enrolment('add <name>', 'create a key for a node and print, once, what to run there')
    .option('--location <place>', 'country code, country and city: us,USA,"Los Angeles"')
    .option('--asn <number>', 'number of the network: AS64500')
    .option('--ip <address>', 'public address of the node')
    .option('--write-seed <path>', 'write the key to this new file instead of printing it')
    .action(async (name: string, options) => finish(await (await load()).addNode(name, options, context)));
  enrolment('revoke [name]', 'revoke a node, or the key of a hub')
    .option('--hub <name>', 'the hub whose own key is revoked')
    .option('--shared-key', 'revoke the key that hubs share')
    .action(async (name: string | undefined, options) =>
      finish(await (await load()).revokeNode(name, options, context)),
    );
  enrolment('rename <from> <to>', 'rename a node').action(async (from: string, to: string, options) =>
    finish(await (await load()).renameNode(from, to, options, context)),
  );
  nodes
    .command('list')
    .description('list enrolled nodes with their state')
    .addOption(configOption)
    .option('--json', 'print JSON')
    .action(async (options) => finish(await (await load()).listNodes(options, context)));
}
