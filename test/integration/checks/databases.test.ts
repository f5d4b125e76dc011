import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import type { TestContext } from 'vitest';
import { describe, expect, test } from 'vitest';
import { issue } from '../../support/certificates.ts';
import {
  password,
  startMariadb,
  startMosquitto,
  startPostgres,
  startRabbitmq,
  startRedis,
} from '../../support/database-servers.ts';
import { probeOnce } from '../../support/probe-once.ts';
import { needsProgram } from '../../support/programs.ts';

// Databases and brokers: Debian's own servers, signed in to as a user would.

const made = await issue({ ips: ['127.0.0.1'] });
const trusted = { ca: made.cert };

function needsRoot(context: TestContext): void {
  if (process.getuid?.() !== 0) context.skip('a namespace of processes takes root');
}

describe('postgres', () => {
  test('a query, its value, and what is expected of both', async (context) => {
    needsProgram(context, 'pg_config', 'postgresql');
    await using server = await startPostgres(made);
    const ask = async (more: object) => probeOnce('postgres', { host: server.host, password, ...more });
    // It listens before it lets anyone in.
    await expect.poll(async () => ask({}), { timeout: 20_000 }).toMatchObject({ status: 'up' });
    expect(await ask({ query: 'SELECT 42', expect: { equals: 42, rows: { min: 1, max: 1 } } })).toMatchObject({
      status: 'up',
      address: '127.0.0.1',
      phases: { connect: expect.any(Number), login: expect.any(Number), query: expect.any(Number) },
      detail: { server: expect.stringMatching(/^PostgreSQL 1\d/), value: '42', rows: 1, tls: null },
    });
    expect(
      await ask({
        tls: trusted,
        query: 'SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()',
        expect: { equals: true },
      }),
    ).toMatchObject({
      status: 'up',
      facts: { certificate_expires_at: expect.any(Number) },
      detail: { tls: { certificate: { names: ['127.0.0.1'] } } },
    });
    const failures = [
      [{ expect: { equals: 2 } }, 'answer', 'the value is "1", expected 2'],
      [
        { query: 'SELECT 1 WHERE false', expect: { not: null } },
        'answer',
        'the value is nothing, expected something else',
      ],
      [{ query: 'SELECT 1 WHERE false', expect: { rows: { min: 1 } } }, 'answer', '0 rows, expected at least 1'],
      [
        { password: 'wrong' },
        'status',
        'the server refused the login: password authentication failed for user "postgres"',
      ],
      [{ database: 'none' }, 'status', 'the server refused the login: database "none" does not exist'],
      [
        { query: 'CREATE TABLE t (a int)' },
        'status',
        'the server refused: cannot execute CREATE TABLE in a read-only transaction',
      ],
      [
        { query: 'COMMIT; CREATE TABLE t (a int)' },
        'status',
        'the server refused: cannot insert multiple commands into a prepared statement',
      ],
      [{ query: 'SELECT pg_sleep(5)', timeout: '500ms' }, 'timeout', 'no answer to the query within 500ms'],
      [{ query: "SELECT repeat('x', 2000000)" }, 'too_large', 'the server sent more than 1048576 bytes'],
      [{ tls: true }, 'certificate_untrusted', 'the certificate is not trusted: it is self-signed'],
    ] as const;
    for (const [options, code, message] of failures)
      expect(await ask(options)).toMatchObject({ status: 'down', failure: { source: 'target', code, message } });
    const refused = await probeOnce('postgres', { host: server.host, password: '${none}' });
    expect(JSON.stringify(refused)).not.toContain('${none}');
  });

  test('a server that stops, or has no room for anyone, is not up by its dialogue either', async (context) => {
    needsProgram(context, 'pg_config', 'postgresql');
    await using server = await startPostgres(made);
    const { port } = server;
    const ask = async () => probeOnce('tcp', { host: server.host, preset: 'postgres' });
    await expect.poll(ask, { timeout: 20_000 }).toMatchObject({ status: 'up' });
    const sessions = Array.from(
      { length: 100 },
      () => new Client({ port, host: '127.0.0.1', user: 'postgres', password }),
    );
    for (const session of sessions) session.on('error', () => {});
    try {
      for (const session of sessions) await session.connect();
      expect(await ask()).toMatchObject({
        status: 'down',
        failure: { code: 'answer', message: expect.stringContaining('C53300') },
      });
      for (const session of sessions.slice(1)) await session.end();
      await expect.poll(ask, { timeout: 20_000 }).toMatchObject({ status: 'up' });
      // It waits for sessions to end, and refuses new ones.
      process.kill(
        Number(readFileSync(join(server.folder, 'data', 'postmaster.pid'), 'utf8').split('\n')[0]),
        'SIGTERM',
      );
      await expect.poll(ask, { timeout: 20_000 }).toMatchObject({
        status: 'down',
        failure: { code: 'answer', message: expect.stringContaining('C57P03') },
      });
    } finally {
      await Promise.allSettled(sessions.map(async (session) => session.end()));
    }
  });
});

