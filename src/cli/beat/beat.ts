import { type Command, Option } from 'commander';
import { sha256 } from '#kernel/hash.ts';
import { systemRandom } from '#kernel/random.ts';
import { formatDuration } from '#kernel/units.ts';
import { jsonText } from '../shared/json.ts';
import { durationOf } from '../shared/option-values.ts';
import type { CommandContext } from '../shared/command-context.ts';
import { beatDefaults } from './beat-defaults.ts';
import type { RunBeatOptions } from './run-beat.ts';

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
    .argument('<job>', `the address of the job, or the name of a file in ${beatDefaults.beats} that holds it`)
    .argument('<command...>', 'the command and its arguments, after --')
    .addOption(
      new Option('--beats <folder>', 'where files with addresses lie')
        .env(beatDefaults.beatsVariable)
        .default(beatDefaults.beats),
    )
    .addOption(
      new Option('--try-for <duration>', 'how long to retry the final ping')
        .argParser(durationOf)
        .default(beatDefaults.tryFor, formatDuration(beatDefaults.tryFor)),
    )
    .passThroughOptions()
    .addHelpText('after', '\nExit code: that of the command, even if the ping fails.')
    .action(async (job: string, command: readonly string[], options: Pick<RunBeatOptions, 'beats' | 'tryFor'>) => {
      const { runBeat } = await import('./run-beat.ts');
      finish(await runBeat({ job, command, ...options }, context));
    });
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
