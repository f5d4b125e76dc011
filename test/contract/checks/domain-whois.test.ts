import { expect, test } from 'vitest';
import { domain } from '#checks/domain/index.ts';
import { start as startProber } from '#checks/domain/probe.ts';
import { outcomeOf } from '#checks/outcome-schemas.ts';
import { systemClock } from '#kernel/clock.ts';
import { loopbackGate } from '../../support/http-check.ts';
import { serveHttp } from '../../support/http-servers.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { closedPort, tcpServer } from '../../support/tcp-servers.ts';

const year = new Date().getUTCFullYear() + 1;

/** A WHOIS server (RFC 3912): one line in, an answer and the end out. */
async function whoisServer(answer: (question: string) => string) {
  const asked: string[] = [];
  const server = await tcpServer((socket) => {
    socket.once('data', (bytes: Buffer) => {
      asked.push(bytes.toString());
      socket.end(answer(bytes.toString().trim()));
    });
  });
  return Object.assign(server, { asked });
}

async function check(options: object) {
  // A list that knows no server for the top-level domain.
  await using list = await serveHttp((_request, response) => void response.end('{"services":[]}'));
  const prober = await startProber({ clock: systemClock, random: seededRandom(), localAddress: {} });
  const bootstrap = `http://127.0.0.1:${list.port}/dns.json`;
  const spec = domain.Spec.parse({ type: 'domain', host: 'www.shop.example', bootstrap, timeout: '2s', ...options });
  const given = { gate: loopbackGate(), signal: new AbortController().signal };
  const outcome = outcomeOf(domain.Detail).parse(await prober.probe(spec, given));
  const again = outcomeOf(domain.Detail).parse(await prober.probe(spec, given));
  return { outcome, again };
}

const registered = `Domain Name: SHOP.EXAMPLE\r\nRegistrar: Names, Inc.\r\nRegistry Expiry Date: ${year}-03-01T12:00:00Z\r\n`;

test('without an RDAP server the WHOIS server that the first one names is asked, once for several checks', async () => {
  await using registry = await whoisServer(() => registered);
  await using root = await whoisServer(() => `refer:        whois.nic.example:${registry.port}\n\ndomain: EXAMPLE\n`);
  const { outcome, again } = await check({ whois: root.host, expect: { valid_for: '1d' } });
  expect(outcome).toMatchObject({
    status: 'up',
    address: '127.0.0.1',
    facts: { domain_expires_at: Date.UTC(year, 2, 1, 12) / 1_000 },
    detail: { registrar: 'Names, Inc.', server: `whois.nic.example:${registry.port}`, problem: null },
  });
  expect(outcome.phases).toMatchObject({ connect: expect.any(Number), transfer: expect.any(Number) });
  expect(again).toMatchObject({ status: 'up', seconds: null });
  expect([root.asked, registry.asked]).toEqual([['shop.example\r\n'], ['shop.example\r\n']]);
});

test.each([
  ['one that has expired', registered.replace(String(year), '2020'), 'down', 'domain_expired'],
  ['one that is not registered', 'No match for SHOP.EXAMPLE\r\n', 'down', 'name_not_found'],
  ['one in its redemption period', `${registered}Domain Status: pendingDelete\r\n`, 'down', 'domain_expired'],
  ['a refusal', 'Query rate exceeded\r\n', 'unknown', 'protocol'],
  ['no answer', '', 'unknown', 'protocol'],
])('%s', async (_, answer, status, code) => {
  await using registry = await whoisServer(() => answer);
  await using root = await whoisServer(() => `refer: ${registry.host}\n`);
  const { outcome } = await check({ whois: root.host });
  expect([outcome.status, outcome.status === 'up' ? null : outcome.failure.code]).toEqual([status, code]);
});

test('a server that names no other one may know the domain itself; otherwise no server is known', async () => {
  await using registry = await whoisServer(() => registered);
  expect((await check({ whois: registry.host })).outcome).toMatchObject({ status: 'up' });
  await using root = await whoisServer(() => 'domain: EXAMPLE\nwhois:\n');
  expect((await check({ whois: root.host })).outcome).toMatchObject({
    status: 'unknown',
    failure: {
      source: 'third_party',
      code: 'unsupported',
      message: 'no RDAP and no WHOIS server is known for shop.example: "server" or "whois" can name one',
    },
  });
});

test('servers that are away, silent, or talk without an end are no fault of the domain', async () => {
  const closed = `127.0.0.1:${await closedPort()}`;
  await using silent = await tcpServer(() => {});
  await using endless = await tcpServer((socket) => {
    const talk = () => void socket.write('blah\r\n'.repeat(10_000), () => setImmediate(talk));
    talk();
  });
  for (const [whois, code] of [
    [closed, 'refused'],
    [silent.host, 'timeout'],
    [endless.host, 'unsupported'],
  ] as const) {
    const { outcome } = await check({ whois, timeout: '1s' });
    expect(outcome).toMatchObject({ status: 'unknown', failure: { source: 'third_party', code } });
  }
});
