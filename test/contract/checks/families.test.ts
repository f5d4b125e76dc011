import { isIP } from 'node:net';
import { expect, test } from 'vitest';
import { createGate } from '#checks/gate.ts';
import { checkOf, CheckSpec, type Outcome } from '#checks/index.ts';
import { failure } from '#checks/outcome.ts';
import { describeOutcome } from '#cli/check/outcome.ts';
import { systemClock } from '#kernel/clock.ts';
import { systemRandom } from '#kernel/random.ts';
import { issue, issueAuthority } from '../../support/certificates.ts';
import { closedPort, type Listening, tcpServer, tlsServer } from '../../support/tcp-servers.ts';
import { startProber } from '../../support/probe-once.ts';

// A name with IPv4 and IPv6, of which one may be broken.

const both = ['127.0.0.1', '::1'];

async function check(given: object, addresses: readonly string[] = both): Promise<Outcome> {
  const spec = CheckSpec.parse({ timeout: '2s', ...given });
  const clock = systemClock;
  const resolver = {
    resolve: async (name: string, { families }: { readonly families: readonly number[] }) => {
      const fitting = addresses.filter((address) => families.includes(isIP(address)));
      return fitting.length > 0
        ? { ok: true as const, addresses: fitting }
        : { ok: false as const, failure: failure('target', 'name_without_address', `the name ${name} has none`) };
    },
  };
  const gate = createGate({ policy: 'private', allow: [], deny: [], resolver, clock, ownAddresses: () => [] });
  const prober = await startProber(spec.type, { clock, random: systemRandom, localAddress: {} });
  try {
    return checkOf(spec.type).Outcome.parse(await prober.probe(spec, { gate, signal: new AbortController().signal }));
  } finally {
    await prober.close();
  }
}

const reply = 'HTTP/1.1 204 No Content\r\n\r\n';
const answer =
  (text = reply) =>
  async (address: string, port = 0) =>
    tcpServer((socket) => void socket.once('data', () => socket.end(text)), address, port);

async function pair(six = answer(), four = answer()): Promise<Listening> {
  const first = await four('127.0.0.1');
  const second = await six('::1', first.port);
  return {
    ...first,
    async [Symbol.asyncDispose]() {
      await first[Symbol.asyncDispose]();
      await second[Symbol.asyncDispose]();
    },
  };
}

const specs = (port: number) => [
  { type: 'http', host: `http://a.example:${port}` },
  { type: 'tcp', host: `a.example:${port}` },
];

test('both families that work are up, with the time of each, and the outcome is that of the slower', async () => {
  await using servers = await pair();
  for (const spec of specs(servers.port)) {
    const outcome = await check({ ...spec, family: 'both' });
    expect(outcome).toMatchObject({ status: 'up' });
    const { ipv4_seconds: four = 0, ipv6_seconds: six = 0 } = outcome.facts;
    expect(Math.min(four, six)).toBeGreaterThan(0);
    expect(outcome.seconds).toBe(Math.max(four, six));
    expect(outcome.address).toBe(six > four ? '::1' : '127.0.0.1');
  }
});

test.each([
  ['127.0.0.1', '::1', 'IPv6: connection refused; IPv4 answers', 'ipv4_seconds'],
  ['::1', '127.0.0.1', 'IPv4: connection refused; IPv6 answers', 'ipv6_seconds'],
])('a server on %s alone is down, and the failure names the family', async (serving, broken, message, fact) => {
  await using server = await answer()(serving);
  for (const spec of specs(server.port)) {
    const outcome = await check({ ...spec, family: 'both' });
    expect(outcome).toMatchObject({ status: 'down', address: broken, failure: { code: 'refused', message } });
    expect(Object.keys(outcome.facts)).toEqual([fact]);
    expect(await check({ ...spec, family: 'happy_eyeballs' })).toMatchObject({
      status: 'up',
      address: serving,
      facts: { ip_protocol: isIP(serving) },
    });
  }
});

test('a name without an address of one family is down with "both", and up with "happy_eyeballs"', async () => {
  await using server = await answer()('127.0.0.1');
  for (const spec of specs(server.port)) {
    expect(await check({ ...spec, family: 'both' }, ['127.0.0.1'])).toMatchObject({
      status: 'down',
      failure: { code: 'name_without_address', message: 'IPv6: the name a.example has none; IPv4 answers' },
    });
    expect(await check({ ...spec, family: 'happy_eyeballs' }, ['127.0.0.1'])).toMatchObject({ status: 'up' });
  }
});

