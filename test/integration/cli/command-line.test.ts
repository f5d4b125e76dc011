import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { shapesOf } from '#cli/shared/commands.ts';
import { exitCodes } from '#cli/shared/exit-codes.ts';
import { createProgram } from '#cli/program.ts';
import { commandHere } from '../../support/command.ts';
import { silentContext } from '../../support/silent-context.ts';
import { closedPort, tcpServer } from '../../support/tcp-servers.ts';

const shapes = shapesOf(createProgram(silentContext(), () => {}));
let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'watchpost-line-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('mistakes of a command line', () => {
  test('are told all at once, with what was meant', async () => {
    const args = ['check', 'ping', '--cuont', '1', '--policy', 'nix', '--max-nodes', '0', '127.0.0.1'];
    const { code, out, err } = await commandHere(args);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain("'--policy <policy>' argument 'nix' is invalid. Allowed choices are private, public.");
    expect(err).toContain("'--max-nodes <count>' argument '0' is invalid.");
    expect(err).toContain("unknown option '--cuont'\n(Did you mean --count?)");
    expect(err).not.toContain('too many');
  });

  test('are those of options that are missing, too', async () => {
    const { code, err } = await commandHere(['silence', 'add']);
    expect(code).toBe(2);
    for (const missing of ['--for <duration>', '--why <words>', "'target'"]) expect(err).toContain(missing);
  });

  test.each([
    { args: ['silence', 'add', 'shop', '--for', '5', '--from', 'tomorrow', '--why'], count: 3 },
    { args: ['history', 'shop', '--since', 'yesterday', '--until', 'never', '--by', 'minute'], count: 3 },
    { args: ['report', '--month', '2026-13', '--format', 'pdf'], count: 2 },
    { args: ['deliveries', 'retry', 'x', '1', 'y'], count: 2 },
    { args: ['deliveries', 'retry', '--stat', 'dead'], count: 1 },
    { args: ['status', 'post', 'x', '--until', 'tomorrow', '--pge', 'status'], count: 2 },
  ])('are those of values, too: $args', async ({ args, count }) => {
    const { code, err } = await commandHere(args);
    const mistakes = err.split('\n').filter((line) => line !== '' && !line.startsWith('('));
    expect({ code, mistakes: mistakes.length }, err).toEqual({ code: 2, mistakes: count });
  });
});

describe('help', () => {
  test('of every command is shown for a flag before --, and not for one after it', async () => {
    for (const { path } of shapes) {
      const words = [...path.split(' ').filter((word) => word !== ''), '--bogus'];
      for (const flag of ['-h', '--help']) {
        const after = await commandHere([...words, '--', flag]);
        expect({ code: after.code, out: after.out }, path).toEqual({ code: 2, out: '' });
        expect(after.err.match(/^unknown option .*$/gm), path).toEqual(["unknown option '--bogus'"]);
        const before = await commandHere([...words, flag, '--', 'word']);
        expect(before, path).toEqual({ code: 0, out: expect.stringMatching(/^Usage: watchpost/), err: '' });
      }
    }
  });

  test.each([
    ['baet backup df -h', 'baet', 'beat'],
    ['nodes lsit --help', 'lsit', 'list'],
  ])('is no answer to an unknown command: %s', async (line, wrong, right) => {
    const err = `unknown command '${wrong}'\n(Did you mean ${right}?)\n`;
    expect(await commandHere(line.split(' '))).toEqual({ code: 2, out: '', err });
  });

  test('of a command is shown among its other words', async () => {
    const { code, out } = await commandHere(['check', 'http', 'https://example.com', '--cuont', '1', '--help']);
    expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(/^Usage: watchpost check http/) });
  });
});

test('an option before the command is told where it belongs', async () => {
  const { code, out, err } = await commandHere(['--config', 'x.yaml', 'config', 'check']);
  expect({ code, out, err }).toEqual({
    code: 2,
    out: '',
    err: "unknown option '--config'\n(options of a command come after its name)\n",
  });
});

describe('without --config', () => {
  test('the configuration is found in the folder, and where there is none the ways out are named', async () => {
    const none = await commandHere(['config', 'check'], { cwd: folder });
    expect(none.code).toBe(2);
    expect(none.err).toMatch(/^there is no configuration: none of watchpost\.yaml, .*"watchpost init"\n$/);
    const made = await commandHere(['init'], { cwd: folder });
    expect(made).toMatchObject({ code: 0, err: '' });
    const child = spawnSync(
      process.execPath,
      [join(import.meta.dirname, '../../../src/watchpost.js'), 'config', 'check'],
      {
        cwd: folder,
        encoding: 'utf8',
      },
    );
    expect(child).toMatchObject({ status: 0, stdout: 'watchpost.yaml is good: 1 target on 1 node\n' });
  });

  test('it is found in config below the folder, as in a checkout', async () => {
    expect(await commandHere(['init', 'first.yaml'], { cwd: folder })).toMatchObject({ code: 0 });
    mkdirSync(join(folder, 'config'));
    renameSync(join(folder, 'first.yaml'), join(folder, 'config/watchpost.yaml'));
    const program = join(import.meta.dirname, '../../../src/watchpost.js');
    const child = spawnSync(process.execPath, [program, 'config', 'check'], { cwd: folder, encoding: 'utf8' });
    expect(child).toMatchObject({ status: 0, stdout: 'config/watchpost.yaml is good: 1 target on 1 node\n' });
  });

  test('init leaves a file that is there as it is', async () => {
    writeFileSync(join(folder, 'mine.yaml'), 'mine');
    const { code, err } = await commandHere(['init', 'mine.yaml'], { cwd: folder });
    expect({ code, err }).toEqual({ code: 2, err: 'mine.yaml: already exists; it was left as it is\n' });
    expect(readFileSync(join(folder, 'mine.yaml'), 'utf8')).toBe('mine');
  });
});

