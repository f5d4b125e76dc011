import { type Command, Option } from 'commander';
import { deliveryNumbers } from '../shared/option-values.ts';
import type { CommandContext } from '../shared/command-context.ts';

/** The commands about notifications: sending tests, and retrying failed deliveries. */
export function addAlertCommands(
  program: Command,
  configOption: Option,
  context: CommandContext,
  finish: (code: number) => void,
): void {
  const deliveries = program.command('deliveries').description('look after the messages of the running daemon');
  deliveries
    .command('list')
    .description('list messages: those that are dead and those that wait')
    .addOption(configOption)
    .addOption(new Option('--state <state>', 'another state').choices(['dead', 'pending', 'sent', 'merged', 'all']))
    .option('--limit <count>', 'how many of each state at most', '100')
    .option('--json', 'print JSON')
    .action(async (options) => {
      const { listDeliveries } = await import('./deliveries.ts');
      finish(await listDeliveries(options, context));
    });
  deliveries
    .command('retry')
    .description('retry dead messages')
    .argument('[number...]', 'numbers of messages, as the list shows them', deliveryNumbers, [])
    .addOption(configOption)
    .option('--all', 'every dead one')
    .option('--json', 'print JSON')
    .action(async (ids, options) => {
      const { retryDeliveries } = await import('./deliveries.ts');
      finish(await retryDeliveries(ids, options, context));
    });

  program
    .command('alert')
    .description('send test notifications')
    .command('test')
    .description('send a sample of each kind of message and print what the server answers')
    .argument('[notify]', 'a name under notify; default: all')
    .addOption(configOption)
    .option('--kind <kind>', 'one kind only, such as opened')
    .option('--json', 'print JSON')
    .action(async (name, options) => {
      const { testAlert } = await import('./test-alert.ts');
      finish(await testAlert(name, options, context));
    });
}