test('what fails in the same way over both is said once', async () => {
  const port = await closedPort();
  expect(await check({ type: 'tcp', host: `a.example:${port}`, family: 'both' })).toMatchObject({
    failure: { message: 'IPv4 and IPv6: connection refused' },
  });
  expect(await check({ type: 'tcp', host: `a.example:${port}`, family: 'happy_eyeballs' })).toMatchObject({
    status: 'down',
    failure: { code: 'refused', message: 'IPv6: connection refused; IPv4: connection refused' },
  });
});

test('another answer over one family than over the other is down by that family', async () => {
  await using servers = await pair(answer('HTTP/1.1 503 Maintenance\r\nContent-Length: 0\r\n\r\n'));
  expect(await check({ type: 'http', host: `http://a.example:${servers.port}`, family: 'both' })).toMatchObject({
    status: 'down',
    detail: { status: 503 },
    failure: { code: 'status', message: expect.stringMatching(/^IPv6: .*503.*; IPv4 answers$/) },
  });
});

test('of two certificates the one that ends first counts', async () => {
  const ca = await issueAuthority();
  const [long, short] = [40, 20].map(async (days) => issue({ names: ['a.example'], days: [-1, days], ca }));
  await using four = await tlsServer((await long) ?? {}, () => {});
  await using six = await tlsServer((await short) ?? {}, () => {}, '::1', four.port);
  const spec = { type: 'tls', host: `a.example:${six.port}`, ca: ca.cert, family: 'both' };
  const outcome = await check(spec);
  expect(outcome.status).toBe('up');
  const days = ((outcome.facts.certificate_expires_at ?? 0) - Date.now() / 1_000) / 86_400;
  expect(Math.round(days)).toBe(20);
  expect(await check({ ...spec, expect: { valid_for: '30d' } })).toMatchObject({
    status: 'down',
    address: '::1',
    failure: { code: 'certificate_expires_soon', message: expect.stringMatching(/^IPv6: .*; IPv4 answers$/) },
  });
});

test('echoes over both families: each is timed, and a name without one of them is down', async (context) => {
  const ping = await startProber('ping', { clock: systemClock, random: systemRandom, localAddress: {} });
  const { capability } = ping;
  await ping.close();
  if (!capability.able) return context.skip(capability.reason);
  const spec = { type: 'ping', host: 'a.example', family: 'both', count: 1 };
  const outcome = await check(spec);
  expect(outcome).toMatchObject({ status: 'up', facts: { loss: 0 } });
  const { ipv4_seconds: four = 0, ipv6_seconds: six = 0 } = outcome.facts;
  expect(Math.min(four, six)).toBeGreaterThan(0);
  expect(outcome.seconds).toBe(Math.max(four, six));
  expect(await check(spec, ['127.0.0.1'])).toMatchObject({
    status: 'down',
    failure: { code: 'name_without_address', message: 'IPv6: the name a.example has none; IPv4 answers' },
  });
});

test('the command shows the time of each family', async () => {
  await using servers = await pair();
  const given = { type: 'tcp', host: `a.example:${servers.port}`, family: 'both' };
  const outcome = await check(given);
  const shown = describeOutcome(CheckSpec.parse(given), outcome, (_, text = '') => text);
  expect(shown).toMatch(/^ +IPv4 +\d[^\n]*s\n +IPv6 +\d[^\n]*s$/m);
});

test('an end from outside ends both', async () => {
  const spec = CheckSpec.parse({ type: 'tcp', host: 'localhost:1', family: 'both' });
  const prober = await startProber('tcp', { clock: systemClock, random: systemRandom, localAddress: {} });
  const resolver = { resolve: async () => new Promise<never>(() => {}) };
  const gate = createGate({
    policy: 'private',
    allow: [],
    deny: [],
    resolver,
    clock: systemClock,
    ownAddresses: () => [],
  });
  const signal = AbortSignal.abort(new Error('enough'));
  await expect(prober.probe(spec, { gate, signal })).rejects.toThrow('enough');
});

test.each(['http', 'tcp', 'tls', 'ping'])('two families need a name: %s', (type) => {
  const refused = CheckSpec.safeParse({ type, host: '[::1]', family: 'both' });
  expect(refused.error?.issues[0]).toMatchObject({
    path: ['family'],
    message: '"both" needs a host name: an address has one family',
  });
});

test('a proxy resolves names itself', () => {
  const refused = CheckSpec.safeParse({
    type: 'http',
    host: 'http://a.example',
    family: 'both',
    proxy: { url: 'http://p.example' },
  });
  expect(refused.error?.issues[0]).toMatchObject({ path: ['family'] });
});
