import { parseDuration } from '#kernel/units.ts';
import { reportFailure } from '../shared/report-failure.ts';
import type { CommandContext } from '../shared/command-context.ts';
import { beatDefaults } from './beat-defaults.ts';
import { inFull } from './short-form.ts';
import { runBeat, type RunBeatOptions } from './run-beat.ts';

/**
 * `watchpost beat JOB -- command` without what other commands need, which would be in memory for as long as the command runs. Null,
 * with nothing done, if the arguments need a second look: other commands, help, or mistakes.
 */
export async function plainBeat(args: readonly string[], context: CommandContext): Promise<number | null> {
  const options = optionsIn(args, context);
  if (options === null) return null;
  try {
    return await runBeat(options, context);
  } catch (error) {
    return reportFailure(error, context);
  }
}

function optionsIn(args: readonly string[], { env }: Pick<CommandContext, 'env'>): RunBeatOptions | null {
  const [, name, ...words] = inFull(['beat', ...args]);
  if (name !== 'run') return null;
  let beats = env[beatDefaults.beatsVariable] ?? beatDefaults.beats;
  let tryFor: number | null = beatDefaults.tryFor;
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (!word.startsWith('-')) return words.length === 0 ? null : { job: word, command: words, beats, tryFor };
    const [, option, value = words.shift()] = /^(--beats|--try-for)(?:=(.*))?$/s.exec(word) ?? [];
    if (option === undefined || value === undefined) return null;
    if (option === '--beats') beats = value;
    else tryFor = parseDuration(value);
    if (tryFor === null) return null;
  }
  return null;
}
