import type { RequestListener } from 'node:http';
import { expect, test } from 'vitest';
import { domain } from '#checks/domain/index.ts';
import { start as startProber } from '#checks/domain/probe.ts';
import type { Gate } from '#checks/gate.ts';
import { outcomeOf } from '#checks/outcome-schemas.ts';
import { type Clock, systemClock } from '#kernel/clock.ts';
import { issue, issueAuthority } from '../../support/certificates.ts';
import { forbidden, loopbackGate } from '../../support/http-check.ts';
import { arrived, serveHttp, serveHttps } from '../../support/http-servers.ts';
import { tcpServer } from '../../support/tcp-servers.ts';
import { seededRandom } from '../../support/seeded-random.ts';

const hour = 3_600_000;
const day = 24 * hour;

/** The machine's clock, moved on at will. */
function movingClock() {
  let ahead = 0;
  const clock: Clock = {
    now: () => Date.UTC(2026, 0, 1) + ahead,
    elapsed: () => systemClock.elapsed() + ahead,
    after: (ms, action) => systemClock.after(ms, action),
  };
  return { clock, pass: (ms: number) => void (ahead += ms) };
}

/** A registry that lists itself, as IANA does, and answers for the domains under it. */
async function registry(answer: RequestListener, list: (url: string) => unknown = (url) => [[['example'], [url]]]) {
  const asked: string[] = [];
  const server = await serveHttp((request, response) => {
    asked.push(request.url ?? '');
    if (request.url !== '/dns.json') return answer(request, response);
    response.end(JSON.stringify({ version: '1.0', services: list(`http://127.0.0.1:${server.port}/rdap/`) }));
  });
  return {
    asked,
    server,
    bootstrap: `http://127.0.0.1:${server.port}/dns.json`,
    [Symbol.asyncDispose]: async () => server[Symbol.asyncDispose](),
  };
}

const registered = (more: object = {}) => ({
  objectClassName: 'domain',
  ldhName: 'shop.example',
  status: ['client transfer prohibited'],
  events: [
    { eventAction: 'registration', eventDate: '2001-01-31T00:00:00Z' },
    { eventAction: 'expiration', eventDate: '2026-01-31T12:00:00Z' },
  ],
  entities: [
    { roles: ['abuse'] },
    {
      roles: ['registrar'],
      vcardArray: [
        'vcard',
        [
          ['version', {}, 'text', '4.0'],
          ['fn', {}, 'text', 'Names Inc.'],
        ],
      ],
    },
  ],
  ...more,
});

const says =
  (value: object): RequestListener =>
  (_, response) =>
    void response.setHeader('content-type', 'application/rdap+json').end(JSON.stringify(value));

interface Asking {
  readonly clock?: Clock;
  readonly gate?: Gate;
}

async function startDomain({ clock = movingClock().clock, gate = loopbackGate() }: Asking = {}) {
  const prober = await startProber({ clock, random: seededRandom(), localAddress: {} });
  return async (options: object, signal = new AbortController().signal) => {
    const spec = domain.Spec.parse({ type: 'domain', host: 'www.shop.example', ...options });
    return outcomeOf(domain.Detail).parse(await prober.probe(spec, { gate, signal }));
  };
}

test('finds out by the list and the registry when a domain expires, and with whom it is', async () => {
  await using at = await registry(says(registered()));
  const check = await startDomain();
  const outcome = await check({ bootstrap: at.bootstrap });
  expect(outcome).toMatchObject({
    status: 'up',
    address: '127.0.0.1',
    facts: { domain_expires_at: Date.UTC(2026, 0, 31, 12) / 1_000 },
    detail: {
      expires_at: '2026-01-31T12:00:00.000Z',
      registrar: 'Names Inc.',
      status: ['client transfer prohibited'],
      server: `127.0.0.1:${at.server.port}`,
      asked_at: '2026-01-01T00:00:00.000Z',
      problem: null,
    },
  });
  expect(outcome.seconds).toBeGreaterThan(0);
  expect(outcome.phases.connect).toBeGreaterThan(0);
  expect(at.asked).toEqual(['/dns.json', '/rdap/domain/shop.example']);
  await arrived();
  expect(at.server.open.size).toBe(0);
});

