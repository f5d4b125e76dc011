import { X509Certificate } from 'node:crypto';
import { createServer } from 'node:tls';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { tls } from '#checks/tls/index.ts';
import { start as startProber } from '#checks/tls/probe.ts';
import { outcomeOf } from '#checks/outcome-schemas.ts';
import { judgeList, listAddresses } from '#checks/revocation/crl.ts';
import { dayMs, hourMs } from '#kernel/units.ts';
import { systemClock } from '#kernel/clock.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { eventually } from '../../support/program.ts';
import { loopbackGate } from '../../support/http-check.ts';
import {
  type AuthorityAnswer,
  type RevocationSource,
  startRevokingAuthority,
} from '../../support/revoking-authority.ts';
import { seededRandom } from '../../support/seeded-random.ts';

const authority = await startRevokingAuthority();
afterAll(async () => authority[Symbol.asyncDispose]());
const { asked, issue, list, origin, respond, revoke } = authority;
const at = new URL(origin).host;

const serveList =
  (bytes: Buffer): AuthorityAnswer =>
  (_request, response) =>
    response.end(bytes);

/** Several checks of a server by one node. */
async function checks(certificate: { readonly cert: string; readonly key: string }, clock: FakeClock | null = null) {
  const server = createServer(certificate, (socket) => socket.end());
  server.on('tlsClientError', (_error, socket) => socket.destroy());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const prober = await startProber({ clock: clock ?? systemClock, random: seededRandom(), localAddress: {} });
  const check = async (more: object = {}, host = `127.0.0.1:${port}`) => {
    const spec = tls.Spec.parse({
      type: 'tls',
      host,
      ca: authority.cert,
      timeout: '5s',
      expect: { not_revoked: true },
      ...more,
    });
    const context = { gate: loopbackGate(), signal: new AbortController().signal };
    return outcomeOf(tls.Detail).parse(await prober.probe(spec, context));
  };
  return {
    check,
    async [Symbol.asyncDispose]() {
      server.close();
      await prober.close();
    },
  };
}

const revoked = {
  status: 'down',
  failure: {
    source: 'target',
    code: 'certificate_untrusted',
    message: expect.stringMatching(/^the certificate was revoked on 20/),
  },
  detail: { tls: { certificate: { issuer: expect.stringContaining('Test authority') } } },
};

test('an OCSP responder is asked once, and what it revokes is down', async () => {
  authority.answer = respond;
  const certificate = issue('by-ocsp', 'ocsp');
  await using server = await checks(certificate);
  asked.length = 0;
  expect(await server.check()).toMatchObject({ status: 'up', seconds: expect.any(Number) });
  expect(await server.check()).toMatchObject({ status: 'up' });
  expect(asked).toEqual(['POST /ocsp']);
  revoke('by-ocsp');
  await using another = await checks(certificate);
  expect(await another.check()).toMatchObject(revoked);
  expect(await another.check({ expect: {} })).toMatchObject({ status: 'up' });
});

test('a list is read where there is no responder, or where that gives no answer', async () => {
  const [good, bad] = [issue('by-list', 'lists'), issue('revoked-by-list', 'lists')];
  revoke('revoked-by-list');
  authority.answer = serveList(list());
  await using one = await checks(good);
  expect(await one.check()).toMatchObject({ status: 'up' });
  await using other = await checks(bad);
  expect(await other.check()).toMatchObject(revoked);

  const certificate = issue('by-both', 'both');
  const all = list();
  authority.answer = (request, response) =>
    request.url === '/ocsp' ? response.writeHead(503).end() : response.end(all);
  await using both = await checks(certificate);
  asked.length = 0;
  expect(await both.check()).toMatchObject({ status: 'up' });
  expect(asked).toEqual(['POST /ocsp', 'GET /all.crl']);
});

test('a responder that is silent is asked after the list from then on', async () => {
  const certificate = issue('silent-responder', 'both');
  // Not before the certificate, whose issuing takes a while on a busy machine.
  const clock = new FakeClock(new Date().toISOString());
  const all = list();
  authority.answer = (request, response) => (request.url === '/ocsp' ? null : response.end(all));
  await using server = await checks(certificate, clock);
  asked.length = 0;
  const first = server.check();
  await eventually(10_000, () => expect(asked).toEqual(['POST /ocsp']));
  const waiting = setInterval(() => void clock.advance(1_000), 20);
  onTestFinished(() => clearInterval(waiting));
  expect(await first).toMatchObject({ status: 'unknown', failure: { source: 'third_party', code: 'timeout' } });
  clearInterval(waiting);
  await clock.advance(11 * 60_000);
  expect(await server.check()).toMatchObject({ status: 'up' });
  expect(asked).toEqual(['POST /ocsp', 'GET /all.crl']);
});

