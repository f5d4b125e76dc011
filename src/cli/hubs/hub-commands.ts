import type { Command, Option } from 'commander';
import type { CommandContext } from '../shared/command-context.ts';

/** Commands about several hubs with one history. What they need is loaded only when they run. */
export function addHubCommands(
  program: Command,
  configOption: Option,
  context: CommandContext,
  finish: (code: number) => void,
): void {
  const load = async () => import('./hubs.ts');
  const hubs = program
    .command('hubs')
    .description('show the hubs that share one history: which one leads, and how far each is')
    .addOption(configOption)
    .option('--json', 'print JSON')
    .action(async (options) => finish(await (await load()).listHubs(options, context)));
  hubs
    .command('yield')
    .description('make the hub that leads hand over to another one')
    .addOption(configOption)
    .option('--json', 'print JSON')
    .action(async (options) => finish(await (await load()).yieldLead(options, context)));
}