test.each([
  ['one that lasts as long as is asked for', registered(), { valid_for: '30d' }, 'up', null],
  ['one that ends soon', registered(), { valid_for: '31d' }, 'down', 'domain_expires_soon'],
  [
    'one that has ended',
    registered({ events: [{ eventAction: 'expiration', eventDate: '2025-12-31T23:59:59Z' }] }),
    {},
    'down',
    'domain_expired',
  ],
  ['one in its redemption period', registered({ status: ['Redemption Period'] }), {}, 'down', 'domain_expired'],
  ['one whose registry tells no date', registered({ events: [] }), {}, 'up', null],
  ['one without a date, where one is asked for', registered({ events: [] }), { valid_for: '1d' }, 'unknown', 'answer'],
  [
    'events that are none',
    registered({ events: ['x', null, { eventAction: 'expiration', eventDate: 'soon' }] }),
    {},
    'up',
    null,
  ],
  ['an answer about another domain', registered({ ldhName: 'other.example' }), {}, 'unknown', 'protocol'],
  ['an answer that writes the domain in another way', registered({ ldhName: 'SHOP.example.' }), {}, 'up', null],
  ['an answer about something else', { objectClassName: 'entity' }, {}, 'unknown', 'protocol'],
])('%s', async (_, value, wanted, status, code) => {
  await using at = await registry(says(value));
  const check = await startDomain();
  const outcome = await check({ bootstrap: at.bootstrap, expect: wanted });
  expect([outcome.status, outcome.status === 'up' ? null : outcome.failure.code]).toEqual([status, code]);
});

test('a domain that the registry does not know is not registered: that is the fault of the target', async () => {
  await using at = await registry((_, response) => void response.writeHead(404).end());
  const check = await startDomain();
  expect(await check({ bootstrap: at.bootstrap })).toMatchObject({
    status: 'down',
    failure: { source: 'target', code: 'name_not_found', message: expect.stringContaining('is not registered') },
  });
});

test('a registry is asked once in six hours, whoever asks how often, and the list is fetched once a day', async () => {
  await using at = await registry(says(registered()));
  const { clock, pass } = movingClock();
  const check = await startDomain({ clock });
  const options = { bootstrap: at.bootstrap };
  const [first, second] = await Promise.all([check(options), check({ ...options, host: 'shop.example' })]);
  expect([first.status, second.status]).toEqual(['up', 'up']);
  expect([first.seconds, second.seconds].filter((seconds) => seconds === null)).toHaveLength(1);
  pass(6 * hour - 60_000);
  expect(await check(options)).toMatchObject({ status: 'up', seconds: null, address: null, phases: {} });
  expect(at.asked).toHaveLength(2);
  pass(60_000);
  expect((await check(options)).seconds).toBeGreaterThan(0);
  expect(at.asked).toHaveLength(3);
  pass(18 * hour);
  await check(options);
  expect(at.asked.filter((path) => path === '/dns.json')).toHaveLength(2);
});

test('what was heard does for three days where the registry fails, and then nobody knows', async () => {
  let fails = false;
  await using at = await registry((request, response) => {
    if (fails) response.writeHead(429, { 'retry-after': '7200' }).end();
    else says(registered())(request, response);
  });
  const { clock, pass } = movingClock();
  const check = await startDomain({ clock });
  const options = { bootstrap: at.bootstrap };
  await check(options);
  fails = true;
  pass(6 * hour);
  const problem = `the RDAP server 127.0.0.1:${at.server.port} answered 429`;
  expect(await check(options)).toMatchObject({
    status: 'up',
    detail: { problem, asked_at: '2026-01-01T00:00:00.000Z' },
  });
  const asked = at.asked.length;
  pass(2 * hour - 60_000);
  await check(options);
  expect(at.asked).toHaveLength(asked);
  pass(60_000);
  await check(options);
  expect(at.asked).toHaveLength(asked + 1);
  pass(3 * day);
  expect(await check(options)).toMatchObject({
    status: 'unknown',
    failure: { source: 'third_party', code: 'status', message: problem },
  });
});