test('an issuer that gives no answer, or a wrong one, leaves the target unknown', async () => {
  const said = async (name: string, source: RevocationSource, how: AuthorityAnswer, more: object = {}) => {
    authority.answer = how;
    await using server = await checks(issue(name, source));
    const outcome = await server.check(more);
    return outcome.status === 'up' ? 'up' : `${outcome.status}, ${outcome.failure.source}: ${outcome.failure.message}`;
  };
  expect(await said('unavailable', 'lists', (_, response) => void response.writeHead(503).end())).toBe(
    `unknown, third_party: the revocation list at ${at}: status 503`,
  );
  expect(await said('silent', 'ocsp', () => {}, { timeout: '700ms' })).toMatch(
    /^unknown, third_party: the OCSP response of .*: timeout after /,
  );
  expect(await said('garbage', 'lists', (_, response) => void response.end('no list'))).toMatch(
    /^unknown, third_party: the revocation list at .* cannot be read: /,
  );
  expect(await said('text', 'ocsp', (_, response) => void response.end('no response'))).toMatch(
    /^unknown, third_party: the OCSP response of .* cannot be read: /,
  );
  expect(
    await said(
      'stale',
      'lists',
      serveList(list('-crl_lastupdate', '20250101000000Z', '-crl_nextupdate', '20250108000000Z')),
    ),
  ).toBe(`unknown, third_party: the revocation list at ${at} expired on 2025-01-08T00:00:00.000Z`);
  expect(
    await said(
      'early',
      'lists',
      serveList(list('-crl_lastupdate', '20990101000000Z', '-crl_nextupdate', '20990108000000Z')),
    ),
  ).toBe(`unknown, third_party: the revocation list at ${at} is not valid before 2099-01-01T00:00:00.000Z`);
  expect(await said('another-part', 'shards', serveList(list('-crlexts', 'shard')))).toBe(
    `unknown, third_party: the revocation list at ${at} is about other certificates`,
  );
  expect(await said('changes', 'lists', serveList(list('-crlexts', 'delta')))).toBe(
    `unknown, third_party: the revocation list at ${at} has only what has changed`,
  );
  const forged = list();
  forged[forged.length - 1] = (forged[forged.length - 1] ?? 0) ^ 1;
  expect(await said('forged', 'lists', serveList(forged))).toBe(
    `unknown, third_party: the revocation list at ${at} is not signed by the certificate's issuer`,
  );
  expect(await said('unnamed', 'plain', () => {})).toBe(
    'down, target: the certificate names no OCSP responder and no revocation list',
  );
});

test('what is good stays good while the issuer is away, as long as it said', async () => {
  const certificate = issue('kept', 'lists');
  // Not before the certificate, whose issuing takes a while on a busy machine.
  const clock = new FakeClock(new Date().toISOString());
  authority.answer = serveList(list());
  await using server = await checks(certificate, clock);
  expect(await server.check()).toMatchObject({ status: 'up' });
  authority.answer = (_, response) => void response.writeHead(503).end();
  await clock.advance(7 * hourMs);
  asked.length = 0;
  expect(await server.check()).toMatchObject({ status: 'up' });
  expect(asked).toEqual(['GET /all.crl']);
  await clock.advance(7 * dayMs);
  expect(await server.check()).toMatchObject({ status: 'unknown', failure: { source: 'third_party' } });
});

test('a list of many entries is searched, and no change of a byte makes one good or ends the check', () => {
  const certificate = new X509Certificate(issue('changed', 'lists').cert);
  revoke('changed');
  const bytes = list();
  const about = { leaf: certificate, issuer: new X509Certificate(authority.cert) };
  const [address = ''] = listAddresses(certificate);
  expect(address).toBe(`${origin}/all.crl`);
  expect(judgeList(bytes, about, address, Date.now()).failure).toMatchObject({ code: 'certificate_untrusted' });
  for (let at = 0; at < bytes.length; at += 1) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ 0x10;
    expect(judgeList(changed, about, address, Date.now()).failure).not.toBeNull();
    expect(judgeList(bytes.subarray(0, at), about, address, Date.now()).failure).not.toBeNull();
  }
});
