import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Command, Option } from 'commander';
import { endsWithin, systemClock } from '#kernel/clock.ts';
import { messageOf, WatchpostError } from '#kernel/errors.ts';
import { sha256 } from '#kernel/hash.ts';
import { systemRandom } from '#kernel/random.ts';
import { isWebUrl } from '#kernel/url.ts';
import { callUntilHeard } from './beat-call.ts';
import { runCommand } from './beat-command.ts';
import { jsonText } from '../shared/json.ts';
import { durationOf } from '../shared/option-values.ts';
import type { CommandContext } from '../shared/command-context.ts';

const startMs = 2_000;
const usualFolder = '/etc/watchpost/beats';
// About 190 bits.
const secretLength = 32;

/** Commands about jobs that call. */
export function addBeatCommands(program: Command, context: CommandContext, finish: (code: number) => void): void {
  const beat = program
    .command('beat')
    .description('heartbeats: create a secret, or run a command and report how it ended');
  beat
    .command('new')
    .description('make a secret for a job, and print its address and what the configuration takes')
    .argument('<name>', 'the name of the target')
    .option('--url <url>', 'the address of Watchpost, as http.public_url', 'https://status.example.com')
    .option('--json', 'print JSON: name, address and secret_hash')
    .action((name: string, { url, json = false }: { readonly url: string; readonly json?: boolean }) => {
      const secret = systemRandom.id(secretLength);
      const made = { name, address: addressWith(secret, url), secret_hash: sha256(secret) };
      context.print(json ? jsonText(made) : newBeat(made));
    });
  beat
    .command('run', { isDefault: true })
    .description('run a command, report its start and its end, and exit with its code')
    .argument('<job>', `the address of the job, or the name of a file in ${usualFolder} that holds it`)
    .argument('<command...>', 'the command and its arguments, after --')
    .addOption(
      new Option('--beats <folder>', 'where files with addresses lie').env('WATCHPOST_BEATS').default(usualFolder),
    )
    .addOption(
      new Option('--try-for <duration>', 'how long to retry the final ping')
        .argParser(durationOf)
        .default(300_000, '5m'),
    )
    .passThroughOptions()
    .addHelpText('after', '\nExit code: that of the command, even if the ping fails.')
    .action(async (job: string, command: readonly string[], options: RunOptions) =>
      finish(await beatAround(await addressOf(job, options.beats), withoutDashes(command), options.tryFor, context)),
    );
}

const withoutDashes = (command: readonly string[]) => (command[0] === '--' ? command.slice(1) : command);

interface RunOptions {
  readonly beats: string;
  readonly tryFor: number;
}

interface BeatSecret {
  readonly name: string;
  readonly address: string;
  readonly secret_hash: string;
}

function addressWith(secret: string, url: string): string {
  return `${url.replace(/\/+$/, '')}/beat/${secret}`;
}

function newBeat({ name, address, secret_hash }: BeatSecret): string {
  return [
    '# the job calls this address, which is as good as a password',
    address,
    '',
    '# under targets',
    `${name}: { check: heartbeat, every: 1d, grace: 1h, secret_hash: ${secret_hash} }`,
    '',
  ].join('\n');
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
