import { type Command, Option } from 'commander';
import { WatchpostError } from '#kernel/errors.ts';
import type { CommandContext } from './command-context.ts';
import { placeFound, places } from './places.ts';

/** `--config`, which needs not be said if the configuration is in one of the usual places. */
export function configOption({ cwd }: Pick<CommandContext, 'cwd'>): Option {
  return new Option('-c, --config <path>', 'configuration file or folder').default(
    placeFound(cwd) ?? places[0],
    `the first of ${places.join(', ')} that exists`,
  );
}

/** Throws `config_invalid`, with the ways out, if the command needs a configuration and there is none. */
export function needsConfig(command: Command, { cwd }: Pick<CommandContext, 'cwd'>): void {
  // `db check FILE` reads that file only: there may be no configuration where copies are kept.
  if (command.parent?.name() === 'db' && command.args.length > 0) return;
  const isDefault = command.getOptionValueSource('config') === 'default';
  if (!isDefault || placeFound(cwd) !== undefined) return;
  const text = `there is no configuration: none of ${places.join(', ')}; name one with --config, or write a first one with "watchpost init"`;
  throw new WatchpostError('config_invalid', text);
}
