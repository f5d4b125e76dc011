import { parseArgs } from 'node:util';
import type { CommandContext } from '../shared/command-context.ts';
import { placeFound } from '../shared/places.ts';
import { reportFailure } from '../shared/report-failure.ts';
import { health } from './health.ts';

/**
 * `watchpost health` without what other commands need: containers run it every half minute, and loading the whole program takes as
 * much CPU as checking a hundred targets does in that time. Null, with nothing done, where the arguments need a second look: help,
 * mistakes, or no configuration.
 */
export async function plainHealth(args: readonly string[], context: CommandContext): Promise<number | null> {
  const options = optionsIn(args);
  const config = options?.config ?? placeFound(context.cwd);
  if (options === null || config === undefined) return null;
  try {
    return await health({ ...options, config }, context);
  } catch (error) {
    return reportFailure(error, context);
  }
}

function optionsIn(args: readonly string[]) {
  const options = {
    config: { type: 'string', short: 'c' },
    ready: { type: 'boolean' },
    json: { type: 'boolean' },
  } as const;
  try {
    return parseArgs({ args: [...args], options }).values;
  } catch {
    // The reader of all commands says what is wrong with them.
    return null;
  }
}
