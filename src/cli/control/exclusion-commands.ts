import { type Command, Option } from 'commander';
import type { CommandContext } from '../shared/command-context.ts';
import { timeZoneText } from '../shared/option-values.ts';

/** The commands about past time that does not count for uptime. */
export function addExclusionCommands(
  program: Command,
  configOption: Option,
  context: CommandContext,
  finish: (code: number) => void,
): void {
  const zoneOption = () =>
    new Option(
      '--timezone <zone>',
      'the time zone of times without an offset, such as Europe/Berlin; default: defaults.timezone of the configuration',
    ).argParser(timeZoneText);
  program
    .command('exclude')
    .description('exclude past time from the uptime of a target; incidents stay as they were')
    .argument('<target>', 'its name, or all')
    .argument(
      '<span>',
      'FROM..TO: 10:00..11:00 (the last such hours), 2026-11-01T22:00..2026-11-02T01:30, 2026-11-01..2026-11-02 (whole days)',
    )
    .argument('<reason>', 'why, shown wherever the uptime is explained')
    .addOption(zoneOption())
    .addOption(configOption)
    .option('--json', 'print JSON')
    .action(async (target, span, reason, options) => {
      const { addExclusion } = await import('./exclusions.ts');
      finish(await addExclusion(target, span, reason, options, context));
    });
  const exclusions = program.command('exclusions').description('list and remove exclusions from uptime');
  exclusions
    .command('list')
    .description('list time that does not count for uptime')
    .addOption(zoneOption())
    .addOption(configOption)
    .option('--json', 'print JSON')
    .action(async (options) => {
      const { listExclusions } = await import('./exclusions.ts');
      finish(await listExclusions(options, context));
    });
  exclusions
    .command('remove')
    .description('remove an exclusion: its time counts again')
    .argument('<id>', 'as the list shows it')
    .addOption(configOption)
    .option('--json', 'print JSON')
    .action(async (id, options) => {
      const { removeExclusion } = await import('./exclusions.ts');
      finish(await removeExclusion(id, options, context));
    });
}
