import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { createServer, type OutgoingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { sha256 } from '#kernel/hash.ts';
import { issue } from '../../support/certificates.ts';
import { mortal } from '../../support/children.ts';
import { command, commandHere, type Ended } from '../../support/command.ts';
import { serveHttps } from '../../support/http-servers.ts';
import { closedPort } from '../../support/tcp-servers.ts';
import { testedProgram } from '../../support/tested-program.ts';

const root = new URL('../../../', import.meta.url).pathname;

interface Heard {
  readonly what: string;
  readonly run: string | null;
  readonly body: string;
}

interface HubOptions {
  readonly headers?: OutgoingHttpHeaders;
  readonly port?: number;
}

/** A hub that answers as it is told, then 200. */
async function hub(answers: (heard: Heard) => number = () => 200, { headers, port = 0 }: HubOptions = {}) {
  const heard: Heard[] = [];
  const server = createServer((request, reply) => {
    void text(request).then((body) => {
      const { pathname, searchParams } = new URL(request.url ?? '', 'http://hub');
      const call = { what: pathname.replace('/beat/secret', ''), run: searchParams.get('rid'), body };
      heard.push(call);
      reply.writeHead(answers(call), headers).end('OK\n');
    });
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    heard,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/beat/secret`,
    whats: () => heard.map(({ what }) => what),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

test('a command is told to begin and to end, with its exit code and the end of what it wrote', async () => {
  await using there = await hub();
  const script = 'echo one; echo two >&2; exit 3';
  const ended = await command(['beat', there.url, '--', 'sh', '-c', script]);
  expect(ended).toEqual({ code: 3, out: 'one\n', err: 'two\n' });
  expect(there.whats()).toEqual(['/start', '/3']);
  expect(there.heard[1]?.body.trim().split('\n').toSorted()).toEqual(['one', 'two']);
  expect(there.heard[0]?.run).toMatch(/^[A-Za-z0-9]{16}$/);
  expect(there.heard[1]?.run).toBe(there.heard[0]?.run);
});

// As a process, which loads little for it, and here, where the reader of all commands has it.
test.each([
  ['--', []],
  ['no --', []],
  ['--', ['run']],
  ['--', ['--try-for=1m', '--beats', '/nowhere']],
])('a command that is asked for its help or version runs: %s, %j', async (separator, before) => {
  await using there = await hub();
  for (const word of ['-h', '--help', '-V', '--version']) {
    const words = [...(separator === '--' ? ['--'] : []), 'sh', '-c', 'echo "ran $0"; exit 3', word];
    expect(await command(['beat', ...before, there.url, ...words])).toEqual({ code: 3, out: `ran ${word}\n`, err: '' });
    expect(await commandHere(['beat', ...before, there.url, ...words])).toMatchObject({ code: 3, err: '' });
    expect(there.whats()).toEqual(['/start', '/3', '/start', '/3']);
    there.heard.length = 0;
  }
});

test.each([
  ['beat', '--help'],
  ['beat', '-h'],
  ['beat', 'help'],
  ['help', 'beat'],
  ['beat', 'run', '--help'],
  ['beat', 'new', '-h'],
  ['beat', '--try-for', '1m', '--help'],
])('help about it is shown by %s %s %s %s', async (...words) => {
  const shown = await command(words.filter((word) => word !== undefined));
  expect(shown).toMatchObject({ code: 0, err: '' });
  expect(shown.out).toMatch(/^Usage: watchpost beat/);
});

test('an option behind the job is not taken for the command', async () => {
  await using there = await hub();
  const ended = await command(['beat', there.url, '--try-for', '5m', '--', 'true']);
  expect(ended.code).toBe(2);
  expect(ended.err).toContain('--try-for stands where the command should be: options come before the job');
  expect(there.heard).toEqual([]);
});

// Each printed help or the version, ended with 0, and ran nothing.
test.each([
  [['beat', '--try-fro', '5m', 'JOB', '--', 'echo', '-h'], '--try-fro'],
  [['beat', '--try-fro', '5m', 'JOB', 'echo', '-h'], '--try-fro'],
  [['beat', 'run', '--try-fro', '5m', 'JOB', '--', 'echo', '--help'], '--try-fro'],
  [['--config', 'x.yaml', 'beat', 'JOB', '--', 'echo', '-h'], '--config'],
  [['--config', 'x.yaml', 'beat', 'JOB', 'echo', '--help'], '--config'],
  [['--config', 'x.yaml', 'beat', 'JOB', 'echo', '-V'], '--config'],
])('a wrong option is reported, not the help that the command is asked for: %j', async (words, option) => {
  await using there = await hub();
  const { code, out, err } = await command(words.map((word) => (word === 'JOB' ? there.url : word)));
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err.match(/^unknown option '.*'$/gm)).toEqual([`unknown option '${option}'`]);
  expect(there.heard).toEqual([]);
});

test('without arguments it says what is missing', async () => {
  const { code, out, err } = await command(['beat']);
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err).toBe("missing required argument 'job'\nmissing required argument 'command'\n");
});

test('options of the command are its own, and without -- too', async () => {
  await using there = await hub();
  expect(await command(['beat', there.url, 'printf', '%s', '--try-for'])).toEqual({
    code: 0,
    out: '--try-for',
    err: '',
  });
});

test('a command that a signal ends has the exit code that a shell gives it', async () => {
  await using there = await hub();
  const { code } = await command(['beat', there.url, '--', 'sh', '-c', 'echo working; kill -9 $$']);
  expect(code).toBe(137);
  expect(there.heard.at(-1)).toMatchObject({ what: '/137', body: 'working\n\nended by SIGKILL' });
});

test('a signal goes on to the command, whose end is told', async () => {
  await using there = await hub();
  const script = 'trap "echo cleaning; exit 5" TERM; echo ready; while :; do sleep 0.05; done';
  const child = mortal(
    spawn(process.execPath, [testedProgram, 'beat', there.url, '--', 'sh', '-c', script], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'ignore'],
    }),
  );
  const output = text(child.stdout);
  await once(child.stdout, 'data');
  child.kill('SIGTERM');
  const [code] = (await once(child, 'exit')) as [number | null];
  expect(code).toBe(5);
  expect(there.heard.at(-1)).toMatchObject({ what: '/5', body: 'ready\ncleaning\n' });
  await output;
});

test('the exit code passes where nobody hears it', async () => {
  const gone = await hub();
  await gone[Symbol.asyncDispose]();
  const { code, out, err } = await command([
    'beat',
    '--try-for',
    '1s',
    gone.url,
    '--',
    'sh',
    '-c',
    'echo done; exit 4',
  ]);
  expect({ code, out }).toEqual({ code: 4, out: 'done\n' });
  expect(err).toMatch(/^watchpost: cannot report the end of this run: .*ECONNREFUSED/);
  expect(err).not.toContain('beat/secret');
});

test('the end is told again until it is heard, and an address that nobody knows is not tried again', async () => {
  let refusals = 0;
  await using busy = await hub(({ what }) => (what === '/0' && (refusals += 1) < 3 ? 503 : 200));
  expect((await commandHere(['beat', busy.url, '--', 'true'])).code).toBe(0);
  expect(busy.whats()).toEqual(['/start', '/0', '/0', '/0']);
  await using stranger = await hub(() => 404);
  const { code, err } = await commandHere(['beat', stranger.url, '--', 'true']);
  expect({ code, err }).toEqual({
    code: 0,
    err: 'watchpost: cannot report the end of this run: unknown address (404): check the secret in the URL\n',
  });
  expect(stranger.whats()).toEqual(['/start', '/0']);
});

test('a run whose beginning was refused has no duration, and that is told', async () => {
  await using there = await hub(({ what }) => (what === '/start' ? 404 : 200));
  expect(await command(['beat', there.url, '--', 'true'])).toEqual({
    code: 0,
    out: '',
    err: 'watchpost: cannot report the start of this run, so it has no duration: unknown address (404): check the secret in the URL\n',
  });
  expect(there.whats()).toEqual(['/start', '/0']);
});

test('a command that is not there is a failing run', async () => {
  await using there = await hub();
  const { code, err } = await command(['beat', there.url, '--', 'no-such-command-anywhere']);
  expect(code).toBe(127);
  expect(err).toContain('cannot run no-such-command-anywhere');
  expect(there.whats().at(-1)).toBe('/127');
});

test('a name stands for a file with the address', async () => {
  await using there = await hub();
  await using beats = await mkdtempDisposable(join(tmpdir(), 'watchpost-beats-'));
  const folder = beats.path;
  await writeFile(join(folder, 'backup'), `${there.url}\n`);
  expect((await commandHere(['beat', '--beats', folder, 'backup', '--', 'true'])).code).toBe(0);
  expect(there.whats()).toEqual(['/start', '/0']);
  const { code, err } = await commandHere(['beat', '--beats', folder, 'other', '--', 'true']);
  expect(code).toBe(2);
  expect(err).toContain('no address for other: cannot read');
});

/** The real program with these variables. */
async function commandWith(variables: NodeJS.ProcessEnv, args: readonly string[]): Promise<Ended> {
  const child = mortal(
    spawn(process.execPath, [testedProgram, ...args], {
      cwd: root,
      env: { ...process.env, NODE_NO_WARNINGS: '1', ...variables },
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  );
  const closed = once(child, 'close');
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  await closed;
  return { code: child.exitCode, out, err };
}

test('the folder of addresses can be in the environment, and an option goes before it', async () => {
  await using there = await hub();
  await using beats = await mkdtempDisposable(join(tmpdir(), 'watchpost-beats-'));
  const folder = beats.path;
  await writeFile(join(folder, 'backup'), `${there.url}\n`);
  const well = { code: 0, out: 'well\n', err: '' };
  const usual = ['backup', '--', 'echo', 'well'];
  expect(await commandWith({ WATCHPOST_BEATS: folder }, ['beat', 'run', ...usual])).toEqual(well);
  expect(await commandWith({ WATCHPOST_BEATS: '/nowhere' }, ['beat', `--beats=${folder}`, ...usual])).toEqual(well);
  expect(there.whats()).toEqual(['/start', '/0', '/start', '/0']);
  expect(await commandWith({ WATCHPOST_BEATS: '/nowhere' }, ['beat', ...usual])).toEqual({
    code: 2,
    out: '',
    err: expect.stringMatching(/^no address for backup: cannot read \/nowhere\/backup: ENOENT/),
  });
});

test('mistakes and help are those of all commands, and nothing is run', async () => {
  await using there = await hub();
  for (const args of [['--try-fro', '1s', there.url, '--', 'echo', 'ran'], [there.url], ['run', '--help'], ['help']]) {
    const { code, out, err } = await commandHere(['beat', ...args]);
    expect(await command(['beat', ...args])).toEqual({ code, out, err });
  }
  const { code, err } = await command(['beat', '--try-fro', '1s', there.url, 'true']);
  expect({ code, err }).toEqual({ code: 2, err: "unknown option '--try-fro'\n(Did you mean --try-for?)\n" });
  expect(there.heard).toEqual([]);
});

test('a hub that is away is told once it is back', async () => {
  const port = await closedPort();
  const child = mortal(
    spawn(process.execPath, [testedProgram, 'beat', `http://127.0.0.1:${port}/beat/secret`, '--', 'echo', 'done'], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  );
  const errors = text(child.stderr);
  const [output] = (await once(child.stdout, 'data')) as [Buffer];
  expect(output.toString()).toBe('done\n');
  await using there = await hub(() => 200, { port });
  const [code] = (await once(child, 'exit')) as [number | null];
  expect(code).toBe(0);
  expect(there.heard.at(-1)).toMatchObject({ what: '/0', body: 'done\n' });
  expect(await errors).toMatch(/^(?:|watchpost: cannot report the start of this run.*\n)$/);
});

test('a hub that has moved, or asks to come again, hears of the run all the same', async () => {
  await using there = await hub();
  await using before = await hub(() => 307, { headers: { location: `${there.url}/0` } });
  expect(await command(['beat', before.url, '--', 'echo', 'done'])).toEqual({ code: 0, out: 'done\n', err: '' });
  expect(there.heard.at(-1)).toMatchObject({ what: '/0', body: 'done\n' });
  const headers = { 'retry-after': '1' };
  let refusals = 0;
  await using busy = await hub(({ what }) => (what === '/0' && (refusals += 1) < 2 ? 503 : 200), { headers });
  expect(await command(['beat', '--try-for', '1m', busy.url, '--', 'true'])).toEqual({ code: 0, out: '', err: '' });
  expect(busy.whats()).toEqual(['/start', '/0', '/0']);
  await using full = await hub(({ what }) => (what === '/0' ? 503 : 200), { headers });
  // It asks for a second.
  expect(await command(['beat', '--try-for', '900ms', full.url, '--', 'true'])).toEqual({
    code: 0,
    out: '',
    err: 'watchpost: cannot report the end of this run: it answered 503\n',
  });
  expect(full.whats()).toEqual(['/start', '/0']);
});

test('certificates are checked even if the environment has Node check none', async () => {
  await using secure = await serveHttps(await issue({ ips: ['127.0.0.1'] }), (_, response) => response.end());
  const url = `https://127.0.0.1:${secure.port}/beat/secret`;
  const args = ['beat', '--try-for', '0s', url, '--', 'true'];
  expect(await commandWith({ NODE_TLS_REJECT_UNAUTHORIZED: '0' }, args)).toEqual({
    code: 0,
    out: '',
    err: 'watchpost: cannot report the end of this run: self-signed certificate\n',
  });
});

test('a new secret comes with its hash', async () => {
  const { code, out } = await commandHere(['beat', 'new', 'backup', '--url', 'https://status.example.com/']);
  expect(code).toBe(0);
  const [, secret = ''] = /^https:\/\/status\.example\.com\/beat\/([A-Za-z0-9]{32})$/m.exec(out) ?? [];
  expect(out).toContain(`backup: { check: heartbeat, every: 1d, grace: 1h, secret_hash: ${sha256(secret)} }`);
});