describe('mysql', () => {
  test('a query, its value, and what is expected of both', async (context) => {
    needsProgram(context, 'mariadbd', 'mariadb-server');
    await using server = await startMariadb(made);
    const ask = async (more: object) =>
      probeOnce('mysql', { host: server.host, username: 'watcher', password, ...more });
    expect(await ask({ query: 'SELECT 42', expect: { min: 42, max: 42 } })).toMatchObject({
      status: 'up',
      phases: { login: expect.any(Number), query: expect.any(Number) },
      detail: { server: expect.stringContaining('MariaDB'), value: '42', rows: 1, tls: null },
    });
    expect(await ask({ tls: { verify: false }, query: "SHOW STATUS LIKE 'Ssl_version'" })).toMatchObject({
      status: 'up',
      detail: { value: 'Ssl_version', tls: { protocol: 'TLSv1.3', certificate: { names: ['127.0.0.1'] } } },
    });
    const failures = [
      [{ expect: { regex: '^2$' } }, 'answer', 'the value is "1", expected /^2$/'],
      [{ password: 'wrong' }, 'status', /^the server refused the login: Access denied for user 'watcher'/],
      [{ database: 'none' }, 'status', "the server refused the login: Unknown database 'none'"],
      [
        { query: 'CREATE DATABASE other' },
        'status',
        /^the server refused: Cannot execute statement in a READ ONLY transaction/,
      ],
      [{ query: 'SELECT 1; SELECT 2' }, 'status', /^the server refused: You have an error in your SQL syntax/],
      [{ query: 'SELECT SLEEP(5)', timeout: '500ms' }, 'timeout', 'no answer to the query within 500ms'],
      [{ tls: true }, 'certificate_untrusted', 'the certificate is not trusted: it is self-signed'],
    ] as const;
    for (const [options, code, message] of failures) {
      const text: unknown = typeof message === 'string' ? message : expect.stringMatching(message);
      expect(await ask(options)).toMatchObject({ status: 'down', failure: { source: 'target', code, message: text } });
    }
  });
});

describe('redis', () => {
  test('a command, its value, and what is expected of it', async (context) => {
    needsProgram(context, 'redis-server', 'redis-server');
    await using server = await startRedis(made);
    const ask = async (more: object) => probeOnce('redis', { host: server.host, password, ...more });
    expect(await ask({})).toMatchObject({ status: 'up', detail: { value: 'PONG' } });
    expect(await ask({ database: 3, command: 'DBSIZE', expect: { equals: 0 } })).toMatchObject({ status: 'up' });
    expect(await ask({ command: 'get none', expect: { equals: null } })).toMatchObject({ status: 'up' });
    expect(await ask({ host: `rediss://127.0.0.1:${server.tlsPort}`, tls: trusted })).toMatchObject({
      status: 'up',
      detail: { value: 'PONG', tls: { certificate: { names: ['127.0.0.1'] } } },
    });
    const failures = [
      [{ expect: { equals: 'NO' } }, 'answer', 'the value is "PONG", expected "NO"'],
      [{ password: 'wrong' }, 'status', /^the server refused the login: WRONGPASS/],
      [{ password: undefined }, 'status', 'the server refused: NOAUTH Authentication required.'],
      [{ database: 99 }, 'status', 'the server refused the login: ERR DB index is out of range'],
      [{ host: `127.0.0.1:${server.tlsPort}`, timeout: '1s' }, 'reset', 'connection reset during the login'],
      [{ host: `rediss://127.0.0.1:${server.tlsPort}` }, 'certificate_untrusted', /self-signed$/],
    ] as const;
    for (const [options, code, message] of failures) {
      const text: unknown = typeof message === 'string' ? message : expect.stringMatching(message);
      expect(await ask(options)).toMatchObject({ status: 'down', failure: { source: 'target', code, message: text } });
    }
  });
});

