import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commandHere } from '../../support/command.ts';
import { startHttpTarget } from '../../support/http-target.ts';
import { createProgram, eventually, query } from '../../support/program.ts';
import { closedPort, tcpServer } from '../../support/tcp-servers.ts';

// Targets that are added and removed by commands, with the real daemon.

test('a target is added, watched by the running daemon, and removed; comments stay', async () => {
  await using target = await startHttpTarget();
  await using server = await tcpServer(() => {});
  await using program = await createProgram();
  const text = `# ours
data: watchpost.db
http: { listen: 127.0.0.1:${await closedPort()} }
defaults: { every: 1s }
targets:
  # the shop
  shop: { check: http, host: "${target.url}", timeout: 900ms } # since 2024
rules: { down: { rounds: 2 } }
`;
  const { end } = await program.start(text);
  const file = join(program.folder, 'watchpost.yaml');
  chmodSync(file, 0o640);
  const run = async (...args: string[]) => commandHere([...args, '--config', file]);
  const name = '127-0-0-1';
  expect(await run('add', server.host)).toEqual({
    code: 0,
    out: expect.stringMatching(/^UP {2}tcp [\s\S]*127-0-0-1 is added to .*\nthe running daemon has read it\n$/),
    err: '',
  });
  expect(readFileSync(file, 'utf8')).toBe(
    text.replace('# since 2024\n', `# since 2024\n  ${name}: { check: tcp, host: ${server.host} }\n`),
  );
  expect(statSync(file).mode & 0o777).toBe(0o640);
  await eventually(20_000, () => {
    const found = query(
      program.database,
      `SELECT 1 FROM results JOIN targets ON targets.id = target_id WHERE name = '${name}'`,
    );
    if (found.length === 0) throw new Error('it is not checked yet');
  });
  expect((await run('add', server.host, '--every', '5s', '--dry-run')).out).toContain(
    `  127-0-0-1-2: { check: tcp, host: ${server.host}, every: 5s }\n`,
  );
  expect(await run('remove', name)).toMatchObject({
    code: 0,
    out: expect.stringContaining('the running daemon has read it'),
  });
  expect(readFileSync(file, 'utf8')).toBe(text);
  await end('SIGTERM');
  // What an interrupted edit left behind does not stop the next one.
  writeFileSync(`${file}.new`, 'half a file');
  expect(await run('add', server.host, '--json')).toMatchObject({ code: 0, err: '' });
  expect((await run('remove', name)).out).toContain('no daemon runs here');
});

test('what does not answer, or would make the configuration wrong, changes nothing', async () => {
  await using program = await createProgram();
  await using server = await tcpServer(() => {});
  const folder = join(program.folder, 'conf');
  mkdirSync(folder);
  const text =
    'targets:\n  a: { check: ping, host: 127.0.0.1 }\n  b: { check: ping, host: 127.0.0.1, depends_on: [a] }\n';
  writeFileSync(join(folder, '1.yaml'), `data: w.db\nhttp: { listen: 127.0.0.1:${await closedPort()} }\n`);
  writeFileSync(join(folder, '2.yaml'), text);
  const run = async (...args: string[]) => commandHere([...args, '--config', folder]);
  const closed = `127.0.0.1:${await closedPort()}`;
  expect(await run('add', closed)).toMatchObject({ code: 1, err: 'It is not added; --force adds it all the same.\n' });
  expect(await run('add', server.host, '--name', 'a')).toMatchObject({
    code: 2,
    err: expect.stringContaining('2.yaml:4:3'),
  });
  expect(await run('add', server.host, '--name', 'A b')).toMatchObject({
    code: 2,
    err: expect.stringContaining('a name has 1 to 63'),
  });
  expect(await run('add', server.host, '--type', 'pong')).toMatchObject({
    code: 2,
    err: expect.stringContaining('there is no "pong"'),
  });
  expect(await run('add', server.host, '--file', '3.yaml')).toMatchObject({
    code: 2,
    err: expect.stringContaining('is no file of this configuration'),
  });
  expect(await run('remove', 'a')).toMatchObject({ code: 2, err: expect.stringContaining('depends_on') });
  expect(await run('remove', 'c')).toMatchObject({ code: 2, err: 'c is no target of this configuration\n' });
  expect(readFileSync(join(folder, '2.yaml'), 'utf8')).toBe(text);
  // A file that is a link to another place stays one, and keeps its mode.
  renameSync(join(folder, '2.yaml'), join(program.folder, 'linked'));
  chmodSync(join(program.folder, 'linked'), 0o666);
  symlinkSync(join(program.folder, 'linked'), join(folder, '2.yaml'));
  expect(await run('add', closed, '--force', '--name', 'c')).toMatchObject({ code: 0 });
  expect(lstatSync(join(folder, '2.yaml')).isSymbolicLink()).toBe(true);
  expect(statSync(join(folder, '2.yaml')).mode & 0o777).toBe(0o666);
  expect(readFileSync(join(folder, '2.yaml'), 'utf8')).toBe(`${text}  c: { check: tcp, host: ${closed} }\n`);
});