describe('completion', () => {
  const complete = (...words: readonly string[]) => {
    writeFileSync(join(folder, 'completion'), scripts.bash);
    const list = words.map((word) => `'${word}'`).join(' ');
    const script = `source "$1"; COMP_WORDS=(watchpost ${list}); COMP_CWORD=${words.length}; _watchpost; echo "\${COMPREPLY[@]}"`;
    return execFileSync('bash', ['-euc', script, 'bash', join(folder, 'completion')], { encoding: 'utf8' })
      .trim()
      .split(' ');
  };
  const scripts = { bash: '', zsh: '', fish: '' };
  beforeEach(async () => {
    for (const shell of ['bash', 'zsh', 'fish'] as const)
      scripts[shell] = (await commandHere(['completion', shell])).out;
  });

  test('of bash knows commands, options and choices', () => {
    expect(complete('nod')).toEqual(['node', 'nodes']);
    expect(complete('nodes', 'a')).toEqual(['add']);
    expect(complete('check', 'http', '--poli')).toEqual(['--policy']);
    expect(complete('check', 'http', '--policy', 'pu')).toEqual(['public']);
    expect(complete('silence', 'add', 'shop', '--f')).toEqual(['--for', '--from']);
  });

  test('of zsh and fish names every command', () => {
    for (const { path } of shapes.filter(({ path }) => path !== '')) {
      const name = path.split(' ').at(-1);
      expect(scripts.zsh).toContain(name);
      expect(scripts.fish).toContain(` -f -a ${name} `);
    }
  });
});

test('the manual page has every command with its options, and the exit codes', async () => {
  const { code, out } = await commandHere(['man']);
  expect(code).toBe(0);
  for (const { path, below } of shapes)
    if (below.length === 0) expect(out).toContain(`.SS watchpost ${path.replaceAll('-', '\\-')}`);
  for (const { code } of exitCodes) expect(out).toContain(`.B ${code}\n`);
  expect(out).not.toMatch(/^[.'](?!TH|SH|SS|TP|B |I )/m);
});

test('--json of a round is the verdicts, and colours are for terminals that want them', async () => {
  await using server = await tcpServer((socket) => socket.end());
  const config = join(folder, 'watchpost.yaml');
  writeFileSync(config, `targets: { port: { check: tcp, host: "127.0.0.1:${server.port}" } }\n`);
  const args = ['run', '--once', '--log-level', 'error', '--config', config];
  const json = await commandHere([...args, '--json']);
  expect(JSON.parse(json.out)).toMatchObject([{ target: 'port', check: 'tcp', verdict: 'up' }]);
  const painted = await commandHere(args, { interactive: true });
  expect(painted.out).toContain('\u{1b}[32mup\u{1b}[39m');
  const plain = await commandHere(args, { interactive: true, env: { NO_COLOR: '1' } });
  expect(plain.out).not.toContain('\u{1b}');
});

test('--json of config check and config plan is for programs', async () => {
  const config = join(folder, 'watchpost.yaml');
  const http = `http: { listen: "127.0.0.1:${await closedPort()}" }\n`;
  writeFileSync(config, `${http}targets: { port: { check: tcp, host: "127.0.0.1:1", every: 30s } }\n`);
  const good = await commandHere(['config', 'check', '--json', '--config', config]);
  expect(JSON.parse(good.out)).toMatchObject({ good: true, targets: 1, nodes: 1 });
  const plan = await commandHere(['config', 'plan', '--json', '--config', config]);
  expect(JSON.parse(plan.out)).toMatchObject({
    targets: [{ target: 'port', rounds_a_minute: 2, nodes: ['zz1'] }],
    checks_a_minute: 2,
  });
  writeFileSync(config, 'targets: { port: { check: tpc }, web: { check: tcp } }\n');
  const bad = await commandHere(['config', 'check', '--json', '--config', config]);
  expect(bad.code).toBe(2);
  expect((JSON.parse(bad.out) as { problems: string[] }).problems.length).toBeGreaterThan(1);
});
