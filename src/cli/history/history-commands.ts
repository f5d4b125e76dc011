import { type Command, Option } from 'commander';
import { momentText, monthText, pastMoment, timeZoneText } from '../shared/option-values.ts';
import type { CommandContext } from '../shared/command-context.ts';

/** The commands that read the history in the database, and look after its file. The daemon may run meanwhile, and need not. */
export function addHistoryCommands(
  program: Command,
  configOption: Option,
  context: CommandContext,
  finish: (code: number) => void,
): void {
  const status = program
    .command('status')
    .description('show every target as it is now, with its uptime and times')
    .addOption(configOption)
    .option('--json', 'print JSON')
    .action(async (options) => {
      const { printStatus } = await import('../control/status.ts');
      finish(await printStatus(options, context));
    });
  addNoteCommands(status, configOption, context, finish);
  program
    .command('history')
    .description('show how a target was')
    .argument('<target>', 'its name')
    .addOption(configOption)
    .option(
      '--since <when>',
      'from when: a duration such as 30d, or a date such as 2026-10-01; default: 24h',
      pastMoment,
    )
    .option('--until <when>', 'until when: a duration ago, or a date; default: now', pastMoment)
    .addOption(new Option('--by <step>', 'a line for each of these').choices(['hour', 'day', 'week', 'node']))
    .option('--node <name>', 'as this node saw it')
    .addOption(new Option('--json', 'print JSON').conflicts('csv'))
    .option('--csv', 'print CSV')
    .action(async (target, options) => {
      const { printHistory } = await import('./history.ts');
      finish(await printHistory(target, options, context));
    });
  program
    .command('report')
    .description('report how all targets were in a month')
    .addOption(configOption)
    .option(
      '--month <month>',
      'the month, such as 2026-10; default: the last one, or this one if that is empty',
      monthText,
    )
    .addOption(
      new Option('--timezone <zone>', 'the time zone in which the month begins and ends, such as Europe/Berlin')
        .default('UTC')
        .argParser(timeZoneText),
    )
    .addOption(new Option('--format <format>', 'how').choices(['text', 'csv', 'html', 'json']).default('text'))
    .addOption(new Option('--json', 'print JSON, as --format json').conflicts('format'))
    .action(async ({ json, ...options }) => {
      const { printReport } = await import('./report.ts');
      finish(await printReport({ ...options, ...(json === true ? { format: 'json' } : {}) }, context));
    });
  program
    .command('backup')
    .description('copy the database; the daemon keeps running')
    .argument('<file>', 'a file that is not there yet')
    .addOption(configOption)
    .option('--json', 'print JSON')
    .action(async (file, options) => {
      const { backUpDatabase } = await import('./database.ts');
      finish(await backUpDatabase(file, options, context));
    });
  program
    .command('db')
    .description('check the database')
    .command('check')
    .description('check the database, or a copy of it, for damage')
    .argument('[file]', 'another file, such as a backup')
    .addOption(configOption)
    .option('--json', 'print JSON')
    .action(async (file, options) => {
      const { checkDatabase } = await import('./database.ts');
      finish(await checkDatabase(file, options, context));
    });
}

function addNoteCommands(
  status: Command,
  configOption: Option,
  context: CommandContext,
  finish: (code: number) => void,
): void {
  status
    .command('post')
    .description('add a note to a status page; it is public')
    .argument('<words>', 'the text')
    .option('--page <name>', 'on which page', 'status')
    .addOption(
      new Option('--stage <stage>', 'how far you are with an incident').choices([
        'investigating',
        'identified',
        'monitoring',
        'resolved',
      ]),
    )
    .option('--targets <names>', 'the targets that it is about, separated by commas')
    .option('--thread <id>', 'an earlier note that this one continues')
    .option(
      '--until <time>',
      'when it is removed: 2026-12-24T22:00, with Z or an offset for another zone than this machine',
      momentText,
    )
    .addOption(configOption)
    .option('--json', 'print JSON')
    .action(async (words, options) => {
      const { postNote } = await import('../control/notes.ts');
      finish(await postNote(words, options, context));
    });
  status
    .command('notes')
    .description('list notes on status pages')
    .addOption(configOption)
    .option('--json', 'print JSON')
    .action(async (options) => {
      const { listNotes } = await import('../control/notes.ts');
      finish(await listNotes(options, context));
    });
  status
    .command('subscribers')
    .description('list who gets mails about status pages')
    .option('--page <name>', 'of which page; all pages without it')
    .addOption(configOption)
    .option('--json', 'print JSON')
    .action(async (options) => {
      const { listSubscribers } = await import('../control/subscribers.ts');
      finish(await listSubscribers(options, context));
    });
  status
    .command('unsubscribe')
    .description('remove a subscriber of status pages')
    .argument('<who>', 'an id, as the list shows it, or a mail address for all pages')
    .addOption(configOption)
    .option('--json', 'print JSON')
    .action(async (who, options) => {
      const { removeSubscriber } = await import('../control/subscribers.ts');
      finish(await removeSubscriber(who, options, context));
    });
  status
    .command('remove')
    .description('remove a note from a status page')
    .argument('<id>', 'as the list shows it')
    .addOption(configOption)
    .option('--json', 'print JSON')
    .action(async (id, options) => {
      const { removeNote } = await import('../control/notes.ts');
      finish(await removeNote(id, options, context));
    });
}
