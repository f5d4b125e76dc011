import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BundledProgram, bundleProgram } from '../support/bundled-program.ts';
import { issue } from '../support/certificates.ts';
import {
  password,
  startMariadb,
  startMongoProcess,
  startMosquitto,
  startPostgres,
  startRabbitmq,
  startRedis,
} from '../support/database-servers.ts';
import { startSsh } from '../support/ssh-server.ts';
import { createProgram, eventually, query } from '../support/program.ts';
import { needsProgram } from '../support/programs.ts';

// The clients of databases generate code and load parts of themselves by name, which a bundler may not foresee.

let bundle: BundledProgram;

beforeAll(() => {
  bundle = bundleProgram();
});
afterAll(() => bundle[Symbol.dispose]());

test('the bundle signs in to databases and brokers, and asks them', async (context) => {
  if (process.getuid?.() !== 0) context.skip('a namespace of processes takes root');
  const needed = {
    pg_config: 'postgresql',
    mariadbd: 'mariadb-server',
    'redis-server': 'redis-server',
    mosquitto: 'mosquitto',
    rabbitmqctl: 'rabbitmq-server',
    '/usr/sbin/sshd': 'openssh-server',
  };
  for (const [program, name] of Object.entries(needed)) needsProgram(context, program, name);
  const made = await issue({ ips: ['127.0.0.1'] });
  await using stack = new AsyncDisposableStack();
  const opened = async <Server extends AsyncDisposable>(server: Promise<Server>) => stack.use(await server);
  const [postgres, mariadb, redis, mongo, mosquitto, rabbitmq, ssh] = await Promise.all([
    opened(startPostgres(made)),
    opened(startMariadb(made)),
    opened(startRedis(made)),
    opened(startMongoProcess()),
    opened(startMosquitto()),
    opened(startRabbitmq()),
    opened(startSsh()),
  ]);
  const program = stack.use(await createProgram({ house: bundle.house }));
  const login = `password: "${password}"`;
  await program.start(`data: ${program.database}
http: { listen: "127.0.0.1:0" }
defaults: { every: 5s }
targets:
  postgres: { check: postgres, host: "${postgres.host}", ${login}, query: SELECT 42, expect: { equals: 42 } }
  tls: { check: postgres, host: "${postgres.host}", ${login}, tls: { verify: false } }
  mysql: { check: mysql, host: "${mariadb.host}", username: watcher, ${login}, query: SELECT 42, expect: { min: 42 } }
  redis: { check: redis, host: "${redis.host}", ${login} }
  mongodb: { check: mongodb, host: "${mongo.host}", username: watcher, ${login}, database: shop, command: { count: orders }, path: $.n, expect: { equals: 42 } }
  mqtt: { check: mqtt, host: "${mosquitto.host}", username: watcher, ${login} }
  ssh: { check: ssh, host: "${ssh.host}", username: root, key_file: "${ssh.keyFile}", command: echo 42, expect: { equals: 42 } }
  amqp: { check: amqp, host: "${rabbitmq.host}", password: guest }
`);
  await eventually(60_000, () => {
    const rows = query(
      program.database,
      'SELECT target, status, message FROM history WHERE (target, due_at) IN (SELECT target, max(due_at) FROM history GROUP BY target) ORDER BY target',
    );
    expect(rows).toEqual(
      ['amqp', 'mongodb', 'mqtt', 'mysql', 'postgres', 'redis', 'ssh', 'tls'].map((target) => ({
        target,
        status: 'up',
        message: null,
      })),
    );
  });
});