test('nobody knows of a domain whose top-level domain has no server, and "server" names one', async () => {
  await using at = await registry(says(registered()), () => [[['com'], ['https://rdap.invalid/']]]);
  const check = await startDomain();
  await using root = await tcpServer((socket) => socket.end('domain: EXAMPLE\n'));
  expect(await check({ bootstrap: at.bootstrap, whois: root.host })).toMatchObject({
    status: 'unknown',
    failure: {
      source: 'third_party',
      code: 'unsupported',
      message: 'no RDAP and no WHOIS server is known for shop.example: "server" or "whois" can name one',
    },
  });
  const server = `http://127.0.0.1:${at.server.port}`;
  expect(await check({ bootstrap: at.bootstrap, server })).toMatchObject({ status: 'up' });
  expect(at.asked).toEqual(['/dns.json', '/domain/shop.example']);
});

test('a list whose server cannot be trusted is not believed', async () => {
  const certificate = await issue({ ips: ['127.0.0.1'], ca: await issueAuthority() });
  await using list = await serveHttps(certificate, (_, response) => void response.end('{"services":[]}'));
  const check = await startDomain({ clock: systemClock });
  expect(await check({ bootstrap: `https://127.0.0.1:${list.port}/` })).toMatchObject({
    status: 'unknown',
    failure: { source: 'third_party', code: 'certificate_untrusted' },
  });
});

test.each([
  ['a broken list', (response: Parameters<RequestListener>[1]) => response.end('{"services":5}'), 'protocol'],
  ['a list that is not there', (response: Parameters<RequestListener>[1]) => response.writeHead(503).end(), 'status'],
  ['a silent server', () => {}, 'timeout'],
])('%s is no fault of the domain', async (_, answer, code) => {
  await using server = await serveHttp((_request, response) => void answer(response));
  const check = await startDomain();
  const bootstrap = `http://127.0.0.1:${server.port}/dns.json`;
  expect(await check({ bootstrap, timeout: code === 'timeout' ? '300ms' : '20s' })).toMatchObject({
    status: 'unknown',
    failure: { source: 'third_party', code, message: expect.stringContaining('the list of RDAP servers at 127.0.0.1') },
  });
});

test('a list and a registry at addresses that may not be reached are refused', async () => {
  const gate = loopbackGate({ 'rdap.inside.example': forbidden });
  await using at = await registry(says(registered()), () => [[['example'], ['http://rdap.inside.example/']]]);
  const check = await startDomain({ gate });
  const refused = { status: 'unknown', failure: { source: 'node', code: 'forbidden' } };
  expect(await check({ bootstrap: at.bootstrap })).toMatchObject(refused);
  expect(await check({ bootstrap: 'http://rdap.inside.example/dns.json', host: 'b.example' })).toMatchObject(refused);
});

test('an answer that never ends is cut off', async () => {
  await using at = await registry((_, response) => {
    const more = () => void (response.destroyed || (response.write('x'.repeat(65_536)), setImmediate(more)));
    more();
  });
  const check = await startDomain();
  expect(await check({ bootstrap: at.bootstrap })).toMatchObject({
    status: 'unknown',
    failure: { source: 'third_party', code: 'too_large' },
  });
});

test('a check that is aborted rejects, leaves nothing open, and does not keep others from asking', async () => {
  let silent = true;
  await using at = await registry((request, response) => {
    if (!silent) says(registered())(request, response);
  });
  const check = await startDomain();
  const ended = new AbortController();
  const first = check({ bootstrap: at.bootstrap, timeout: '60s' }, ended.signal);
  await expect.poll(() => at.asked.length, { timeout: 30_000 }).toBe(2);
  const second = check({ bootstrap: at.bootstrap, timeout: '60s' });
  silent = false;
  ended.abort(new Error('enough'));
  await expect(first).rejects.toThrow('enough');
  expect(await second).toMatchObject({ status: 'up' });
  await expect.poll(() => at.server.open.size, { timeout: 30_000 }).toBe(0);
});

test.each([
  ['https://WWW.Shop.Example.co.uk/path', 'example.co.uk'],
  ['münchen.de', 'xn--mnchen-3ya.de'],
])('%s stands for %s', (host, recorded) => {
  const spec = domain.Spec.parse({ type: 'domain', host });
  expect(spec.host).toBe(recorded);
  expect(domain.Spec.parse({ type: 'domain', host: recorded }).host).toBe(recorded);
});

test.each([
  ['192.0.2.1', 'is an address'],
  ['co.uk', 'is no domain that anybody can register'],
  ['localhost', 'is no domain that anybody can register'],
])('%s is refused', (host, message) => {
  expect(domain.Spec.safeParse({ type: 'domain', host }).error?.issues[0]?.message).toContain(message);
});
