import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'vitest';
import { expect, test } from 'vitest';
import { issue } from '../support/certificates.ts';
import {
  password,
  startMariadb,
  startMosquitto,
  startPostgres,
  startRabbitmq,
  startRedis,
} from '../support/database-servers.ts';
import { startSsh } from '../support/ssh-server.ts';
import { createProgram, eventually } from '../support/program.ts';
import { needsProgram } from '../support/programs.ts';

// The daemon beside databases and brokers, as a user would configure them: passwords from the environment and from files.

const secret = 'wrong-and-secret';

function needsServers(context: TestContext): void {
  if (process.getuid?.() !== 0) context.skip('a namespace of processes takes root');
  for (const [program, debianPackage] of [
    ['pg_config', 'postgresql'],
    ['mariadbd', 'mariadb-server'],
    ['redis-server', 'redis-server'],
    ['mosquitto', 'mosquitto'],
    ['rabbitmqctl', 'rabbitmq-server'],
    ['/usr/sbin/sshd', 'openssh-server'],
  ] as const)
    needsProgram(context, program, debianPackage);
}

test('the daemon signs in to servers: figures, a mail for each that fails, and no password anywhere', async (context) => {
  needsServers(context);
  await using stack = new AsyncDisposableStack();
  const made = await issue({ ips: ['127.0.0.1'] });
  const opened = async <Server extends AsyncDisposable>(server: Promise<Server>) => stack.use(await server);
  const [postgres, mariadb, redis, mosquitto, rabbitmq, ssh] = await Promise.all([
    opened(startPostgres(made)),
    opened(startMariadb(made)),
    opened(startRedis(made)),
    opened(startMosquitto()),
    opened(startRabbitmq()),
    opened(startSsh()),
  ]);
  const program = stack.use(
    await createProgram({ environment: { SERVER_PASSWORD: password, WRONG: secret, CA: made.cert } }),
  );
  const { url, log, end } = await program.start(`
data: watchpost.db
http: { listen: 127.0.0.1:0 }
defaults: { every: 2s, notify: [ops] }
notify: { ops: { email: { to: [ops@example.com] }, group_wait: 0s, group_interval: 0s, grouped: false } }
targets:
  postgres: { check: postgres, host: "${postgres.host}", password: "\${SERVER_PASSWORD}", tls: { ca: "\${CA}" }, query: SELECT 6 * 7, expect: { equals: 42 } }
  mysql: { check: mysql, host: "${mariadb.host}", username: watcher, password: "\${SERVER_PASSWORD}" }
  redis: { check: redis, host: "${redis.host}", password: "\${SERVER_PASSWORD}" }
  mqtt: { check: mqtt, host: "${mosquitto.host}", username: watcher, password: "\${SERVER_PASSWORD}", topic: a/b, publish: hello, timeout: 2s }
  amqp: { check: amqp, host: "${rabbitmq.host}", password: guest }
  ssh: { check: ssh, host: "${ssh.host}", host_key: "${ssh.fingerprints.ed25519}", username: root, key_file: "${ssh.keyFile}", command: echo 42, expect: { equals: 42 } }
  impostor: { check: ssh, host: "${ssh.host}", host_key: "SHA256:${'A'.repeat(43)}", username: root, key_file: "${ssh.keyFile}" }
  stranger: { check: postgres, host: "${postgres.host}", password: "\${WRONG}" }
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

  const types = ['postgres', 'mysql', 'redis', 'mqtt', 'amqp', 'ssh'];
  for (const type of types) await isUp(type, 1);
  const metrics = await metricsNow();
  for (const type of types)
    for (const phase of ['connect', 'login'])
      expect(metrics).toMatch(
        new RegExp(`^watchpost_check_phase_seconds\\{target="${type}",node="\\w+",phase="${phase}"\\} `, 'm'),
      );
  expect(metrics).toMatch(/^watchpost_certificate_expiry_timestamp_seconds\{target="postgres",/m);
  await mailed('[DOWN] stranger: the server refused the login: password authentication failed');

  await mailed(`[DOWN] impostor: the host key is ${ssh.fingerprints.ed25519}`);

  mosquitto.freeze();
  ssh.freeze();
  await mailed('[DOWN] mqtt: ');
  await mailed('[DOWN] ssh: ');
  mosquitto.thaw();
  ssh.thaw();
  await mailed('[RESOLVED] mqtt: ');
  await isUp('ssh', 1);
  await redis[Symbol.asyncDispose]();
  await mailed('[DOWN] redis: ');
  for (const type of ['postgres', 'mysql', 'mqtt', 'amqp', 'ssh']) await isUp(type, 1);

  const pages = await Promise.all(
    ['/', '/targets/stranger', '/targets/postgres', '/api/v1/targets'].map(async (path) =>
      (await fetch(url + path)).text(),
    ),
  );
  expect((await end('SIGTERM')).code).toBe(0);
  const files = globSync('**/*', { cwd: program.folder, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== 'watchpost.yaml')
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'));
  expect(files.length).toBeGreaterThan(2);
  for (const text of [...pages, ...files, JSON.stringify(log)])
    for (const hidden of [secret, password, ssh.key.slice(60, 120)]) expect(text.includes(hidden)).toBe(false);
}, 240_000);
