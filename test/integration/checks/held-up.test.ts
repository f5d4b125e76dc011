import { afterAll, expect, test } from 'vitest';
import { CheckSpec, type Outcome } from '#checks/index.ts';
import { systemClock } from '#kernel/clock.ts';
import { systemRandom } from '#kernel/random.ts';
import { startAgent } from '#node/agent.ts';
import { issue } from '../../support/certificates.ts';
import { type LateServer, lateServer } from '../../support/late-server.ts';

// What a node finds of a target while its thread is held up, and reads late what came in time.

const isLinux = process.platform === 'linux';
const protocols = ['http', 'https', 'http2'] as const;
const certificate = await issue({ ips: ['127.0.0.1'] });
// What the kernel tells can be too long by two ticks, of 10 ms at the most.
const toleranceMs = 25;

const agent = await startAgent(
  {
    localAddress: {},
    policy: 'private',
    allow: [],
    deny: [],
    knownAs: [],
    running: 10,
    queued: 10,
    types: ['http', 'tcp', 'tls'],
  },
  systemClock,
  systemRandom,
);
afterAll(async () => agent.close());

async function run(spec: unknown): Promise<Outcome> {
  const command = { spec: CheckSpec.parse(spec), policy: 'private', deadlineMs: 10_000 } as const;
  const outcome = await agent.run(command, new AbortController().signal);
  expect(outcome).toMatchObject({ status: 'up' });
  return outcome;
}

const checkHttp = async ({ port }: LateServer, protocol: (typeof protocols)[number]) =>
  run({
    type: 'http',
    host: `${protocol === 'http' ? 'http' : 'https'}://127.0.0.1:${port}/`,
    http2: protocol === 'http2' ? 'auto' : 'never',
    tls: { verify: false },
  });

/** The phases in milliseconds, and how long the thread was held up at the longest. */
function timesOf({ phases, facts }: Outcome) {
  const { tls = Number.NaN, first_byte: firstByte = Number.NaN, transfer = Number.NaN } = phases;
  return {
    tls: tls * 1e3,
    firstByte: firstByte * 1e3,
    whole: (firstByte + transfer) * 1e3,
    lag: (facts.node_lag ?? 0) * 1e3,
  };
}

test.runIf(isLinux).each(protocols)('%s: an answer that was there in time is no slower', async (protocol) => {
  await using server = await lateServer({ protocol, ...certificate, delaysMs: [50] });
  const { result, atLeastMs, atMostMs } = await server.whileHeldUp(1, async () => checkHttp(server, protocol));
  const { firstByte, whole, lag } = timesOf(result);
  expect(lag).toBeGreaterThan(50);
  expect(firstByte).toBeGreaterThan(atLeastMs[0]!);
  expect(firstByte).toBeLessThan(atMostMs[0]! + toleranceMs);
  expect(whole).toBeLessThan(atMostMs[0]! + 2 * toleranceMs);
});

test.runIf(isLinux).each(protocols)('%s: what came after the first byte makes it no faster', async (protocol) => {
  await using server = await lateServer({ protocol, ...certificate, delaysMs: [50, 100] });
  const { result, atLeastMs, atMostMs } = await server.whileHeldUp(2, async () => checkHttp(server, protocol));
  const { firstByte, whole, lag } = timesOf(result);
  expect(lag).toBeGreaterThan(50);
  expect(firstByte).toBeGreaterThan(atLeastMs[0]!);
  expect(whole).toBeGreaterThan(atLeastMs[1]!);
  expect(whole).toBeLessThan(atMostMs[1]! + toleranceMs);
});

test.runIf(isLinux).each(protocols)('%s: a body takes as long as its server', async (protocol) => {
  await using server = await lateServer({ protocol, ...certificate, delaysMs: [50, 300] });
  const { result, atLeastMs, atMostMs } = await server.whileHeldUp(1, async () => checkHttp(server, protocol));
  const { firstByte, whole, lag } = timesOf(result);
  expect(lag).toBeGreaterThan(50);
  expect(firstByte).toBeGreaterThan(atLeastMs[0]!);
  expect(firstByte).toBeLessThan(atMostMs[0]! + toleranceMs);
  expect(whole).toBeGreaterThan(atLeastMs[1]!);
});

test.runIf(isLinux)('a body that ends with the connection takes until then', async () => {
  for (const parts of [1, 2]) {
    await using server = await lateServer({ protocol: 'http', delaysMs: [50, 300], late: 'end' });
    const { result, atLeastMs, atMostMs } = await server.whileHeldUp(parts, async () => checkHttp(server, 'http'));
    const { firstByte, whole, lag } = timesOf(result);
    expect(lag).toBeGreaterThan(50);
    expect(firstByte).toBeGreaterThan(atLeastMs[0]!);
    expect(firstByte).toBeLessThan(atMostMs[0]! + toleranceMs);
    expect(whole).toBeGreaterThan(atLeastMs[1]!);
    if (parts === 2) expect(whole).toBeLessThan(atMostMs[1]! + toleranceMs);
  }
});

test.runIf(isLinux).each(['http', 'tls'])('%s: a TLS handshake takes as long as its server', async (type) => {
  await using server = await lateServer({ protocol: 'https', ...certificate, delaysMs: [50], late: 'handshake' });
  const { result, atLeastMs, atMostMs } = await server.whileHeldUp(1, async () =>
    type === 'http'
      ? checkHttp(server, 'https')
      : run({ type: 'tls', host: `127.0.0.1:${server.port}`, verify: false }),
  );
  const { tls, lag } = timesOf(result);
  expect(lag).toBeGreaterThan(50);
  expect(tls).toBeGreaterThan(atLeastMs[0]!);
  expect(tls).toBeLessThan(atMostMs[0]! + toleranceMs);
});

test.runIf(isLinux)('tcp: an answer that was there in time is no slower', async () => {
  await using server = await lateServer({ protocol: 'http', delaysMs: [50] });
  const spec = { type: 'tcp', host: `127.0.0.1:${server.port}`, send: 'GET / HTTP/1.0\r\n\r\n', expect: 'part 0' };
  const { result, atLeastMs, atMostMs } = await server.whileHeldUp(1, async () => run(spec));
  const { firstByte, lag } = timesOf(result);
  expect(lag).toBeGreaterThan(50);
  expect(firstByte).toBeGreaterThan(atLeastMs[0]!);
  expect(firstByte).toBeLessThan(atMostMs[0]! + toleranceMs);
});
