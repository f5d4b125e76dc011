import type { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { probeOnce } from '../../support/probe-once.ts';
import { tcpServer } from '../../support/tcp-servers.ts';

// Servers that are not what a check of a database or a broker expects.

const types = ['postgres', 'mysql', 'redis', 'mqtt', 'amqp'] as const;
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
    probeOnce(type, { host, username: 'ann', password: 'secret', timeout: '500ms', ...more });

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
    expect(JSON.stringify(await ask(server.host, { password: 'hunter2hunter2' }))).not.toContain('hunter2');
  });
});

test.each([
  [{ type: 'redis', command: 'FLUSHALL' }, 'may change data'],
  [{ type: 'redis', command: 'cluster reset' }, 'may change data'],
  [{ type: 'mqtt', publish: 'x' }, 'is missing'],
  [{ type: 'mqtt', publish: 'x', topic: 'a/#' }, 'messages are published to one topic'],
  [{ type: 'amqp', expect: { messages: { max: 1 } } }, 'is missing: something is expected of it'],
  [{ type: 'postgres', password: 'a', password_file: '/b' }, 'password'],
])('%o is refused', async ({ type, ...options }, message) => {
  const run = async () => probeOnce(type as 'redis', { host: '127.0.0.1', ...options });
  await expect(run()).rejects.toThrow(message);
});
