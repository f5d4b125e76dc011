import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { password, startMongoProcess } from '../support/database-servers.ts';
import { createProgram, eventually } from '../support/program.ts';

// The daemon beside a MongoDB: passwords from the environment and from a file, and a server that stops answering.

const secret = 'wrong-and-secret';

test('the daemon signs in to MongoDB: figures, a mail for each that fails, and no password anywhere', async () => {
  await using server = await startMongoProcess();
  await using program = await createProgram({ environment: { SERVER_PASSWORD: password, WRONG: secret } });
  writeFileSync(join(program.folder, 'mongodb-password'), `${password}\n`, { mode: 0o600 });
  const { host } = server;
  const { url, log, end } = await program.start(`
data: watchpost.db
http: { listen: 127.0.0.1:0 }
defaults: { every: 2s, notify: [ops] }
notify: { ops: { email: { to: [ops@example.com] }, group_wait: 0s, group_interval: 0s, grouped: false } }
targets:
  orders:
    check: mongodb
    host: "mongodb://${host}"
    username: watcher
    password: "\${SERVER_PASSWORD}"
    database: shop
    command: { count: orders, query: { state: new } }
    path: $.n
    timeout: 2s
    expect: { equals: 42, role: primary, set: rs0 }
  older: { check: mongodb, host: "${host}", username: elder, password_file: mongodb-password }
  open: { check: mongodb, host: "${host}" }
  stranger: { check: mongodb, host: "${host}", username: watcher, password: "\${WRONG}" }
  secondary: { check: mongodb, host: "${host}", username: watcher, password: "\${SERVER_PASSWORD}", expect: { role: secondary } }
`);
  const metricsNow = async () => (await fetch(`${url}/metrics`)).text();
  const isUp = async (target: string, value: 0 | 1) =>
    eventually(60_000, async () => {
      expect(await metricsNow()).toMatch(new RegExp(`^watchpost_up\\{target="${target}",.*\\} ${value}$`, 'm'));
    });
  const mails = () =>
    globSync('mail/*.eml', { cwd: program.folder }).map((name) =>
      readFileSync(join(program.folder, name), 'utf8').replaceAll(/=\r?\n/g, ''),
    );
  const subjects = () => mails().map((mail) => /^Subject: (.*)$/m.exec(mail)?.[1]);
  const mailed = async (text: string) =>
    eventually(60_000, () => {
      expect(mails().filter((mail) => mail.includes(text)).length, subjects().join('\n')).toBeGreaterThan(0);
    });

  for (const target of ['orders', 'older', 'open']) await isUp(target, 1);
  const metrics = await metricsNow();
  for (const phase of ['connect', 'login', 'query'])
    expect(metrics).toMatch(
      new RegExp(`^watchpost_check_phase_seconds\\{target="orders",node="\\w+",phase="${phase}"\\} `, 'm'),
    );
  await mailed('[DOWN] stranger: the server refused the login: Authentication failed.');
  await mailed('[DOWN] secondary: the server is primary of rs0, expected secondary');

  server.freeze();
  await mailed('[DOWN] orders: ');
  await mailed('the server did not finish the login within 2s');
  server.thaw();
  await mailed('[RESOLVED] orders: ');
  await isUp('orders', 1);

  const pages = await Promise.all(
    ['/', '/targets/stranger', '/targets/orders', '/targets/older', '/api/v1/targets'].map(async (path) =>
      (await fetch(url + path)).text(),
    ),
  );
  expect((await end('SIGTERM')).code).toBe(0);
  const files = globSync('**/*', { cwd: program.folder, withFileTypes: true })
    .filter((entry) => entry.isFile() && !['watchpost.yaml', 'mongodb-password'].includes(entry.name))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'));
  expect(files.length).toBeGreaterThan(2);
  for (const text of [...pages, ...files, JSON.stringify(log)])
    for (const hidden of [secret, password]) expect(text.includes(hidden)).toBe(false);
}, 240_000);
