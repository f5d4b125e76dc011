import { generateKeyPairSync } from 'node:crypto';
import type { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { probeOnce } from '../../support/probe-once.ts';
import { tcpServer } from '../../support/tcp-servers.ts';

// Servers that are not what a check of a database or a broker expects.

const types = ['postgres', 'mysql', 'redis', 'mongodb', 'mqtt', 'amqp', 'ssh'] as const;
const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2_048,
  publicKeyEncoding: { type: 'pkcs1', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
});
const flood = Buffer.alloc(65_536, 0x24);

function pour(socket: Socket): void {
  const more = () => {
    while (!socket.destroyed && socket.write(flood));
  };
  socket.on('drain', more);
  more();
}

describe.each(types)('%s', (type) => {
  const ask = async (host: string, more: object = {}) =>
    probeOnce(type, { host, username: 'ann', ...secretOf('secret'), timeout: '500ms', ...more });
  const secretOf = (password: string) => (type === 'ssh' ? { key: privateKey } : { password });

  test('a server that says nothing', async () => {
    await using server = await tcpServer(() => {});
    expect(await ask(server.host)).toMatchObject({
      status: 'down',
      phases: { connect: expect.any(Number) },
      failure: { source: 'target', code: 'timeout', message: 'the server did not finish the login within 500ms' },
    });
  });

  test('a server that closes at once', async () => {
    await using server = await tcpServer((socket) => void socket.end());
    const { failure } = { failure: null, ...(await ask(server.host)) };
    expect(failure).toMatchObject({ source: 'target', code: expect.stringMatching(/^(?:closed|reset)$/) });
  });

  test('a server that speaks HTTP', async () => {
    await using server = await tcpServer(
      (socket) => void socket.end('HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n'),
    );
    expect(await ask(server.host)).toMatchObject({ status: 'down', failure: { source: 'target' } });
  });

  test('a server that never stops', async () => {
    await using server = await tcpServer(pour);
    const before = process.memoryUsage().rss;
    expect(await ask(server.host)).toMatchObject({ status: 'down', failure: { source: 'target' } });
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * 1_048_576);
  });

  test('a check that is cancelled', async () => {
    await using server = await tcpServer(() => {});
    const reason = new Error('enough');
    await expect(probeOnce(type, { host: server.host }, AbortSignal.abort(reason))).rejects.toBe(reason);
    const ending = new AbortController();
    const running = probeOnce(type, { host: server.host }, ending.signal);
    setTimeout(() => ending.abort(reason), 20);
    await expect(running).rejects.toBe(reason);
  });

  test('a password is in no failure', async () => {
    await using server = await tcpServer((socket) => void socket.on('data', (sent: Buffer) => socket.end(sent)));
    const outcome = JSON.stringify(await ask(server.host, secretOf('hunter2hunter2')));
    for (const secret of ['hunter2', privateKey.slice(100, 140)]) expect(outcome).not.toContain(secret);
  });
});

test.each([
  ['an old version', 'SSH-1.5-old\r\n', 'protocol'],
  ['a line without an end', `SSH-2.0-${'x'.repeat(20_000)}`, 'protocol'],
  ['many lines before it', 'hello\r\n'.repeat(2_000), 'protocol'],
  ['bytes that are no packet', `SSH-2.0-x\r\n${'\xff'.repeat(200)}`, 'protocol'],
  ['an empty key exchange', 'SSH-2.0-x\r\n\0\0\0\x0c\x0a\x14\0\0\0\0\0\0\0\0\0\0', 'protocol'],
  [
    'a disconnection with a reason',
    'SSH-2.0-x\r\n\0\0\0\x1c\x06\x01\0\0\0\x0c\0\0\0\x08too many\0\0\0\0\0\0\0\0\0\0',
    'status',
  ],
])('ssh: the server sends %s', async (_, sent, code) => {
  await using server = await tcpServer((socket) => void socket.write(sent, 'latin1'));
  expect(await probeOnce('ssh', { host: server.host, timeout: '1s' })).toMatchObject({
    status: 'down',
    failure: { source: 'target', code },
  });
});

test.each([
  [{ type: 'redis', command: 'FLUSHALL' }, 'may change data'],
  [{ type: 'redis', command: 'cluster reset' }, 'may change data'],
  [{ type: 'mqtt', publish: 'x' }, 'is missing'],
  [{ type: 'mqtt', publish: 'x', topic: 'a/#' }, 'messages are published to one topic'],
  [{ type: 'amqp', expect: { messages: { max: 1 } } }, 'is missing: something is expected of it'],
  [{ type: 'ssh', host_key: 'MD5:00:11' }, 'expected \\"SHA256:'],
  [{ type: 'ssh', username: 'root' }, 'a username is given'],
  [{ type: 'ssh', command: 'true' }, 'a command is given'],
  [{ type: 'ssh', expect: { equals: 1 } }, 'something is expected of it'],
  [{ type: 'ssh', username: 'root', key: 'secret' }, 'expected a private key'],
  [{ type: 'ssh', username: 'root', key: privateKey, key_file: '/b' }, 'cannot be set together with key'],
  [{ type: 'postgres', password: 'a', password_file: '/b' }, 'password'],
])('%o is refused', async ({ type, ...options }, message) => {
  const run = async () => probeOnce(type as 'redis', { host: '127.0.0.1', ...options });
  await expect(run()).rejects.toThrow(message);
});
