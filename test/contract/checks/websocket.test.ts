import { expect, test } from 'vitest';
import { userAgent } from '#kernel/version.ts';
import { issue, issueAuthority } from '../../support/certificates.ts';
import { serveHttp } from '../../support/http-servers.ts';
import { probeOnce } from '../../support/probe-once.ts';
import { tcpServer } from '../../support/tcp-servers.ts';
import { echo, webSocketServer } from '../../support/web-socket-server.ts';

const authority = await issueAuthority();
const certificate = await issue({ names: ['a.example'], ips: ['127.0.0.1'], ca: authority });

test('a handshake is up, with its headers and its protocol', async () => {
  await using server = await webSocketServer(() => {});
  const outcome = await probeOnce('websocket', {
    host: `ws://127.0.0.1:${server.port}/feed`,
    headers: { authorization: 'Bearer x' },
    protocol: 'chat',
  });
  expect(outcome).toMatchObject({ status: 'up', detail: { protocol: 'chat', answer: null, tls: null } });
  expect(outcome.phases.first_byte).toBeGreaterThan(0);
  expect(server.headers).toMatchObject([{ authorization: 'Bearer x', 'user-agent': userAgent }]);
});

test('a message is sent, and the one that is expected is waited for', async () => {
  await using server = await webSocketServer((socket) => {
    socket.send('welcome');
    echo(socket);
  });
  const options = { host: `ws://127.0.0.1:${server.port}`, send: 'hello' };
  const outcome = await probeOnce('websocket', { ...options, expect: { regex: 'you said h' } });
  expect(outcome).toMatchObject({ status: 'up', detail: { answer: 'welcome' } });
  expect(outcome.phases.transfer).toBeGreaterThan(0);
  expect(await probeOnce('websocket', { ...options, expect: 'bye', timeout: '300ms' })).toMatchObject({
    status: 'down',
    failure: { code: 'answer', message: 'no message within 300ms contains "bye"' },
  });
});

test('over TLS', async () => {
  await using server = await webSocketServer(echo, certificate);
  const host = `wss://127.0.0.1:${server.port}`;
  const trusted = { host, send: 'a', expect: 'a', tls: { ca: authority.cert } };
  expect(await probeOnce('websocket', trusted)).toMatchObject({
    status: 'up',
    detail: { tls: { protocol: 'TLSv1.3' } },
  });
  expect(await probeOnce('websocket', { host })).toMatchObject({
    status: 'down',
    failure: { code: 'certificate_untrusted' },
  });
});

test('a server that refuses, redirects, closes, is silent or talks another language is down', async () => {
  await using web = await serveHttp((_request, response) => void response.writeHead(302, { location: '/' }).end());
  expect(await probeOnce('websocket', { host: `ws://127.0.0.1:${web.port}` })).toMatchObject({
    status: 'down',
    failure: { code: 'status' },
    detail: { status: 302 },
  });
  await using closing = await webSocketServer((socket) => socket.close(1_013, 'later'));
  expect(await probeOnce('websocket', { host: `ws://127.0.0.1:${closing.port}`, expect: 'x' })).toMatchObject({
    status: 'down',
    failure: { code: 'closed', message: 'the server closed the WebSocket with 1013: later' },
  });
  await using silent = await tcpServer(() => {});
  expect(await probeOnce('websocket', { host: `ws://${silent.host}`, timeout: '300ms' })).toMatchObject({
    status: 'down',
    failure: { code: 'timeout', message: 'no handshake within 300ms' },
  });
  await using other = await tcpServer((socket) => void socket.end('SSH-2.0-x\r\n'));
  expect(await probeOnce('websocket', { host: `ws://${other.host}` })).toMatchObject({
    status: 'down',
    failure: { source: 'target' },
  });
});

test('a server that chooses no protocol where one is asked for is down', async () => {
  await using server = await webSocketServer(() => {});
  const outcome = await probeOnce('websocket', { host: `ws://127.0.0.1:${server.port}`, protocol: 'other' });
  expect(outcome).toMatchObject({ status: 'down', failure: { source: 'target', code: 'protocol' } });
});

test('a check that is aborted rejects and leaves nothing open', async () => {
  const ended = new AbortController();
  const { promise, resolve } = Promise.withResolvers<void>();
  await using server = await tcpServer((socket) => {
    socket.once('data', () => resolve());
    socket.once('end', () => socket.end());
  });
  const checking = probeOnce('websocket', { host: `ws://${server.host}`, timeout: '60s' }, ended.signal);
  await promise;
  ended.abort(new Error('enough'));
  await expect(checking).rejects.toThrow('enough');
  await expect.poll(async () => server.connections(), { timeout: 30_000 }).toBe(0);
});
