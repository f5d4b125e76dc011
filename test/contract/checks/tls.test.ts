import { X509Certificate } from 'node:crypto';
import { expect, test } from 'vitest';
import { issue, issueAuthority, issueIntermediate } from '../../support/certificates.ts';
import { serveHttps } from '../../support/http-servers.ts';
import { probeOnce } from '../../support/probe-once.ts';
import { closedPort, tcpServer, tlsServer } from '../../support/tcp-servers.ts';

const authority = await issueAuthority();
const certificate = await issue({ names: ['a.example'], ips: ['127.0.0.1'], ca: authority });
const intermediate = await issueIntermediate(authority);
const leaf = await issue({ ips: ['127.0.0.1'], ca: intermediate });
const expired = await issueIntermediate(authority, [-30, -1]);
const stale = await issue({ ips: ['127.0.0.1'], ca: expired });
const { fingerprint256 } = new X509Certificate(certificate.cert);

test('a good certificate is up, with the time of the handshake', async () => {
  await using server = await tlsServer(certificate, () => {});
  const outcome = await probeOnce('tls', { host: server.host, ca: authority.cert });
  expect(outcome).toMatchObject({
    status: 'up',
    address: '127.0.0.1',
    detail: { tls: { protocol: 'TLSv1.3', certificate: { issuer: 'CN=Test authority', fingerprint: fingerprint256 } } },
  });
  expect(outcome.seconds).toBe(outcome.phases.tls);
  expect(outcome.phases.connect).toBeGreaterThan(0);
  expect(outcome.facts.certificate_expires_at).toBeGreaterThan(Date.now() / 1_000);
});

test.each([
  [{ expect: { valid_for: '14d', issuer: '^CN=Test', fingerprint: fingerprint256 } }, 'up', null],
  [{ expect: { fingerprint: fingerprint256.replaceAll(':', '').toLowerCase() } }, 'up', null],
  [{ expect: { fingerprint: 'ab'.repeat(32) } }, 'down', 'answer'],
  [{ expect: { issuer: "Let's Encrypt" } }, 'down', 'answer'],
  [{ expect: { valid_for: '90d' } }, 'down', 'certificate_expires_soon'],
  [{ server_name: 'b.example' }, 'down', 'certificate_name'],
  [{ server_name: 'a.example' }, 'up', null],
  [{ server_name: 'b.example', verify: false }, 'up', null],
])('%j is %s %s', async (options, status, code) => {
  await using server = await tlsServer(certificate, () => {});
  const outcome = await probeOnce('tls', { host: server.host, ca: authority.cert, ...options });
  expect(outcome.status).toBe(status);
  expect(outcome.status === 'up' ? null : outcome.failure.code).toBe(code);
  expect(outcome.detail).toMatchObject({ tls: { protocol: 'TLSv1.3' } });
});

// As curl and blackbox_exporter take it: what `ca` names is trusted, whether or not another authority vouches for it.
test.each([
  ['an intermediate', intermediate.cert, 'up', null],
  ["the server's own certificate", leaf.cert, 'up', null],
  ['an intermediate that has expired', expired.cert, 'down', 'certificate_expired'],
  ['another certificate of the same authority', certificate.cert, 'down', 'certificate_untrusted'],
])('%s as the authority', async (_, ca, status, code) => {
  const chain = ca === expired.cert ? { key: stale.key, cert: stale.cert } : leaf;
  await using server = await tlsServer(chain, () => {});
  await using web = await serveHttps(chain, (_request, response) => void response.end());
  const outcomes = [
    await probeOnce('tls', { host: server.host, ca }),
    await probeOnce('http', { host: `https://127.0.0.1:${web.port}`, tls: { ca } }),
  ];
  for (const outcome of outcomes) {
    expect(outcome.status).toBe(status);
    expect(outcome.status === 'up' ? null : outcome.failure.code).toBe(code);
  }
});

test('certificates that lead nowhere do not harm those that do, in whatever order', async () => {
  const cert = [leaf.cert, expired.cert, authority.cert, intermediate.cert].join('\n');
  await using server = await tlsServer({ key: leaf.key, cert }, () => {});
  expect(await probeOnce('tls', { host: server.host, ca: authority.cert })).toMatchObject({ status: 'up' });
});

test('a server without TLS, one that is silent and a closed port are down', async () => {
  await using plain = await tcpServer((socket) => void socket.write('220 hello\r\n'));
  expect(await probeOnce('tls', { host: plain.host })).toMatchObject({ status: 'down', failure: { code: 'tls' } });
  await using silent = await tcpServer(() => {});
  expect(await probeOnce('tls', { host: silent.host, timeout: '200ms' })).toMatchObject({
    status: 'down',
    failure: { code: 'timeout', message: 'no TLS handshake within 200ms' },
  });
  expect(await probeOnce('tls', { host: `127.0.0.1:${await closedPort()}` })).toMatchObject({
    status: 'down',
    failure: { code: 'refused' },
  });
});
