import { type Command, Option } from 'commander';
import { logLevels } from '#kernel/log.ts';
import type { CommandContext } from '../shared/command-context.ts';
import { needsConfig } from '../shared/default-config.ts';
import { createPatientCommand } from '../shared/mistakes.ts';

const examples = `
Examples:
  watchpost demo
  watchpost init
  watchpost check http https://example.com
  watchpost check ping example.com --service https://check.example.com
  watchpost config check --config watchpost.yaml
  watchpost run --config watchpost.yaml`;

/** The command line without its commands. */
export function createBareProgram(context: CommandContext): Command {
  const program = createPatientCommand('watchpost')
    .description('Uptime monitor and distributed check service.')
    .version(context.version)
    .exitOverride()
    .showSuggestionAfterError()
    // Options that stand after the name of a command are that command's own, also if one above it has some of the same name.
    .enablePositionalOptions()
    .configureOutput({ writeOut: context.print, writeErr: context.printError })
    .addHelpText('after', examples);
  program.hook('preAction', (_, command) => needsConfig(command, context));
  return program;
}

export function addRunCommand(
  program: Command,
  configOption: Option,
  context: CommandContext,
  finish: (code: number) => void,
): void {
  program
    .command('run')
    .description('watch the targets until SIGTERM')
    .addOption(configOption)
    .addOption(new Option('--log-level <level>', 'least level to log').choices(logLevels).default('info'))
    .option('--once [target]', 'check every target, or this one, once, and print what came of it')
    .option('--json', 'with --once: print JSON')
    .action(async ({ once, ...options }) => {
      // Only these two need the daemon's parts, which take longer to load than a check takes.
      const [{ run }, { runOnce }] = await Promise.all([import('./run.ts'), import('./run-once.ts')]);
      finish(once === undefined ? await run(options, context) : await runOnce({ ...options, once }, context));
    });
}
