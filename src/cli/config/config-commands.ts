import type { Command, Option } from 'commander';
import type { CommandContext } from '../shared/command-context.ts';
import { checkConfig, printConfig, printSchema } from './config.ts';
import { planConfig } from './plan.ts';

/** Commands that check, compare and print a configuration. */
export function addConfigCommands(
  program: Command,
  configOption: Option,
  context: CommandContext,
  finish: (code: number) => void,
): void {
  const config = program.command('config').description('check, compare and print a configuration');
  config
    .command('check')
    .description('report every mistake with its file, line and column')
    .addOption(configOption)
    .option('--json', 'print JSON')
    .action(async (options) => finish(await checkConfig(options, context)));
  config
    .command('plan')
    .description(
      'show what this configuration would change in the running daemon, and its cost: checks, disk, Prometheus series',
    )
    .addOption(configOption)
    .option('--all', 'show what stays the same, too')
    .option('--json', 'print JSON')
    .action(async (options) => finish(await planConfig(options, context)));
  config
    .command('print')
    .description('print the whole configuration with every default; secrets are masked')
    .addOption(configOption)
    .option('--json', 'print JSON')
    .action(async (options) => finish(await printConfig(options, context)));
  config
    .command('schema')
    .description('print the JSON Schema of the configuration for editors')
    .option('--webhook', 'print the schema of webhook bodies instead')
    .action((options) => finish(printSchema(options, context)));
}