describe('mqtt', () => {
  test.for([4, 5])('a message that is published comes back, with protocol %i', async (version, context) => {
    needsProgram(context, 'mosquitto', 'mosquitto');
    await using server = await startMosquitto();
    const ask = async (more: object) =>
      probeOnce('mqtt', { host: server.host, version, username: 'watcher', password, timeout: '3s', ...more });
    expect(await ask({})).toMatchObject({ status: 'up', detail: { value: null } });
    expect(await ask({ topic: 'watch/post', publish: 'ping', qos: 1 })).toMatchObject({
      status: 'up',
      detail: { value: 'ping' },
    });
    expect(await ask({ topic: '$SYS/broker/version', expect: { regex: '^mosquitto' } })).toMatchObject({
      status: 'up',
      detail: { value: expect.stringMatching(/^mosquitto version 2/) },
    });
    const failures = [
      [{ password: 'wrong' }, 'status', /^the server refused the login: Connection refused: Not authorized/],
      [{ topic: 'silent', timeout: '500ms' }, 'timeout', /^no answer to the query within 500ms/],
    ] as const;
    for (const [options, code, message] of failures)
      expect(await ask(options)).toMatchObject({
        status: 'down',
        failure: { source: 'target', code, message: expect.stringMatching(message) },
      });
  });
});

describe('amqp', () => {
  test('a queue, how full it is, and who reads it', async (context) => {
    needsProgram(context, 'rabbitmqctl', 'rabbitmq-server');
    needsRoot(context);
    await using server = await startRabbitmq();
    const ask = async (more: object) =>
      probeOnce('amqp', { host: server.host, password: 'guest', timeout: '5s', ...more });
    expect(await ask({})).toMatchObject({ status: 'up', detail: { rows: null } });
    const { AMQPClient } = await import('@cloudamqp/amqp-client');
    const client = new AMQPClient(`amqp://${server.host}`);
    const channel = await (await client.connect()).channel();
    await channel.queueDeclare('orders', { durable: false });
    await channel.basicPublish('', 'orders', 'one');
    await expect
      .poll(async () => ask({ queue: 'orders', expect: { messages: { min: 1, max: 1 } } }), { timeout: 5_000 })
      .toMatchObject({ status: 'up', detail: { rows: 1, value: '1 messages, 0 consumers' } });
    const failures = [
      [
        { queue: 'orders', expect: { consumers: { min: 1 } } },
        'answer',
        'the queue orders has 0 consumers, expected at least 1',
      ],
      [{ queue: 'none' }, 'status', /^the server refused: .*NOT_FOUND - no queue 'none'/],
      [{ password: 'wrong' }, 'status', /^the server refused the login: .*ACCESS_REFUSED/],
      [{ vhost: 'none' }, 'status', /^the server refused the login: .*NOT_ALLOWED/],
    ] as const;
    for (const [options, code, message] of failures) {
      const text: unknown = typeof message === 'string' ? message : expect.stringMatching(message);
      expect(await ask(options)).toMatchObject({ status: 'down', failure: { source: 'target', code, message: text } });
    }
    await client.close();
  });
});
