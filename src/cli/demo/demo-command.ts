import { type Command, Option } from 'commander';
import { logLevels } from '#kernel/log.ts';
import { formatDuration } from '#kernel/units.ts';
import type { CommandContext } from '../shared/command-context.ts';
import { durationOf } from '../shared/option-values.ts';

export function addDemoCommand(program: Command, context: CommandContext, finish: (code: number) => void): void {
  program
    .command('demo')
    .description('watch three small servers in which an outage happens; nothing stays of it')
    .addOption(new Option('--listen <address>', 'where the pages are').default('127.0.0.1:8080'))
    .addOption(
      new Option('--outage-after <duration>', 'when the outage begins')
        .argParser(durationOf)
        .default(60_000, formatDuration(60_000)),
    )
    .addOption(new Option('--log-level <level>', 'least level to log').choices(logLevels).default('warn'))
    .action(async (options) => {
      const { demo } = await import('./demo.ts');
      finish(await demo(options, context));
    });
}
