import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { plainBeat } from '#cli/beat/plain-beat.ts';
import { commandHere, type Ended } from '../../support/command.ts';
import { silentContext } from '../../support/silent-context.ts';

let folder = '';

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'watchpost-beats-'));
  writeFileSync(join(folder, 'backup'), 'http://127.0.0.1:1/beat/secret\n');
  writeFileSync(join(folder, 'broken'), 'backup\n');
});
afterAll(() => rmSync(folder, { recursive: true }));

// Where commander looks for it.
beforeEach(() => vi.stubEnv('WATCHPOST_BEATS', folder));

async function plain(args: readonly string[]): Promise<Ended | null> {
  let [out, err] = ['', ''];
  const code = await plainBeat(args, {
    ...silentContext(),
    env: { WATCHPOST_BEATS: folder },
    print: (text) => void (out += text),
    printError: (text) => void (err += text),
  });
  return code === null ? null : { code, out, err };
}

const inFolder = (args: readonly string[]) => args.map((word) => word.replace('FOLDER', folder));

test.each([
  ['a job of the folder', ['--try-for', '0s', 'backup', '--', 'sh', '-c', 'exit 3']],
  ['an address', ['--try-for=0s', 'http://127.0.0.1:1/beat/secret', '--', 'true']],
  ['without --', ['--try-for=0ms', 'backup', 'sh', '-c', 'exit 4']],
  ['in full', ['run', '--try-for', '0s', 'backup', '--', 'false']],
  ['in full, with a job that has the name of another command', ['run', '--beats=/nowhere', 'run', '--', 'true']],
  ['in full, with a job that has the name of the other command', ['run', '--try-for', '0s', 'new', '--', 'true']],
  ['an option, and a job that has the name of the other command', ['--try-for', '0s', 'new', '--', 'true']],
  ['another folder', ['--beats', '/nowhere', 'backup', '--', 'true']],
  ['the last of two folders', ['--beats=/nowhere', '--beats', 'FOLDER', '--try-for', '0s', 'backup', '--', 'true']],
  ['an empty name of a folder', ['--beats=', 'no-such-job', '--', 'true']],
  ['a file that holds no address', ['broken', '--', 'true']],
  ['an empty name', ['', '--', 'true']],
  ['no command after --', ['backup', '--']],
  ['an empty command', ['backup', '--', '']],
  ['a command that is not there', ['--try-for', '0s', 'backup', '--', 'no-such-command-anywhere']],
  [
    'an option behind the job, where the command should be',
    ['--try-for', '0s', 'backup', '--try-for', '1s', '--', 'true'],
  ],
  ['two times --', ['--try-for', '0s', 'backup', '--', '--', 'true']],
  ['options of the command, in full', ['run', '--try-for', '0s', 'backup', '--', 'sh', '--help']],
  ['a command that is asked for its help', ['--try-for', '0s', 'backup', '--', 'sh', '-c', 'echo "$0"; exit 3', '-h']],
  ['the same without --', ['--try-for', '0s', 'backup', 'sh', '-c', 'echo "$0"; exit 3', '--help']],
  ['a command that begins like an option', ['--try-for', '0s', 'backup', '--', '--no-such-command']],
])('it does the same as with all commands loaded: %s', async (_, words) => {
  const args = inFolder(words);
  const ended = await plain(args);
  expect(ended).not.toBeNull();
  expect(ended).toEqual(await commandHere(['beat', ...args]));
});

test.each([
  ['nothing', []],
  ['no command', ['backup']],
  ['help', ['--help']],
  ['help, before the job', ['--try-for', '1s', '-h', 'backup', '--', 'true']],
  ['help, as a command', ['help', 'run']],
  ['another command', ['new', 'backup']],
  ['another command with its options', ['new', 'backup', '--url', 'https://status.example.com']],
  ['-- before the job', ['--', 'backup', 'true']],
  ['an unknown option', ['--bets', '/etc', 'backup', '--', 'true']],
  ['an unknown option, and help among the words of the command', ['--bets', '/etc', 'backup', '--', 'df', '-h']],
  ['an unknown option with a value', ['--bets=/etc', 'backup', '--', 'true']],
  ['a duration without its unit', ['--try-for', '5', 'backup', '--', 'true']],
  ['an option without its value', ['--try-for']],
  ['a wrong value and a right one', ['--try-for=x', '--try-for=1s', 'backup', '--', 'true']],
])('it leaves to the reader of all commands: %s', async (_, args) => {
  expect(await plain(args)).toBeNull();
});
