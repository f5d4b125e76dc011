import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { endsWithin, systemClock } from '#kernel/clock.ts';
import { messageOf, WatchpostError } from '#kernel/errors.ts';
import { systemRandom } from '#kernel/random.ts';
import { isWebUrl } from '#kernel/web-url.ts';
import { callUntilHeard } from './beat-call.ts';
import { runCommand } from './beat-command.ts';
import type { CommandContext } from '../shared/command-context.ts';

export interface RunBeatOptions {
  /** The address of the job, or the name of a file that holds it. */
  readonly job: string;
  /** The command and its arguments, also with `--` before them. */
  readonly command: readonly string[];
  /** The folder of files with addresses. */
  readonly beats: string;
  /** How long to retry the final ping, in milliseconds. */
  readonly tryFor: number;
}

const startMs = 2_000;

/** Runs a command, reports its start and its end, and gives its exit code. */
export async function runBeat(
  { job, command, beats, tryFor }: RunBeatOptions,
  context: CommandContext,
): Promise<number> {
  const isSeparated = command[0] === '--';
  const [word = ''] = command;
  if (!isSeparated && word.startsWith('-'))
    throw new WatchpostError(
      'usage',
      `${word} stands where the command should be: options come before the job, watchpost beat ${word} ... JOB -- COMMAND`,
    );
  return beatAround(await addressOf(job, beats), isSeparated ? command.slice(1) : command, tryFor, context);
}

async function addressOf(job: string, folder: string): Promise<string> {
  if (isWebUrl(job)) return job;
  const file = join(folder, job);
  let text: string;
  try {
    text = (await readFile(file, 'utf8')).trim();
  } catch (error) {
    throw new WatchpostError('usage', `no address for ${job}: cannot read ${file}: ${messageOf(error)}`);
  }
  if (!isWebUrl(text))
    throw new WatchpostError(
      'usage',
      `${file} does not hold an address such as https://status.example.com/beat/SECRET`,
    );
  return text;
}

// The command never waits for Watchpost: not to begin, and after its end for a bounded time only.
async function beatAround(
  url: string,
  [command = '', ...args]: readonly string[],
  triesForMs: number,
  context: CommandContext,
): Promise<number> {
  if (command === '') throw new WatchpostError('usage', 'there is no command after --');
  const begun = new AbortController();
  const call = { url, run: systemRandom.id(16), triesForMs, clock: systemClock };
  const start = callUntilHeard({ what: 'start', body: '' }, { ...call, signal: begun.signal });
  const { exitCode, tail } = await runCommand(command, args, context);
  // Without its start the end has no duration, but the command must not wait long for that.
  await endsWithin(
    start.then(() => {}),
    systemClock,
    startMs,
  );
  begun.abort(new Error('the run has ended'));
  const why = await callUntilHeard({ what: String(exitCode), body: tail }, { ...call, signal: context.stop });
  const whyNoStart = await start;
  if (why !== null) context.printError(`watchpost: cannot report the end of this run: ${why}\n`);
  else if (whyNoStart !== null)
    context.printError(`watchpost: cannot report the start of this run, so it has no duration: ${whyNoStart}\n`);
  return exitCode;
}
