import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type CommandShape, shapesOf } from '#cli/shared/commands.ts';
import { exitCodes } from '#cli/shared/exit-codes.ts';
import { createProgram } from '#cli/program.ts';
import { commandHere } from '../../support/command.ts';
import { silentContext } from '../../support/silent-context.ts';
import { closedPort, tcpServer } from '../../support/tcp-servers.ts';

const commands = shapesOf(createProgram(silentContext(), () => {})).filter(
  ({ path, below }) => path !== '' && (below.length === 0 || path === 'status'),
);
const known: readonly number[] = exitCodes.map(({ code }) => code);
const page = readFileSync(new URL('../../../docs/commands.md', import.meta.url), 'utf8');

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'watchpost-codes-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What has to be given for the command to begin at all. */
function needed({ path, takes }: CommandShape): readonly string[] {
  const words = takes
    .filter(({ term }) => term.startsWith('<'))
    .map(({ term }) => (term === '<span>' ? '10:00..11:00' : 'x'));
  const options = path === 'silence add' ? ['--for', '1h', '--why', 'x'] : path === 'ack' ? ['--why', 'x'] : [];
  return [...path.split(' '), ...words, ...(path === 'deliveries retry' ? ['--all'] : []), ...options];
}

const takesConfig = commands.filter(({ options }) => options.some(({ names }) => names.includes('--config')));

test('a configuration that is not there is 2, whatever the command', async () => {
  expect(takesConfig.length).toBeGreaterThan(25);
  for (const command of takesConfig) {
    const { code, out } = await commandHere([...needed(command), '--config', join(folder, 'nowhere.yaml')]);
    expect([command.path, code, out]).toEqual([command.path, 2, '']);
  }
});

test('an option that there is not is 2, whatever the command', async () => {
  for (const command of commands.filter(({ path }) => path !== 'beat run')) {
    const { code, out, err } = await commandHere([...needed(command), '--nonsense']);
    expect([command.path, code, out]).toEqual([command.path, 2, '']);
    expect(err).toContain('--nonsense');
  }
});

test('a daemon that does not answer is 1 for all who ask one', async () => {
  const config = join(folder, 'watchpost.yaml');
  writeFileSync(
    config,
    `data: none.db\nhttp: { listen: 127.0.0.1:${await closedPort()} }\ntargets: { a: { check: ping, host: a } }\n`,
  );
  const asking = ['health', 'top', 'incidents', 'ack', 'reload', 'deliveries list', 'deliveries retry'];
  const more = [
    'silence add',
    'silence list',
    'silence expire',
    'status post',
    'status notes',
    'status remove',
    'status subscribers',
    'status unsubscribe',
  ];
  const past = ['exclude', 'exclusions list', 'exclusions remove'];
  for (const path of [...asking, ...more, ...past]) {
    const command = commands.find((one) => one.path === path);
    if (command === undefined) throw new Error(`there is no command ${path}`);
    const { code, out } = await commandHere([...needed(command), '--config', config]);
    expect([path, code, out]).toEqual([path, 1, '']);
  }
});

test('what a check finds is 0, 1 or 3, and 130 where it is interrupted', async () => {
  await using server = await tcpServer((socket) => socket.end());
  const check = async (host: string, ...more: readonly string[]) =>
    (await commandHere(['check', 'tcp', host, ...more])).code;
  expect(await check(`127.0.0.1:${server.port}`)).toBe(0);
  expect(await check(`127.0.0.1:${await closedPort()}`)).toBe(1);
  expect(await check('127.0.0.1:1', '--service', `http://127.0.0.1:${await closedPort()}`)).toBe(3);
  const stop = AbortSignal.abort(new Error('SIGINT'));
  expect((await commandHere(['check', 'tcp', '127.0.0.1:1'], { stop })).code).toBe(130);
});

test('docs/commands.md gives no command a code that is not in its table, but for the one that ends as another command does', () => {
  const rows = [...page.matchAll(/^\| `watchpost ([^|`]*)`.* \| ([^|]*) \|$/gm)].map(([, name = '', codes = '']) => ({
    name,
    codes: [...codes.matchAll(/(?<![\w.])\d+(?!\w)/g)].map(([code]) => Number(code)),
  }));
  expect(rows.length).toBeGreaterThan(30);
  for (const { name, codes } of rows) {
    expect([name, codes.length]).not.toEqual([name, 0]);
    if (!name.startsWith('beat <job>'))
      expect([name, codes.filter((code) => !known.includes(code))]).toEqual([name, []]);
  }
});
