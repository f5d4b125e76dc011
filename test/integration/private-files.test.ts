import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { systemClock } from '#kernel/clock.ts';
import { openSpool } from '#node/spool.ts';
import { commandHere } from '../support/command.ts';
import { openAt, quiet, tempFolder } from '../support/store.ts';
import { anySpec } from '../support/votes.ts';

// As the usual umask leaves it, every file that is made without a mode of its own can be read by everybody.

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);
const modesIn = (folder: string) =>
  Object.fromEntries(readdirSync(folder).map((name) => [name, modeOf(join(folder, name))]));

test('the database and what lies beside it are for their owner only, old files too', async () => {
  using folder = tempFolder();
  const data = join(folder.path, 'data');
  const path = join(data, 'watchpost.db');
  const first = openAt(path, systemClock);
  await first.checks.addRun({ id: 'a', createdAt: 0, spec: anySpec, nodes: [] });
  expect(modeOf(data)).toBe('700');
  const all = {
    'watchpost.db': '600',
    'watchpost.db-shm': '600',
    'watchpost.db-wal': '600',
    'watchpost.db.lock': '600',
  };
  expect(modesIn(data)).toMatchObject(all);
  await first[Symbol.asyncDispose]();
  for (const name of readdirSync(data)) chmodSync(join(data, name), 0o644);
  await using again = openAt(path, systemClock);
  expect(modesIn(data)).toMatchObject(all);
  expect(again.checks.findRun('b')).toBeNull();
});

test('so is the spool of a node', () => {
  using folder = tempFolder();
  const path = join(folder.path, 'spool', 'spool.db');
  const spool = openSpool({ path, longestMs: 1_000, most: 10, clock: systemClock, log: quiet });
  spool.put('ticket', 'payload');
  expect(modeOf(join(folder.path, 'spool'))).toBe('700');
  expect(new Set(Object.values(modesIn(join(folder.path, 'spool'))))).toEqual(new Set(['600']));
  spool.close();
});

test('so are mails that are written as files', async () => {
  using folder = tempFolder();
  const config = join(folder.path, 'watchpost.yaml');
  const notify = 'notify: { ops: { email: { to: [ops@example.com] } } }';
  writeFileSync(config, `data: watchpost.db\n${notify}\ntargets: { shop: { check: tcp, host: "127.0.0.1:1" } }\n`);
  const { code } = await commandHere(['alert', 'test', '--kind', 'opened', '--config', config], { cwd: folder.path });
  expect(code).toBe(0);
  expect(modeOf(join(folder.path, 'mail'))).toBe('700');
  expect(new Set(Object.values(modesIn(join(folder.path, 'mail'))))).toEqual(new Set(['600']));
});

test('a secret that everybody may read is warned about, with what to do', async () => {
  using folder = tempFolder();
  const config = join(folder.path, 'watchpost.yaml');
  mkdirSync(join(folder.path, 'secrets'));
  const secret = join(folder.path, 'secrets', 'smtp');
  writeFileSync(secret, 'pa55word\n');
  const smtp =
    'smtp: { url: "smtp://mail.example.com", username: a, password_file: secrets/smtp, from: a@example.com }';
  const notify = 'notify: { ops: { email: { to: [ops@example.com] } } }';
  writeFileSync(config, `${smtp}\n${notify}\ntargets: { shop: { check: tcp, host: "127.0.0.1:1" } }\n`);
  const check = async (mode: number) => {
    chmodSync(secret, mode);
    return commandHere(['config', 'check', '--config', config]);
  };
  const loud = await check(0o644);
  expect([loud.code, loud.err]).toEqual([
    0,
    `warning: ${secret} holds a secret, and every user of this machine may read it: chmod o-r '${secret}'\n`,
  ]);
  expect(await check(0o640)).toMatchObject({ code: 0, err: '' });
});

test.skipIf(process.getuid?.() !== 0)(
  'a user without an entry in /etc/passwd opens a database whose mode was changed, again and again',
  () => {
    using folder = tempFolder();
    const uid = 54_321;
    const data = join(folder.path, 'data');
    mkdirSync(data);
    for (const path of [folder.path, data]) chownSync(path, uid, uid);
    const path = join(data, 'watchpost.db');
    const script = `
      import { keepPrivate } from ${JSON.stringify(new URL('../../src/kernel/private-files.ts', import.meta.url).pathname)};
      keepPrivate(${JSON.stringify(path)});`;
    const open = () =>
      spawnSync(process.execPath, ['--input-type=module', '--eval', script], { uid, gid: uid, encoding: 'utf8' })
        .stderr;
    expect(open()).toBe('');
    chmodSync(path, 0o660);
    expect(open()).toBe('');
    expect(modeOf(path)).toBe('600');
  },
);
