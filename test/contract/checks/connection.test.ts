import { expect, test } from 'vitest';
import { closeSocket, openConnection } from '#checks/connection.ts';
import { createGate } from '#checks/gate.ts';
import { connectFailure, streamFailure } from '#checks/network-errors.ts';
import { systemClock } from '#kernel/clock.ts';
import { tcpServer } from '../../support/tcp-servers.ts';

const systemError = (code: string) => Object.assign(new Error(`connect ${code}`), { code });

test.each([
  ['ECONNREFUSED', 'target', 'refused'],
  ['ETIMEDOUT', 'target', 'timeout'],
  ['ECONNRESET', 'target', 'reset'],
  ['EHOSTUNREACH', 'target', 'unreachable'],
  ['ENETUNREACH', 'target', 'unreachable'],
  ['EMFILE', 'node', 'local'],
  ['EADDRNOTAVAIL', 'node', 'local'],
  ['EACCES', 'node', 'local'],
  ['EPERM', 'node', 'local'],
])('on the way to an address that we have a route to, %s is the fault of the %s', (code, source, reason) => {
  expect(connectFailure(systemError(code))).toMatchObject({ source, code: reason });
});

test.each([
  ['ECONNRESET', 'target', 'reset'],
  ['EPIPE', 'target', 'reset'],
  ['ETIMEDOUT', 'target', 'timeout'],
  ['EHOSTUNREACH', 'target', 'unreachable'],
  ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'target', 'tls'],
  ['EPROTO', 'target', 'tls'],
  ['EWHATEVER', 'target', 'protocol'],
  ['ENOBUFS', 'node', 'local'],
  ['EMFILE', 'node', 'local'],
])('in the middle of a connection, %s is the fault of the %s', (code, source, reason) => {
  expect(streamFailure(systemError(code))).toMatchObject({ source, code: reason });
});

const gate = (policy: 'public' | 'private') =>
  createGate({
    policy,
    allow: ['127.0.0.0/8'],
    deny: [],
    resolver: { resolve: async () => ({ ok: true, addresses: [] }) },
    clock: systemClock,
    ownAddresses: () => [],
  });
const pinned = { ok: true, address: '127.0.0.1', family: 4, addresses: ['127.0.0.1'], seconds: 0 } as const;
const options = {
  environment: { clock: systemClock, localAddress: {} },
  readHandshake: () => null,
  readArrivalAge: () => null,
  readSentAge: () => null,
  limitReceiving: () => {},
  signal: new AbortController().signal,
};

test("takes our own clock's time where the kernel has none", async () => {
  await using server = await tcpServer(() => {});
  const connection = await openConnection(pinned, server.port, { ...options, gate: gate('private') });
  if (!connection.ok) throw new Error(connection.failure.message);
  expect(connection.timedBy).toBe('clock');
  expect(connection.seconds).toBe(connection.clockSeconds);
  await closeSocket(connection.socket);
  await closeSocket(connection.socket);
  expect(connection.socket.closed).toBe(true);
});

test('a socket that is closed knows nothing of its check', async () => {
  await using server = await tcpServer((socket) => void socket.end('hello'));
  const heard: string[] = [];
  const ready = Promise.withResolvers<void>();
  const incoming = {
    take(chunk: Buffer) {
      heard.push(chunk.toString());
      ready.resolve();
    },
  };
  const connection = await openConnection(pinned, server.port, { ...options, gate: gate('private'), incoming });
  if (!connection.ok) throw new Error(connection.failure.message);
  const { socket } = connection;
  socket.on('close', () => heard.push('closed'));
  await ready.promise;
  await closeSocket(socket);
  expect(heard).toEqual(['hello', 'closed']);
  expect(socket.eventNames()).toEqual([]);
});

test('closes a connection that the gate does not verify', async () => {
  const ended: Promise<void>[] = [];
  await using server = await tcpServer((socket) => {
    ended.push(new Promise((resolve) => void socket.once('close', () => resolve())));
    socket.once('end', () => socket.destroy()).resume();
  });
  expect(await openConnection(pinned, server.port, { ...options, gate: gate('public') })).toMatchObject({
    ok: false,
    failure: { source: 'node', code: 'forbidden' },
  });
  await Promise.all(ended);
  expect(await server.connections()).toBe(0);
});

test('rejects at once where it was aborted before', async () => {
  await using server = await tcpServer(() => {});
  const signal = AbortSignal.abort(new Error('enough'));
  await expect(openConnection(pinned, server.port, { ...options, gate: gate('private'), signal })).rejects.toThrow(
    'enough',
  );
});
