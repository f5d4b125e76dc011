import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { issue, issueAuthority } from '../../support/certificates.ts';
import { grpcServer } from '../../support/grpc-server.ts';
import { probeOnce } from '../../support/probe-once.ts';
import { tcpServer, tlsServer } from '../../support/tcp-servers.ts';

const authority = await issueAuthority();
const certificate = await issue({ names: ['a.example'], ips: ['127.0.0.1'], ca: authority });

test.each([
  ['', 'up', 'SERVING', null],
  ['shop.Orders', 'up', 'SERVING', null],
  ['shop.Carts', 'down', 'NOT_SERVING', 'its health is NOT_SERVING'],
  ['shop.Nothing', 'down', null, 'gRPC status NOT_FOUND'],
])('the service "%s" is %s', async (service, status, health, message) => {
  await using server = await grpcServer();
  const outcome = await probeOnce('grpc', { host: server.host, health_of: service });
  expect(outcome).toMatchObject({ status, detail: { health, tls: null } });
  expect(outcome.status === 'up' ? null : outcome.failure.message.split(':')[0]).toBe(message);
  expect(outcome.seconds).toBeGreaterThan(0);
});

test('over TLS', async () => {
  await using server = await grpcServer(certificate);
  const trusted = await probeOnce('grpc', { host: server.host, tls: { ca: authority.cert } });
  expect(trusted).toMatchObject({ status: 'up', detail: { health: 'SERVING', tls: { protocol: 'TLSv1.3' } } });
  expect(trusted.phases.tls).toBeGreaterThan(0);
  expect(await probeOnce('grpc', { host: server.host, tls: true })).toMatchObject({
    status: 'down',
    failure: { code: 'certificate_untrusted' },
  });
});

test('a TLS server without HTTP/2 is down', async () => {
  await using server = await tlsServer({ ...certificate, ALPNProtocols: ['http/1.1'] }, () => {});
  const outcome = await probeOnce('grpc', { host: server.host, tls: { ca: authority.cert } });
  expect(outcome).toMatchObject({ status: 'down', failure: { source: 'target' } });
});

test('a server that is no gRPC server, one that is silent, and one that breaks off are down', async () => {
  const web = createServer((_request, response) => void response.writeHead(404).end('no'));
  await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
  // A server that was told to listen on a port has an address with one.
  const { port } = web.address() as AddressInfo;
  expect(await probeOnce('grpc', { host: `127.0.0.1:${port}` })).toMatchObject({
    status: 'down',
    failure: { code: 'status', message: 'HTTP status 404 instead of an answer of gRPC' },
  });
  web.close();
  await using silent = await tcpServer(() => {});
  expect(await probeOnce('grpc', { host: silent.host, timeout: '300ms' })).toMatchObject({
    status: 'down',
    failure: { code: 'timeout' },
  });
  await using rude = await tcpServer((socket) => void socket.end('SSH-2.0-x\r\n'));
  expect(await probeOnce('grpc', { host: rude.host })).toMatchObject({ status: 'down', failure: { source: 'target' } });
});

test('a check that is aborted rejects and leaves nothing open', async () => {
  const ended = new AbortController();
  const { promise, resolve } = Promise.withResolvers<void>();
  await using server = await tcpServer((socket) => {
    socket.once('data', () => resolve());
    socket.once('end', () => socket.end());
  });
  const checking = probeOnce('grpc', { host: server.host, timeout: '60s' }, ended.signal);
  await promise;
  ended.abort(new Error('enough'));
  await expect(checking).rejects.toThrow('enough');
  await expect.poll(async () => server.connections(), { timeout: 30_000 }).toBe(0);
});
