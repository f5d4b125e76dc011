import { once } from 'node:events';
import { readdirSync, readlinkSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Prober } from '#checks/check.ts';
import { outcomeOf } from '#checks/outcome-schemas.ts';
import { ping } from '#checks/ping/index.ts';
import { start as startProber } from '#checks/ping/probe.ts';
import { systemClock } from '#kernel/clock.ts';
import { systemRandom } from '#kernel/random.ts';
import { addressGate } from '../../support/address-gate.ts';

type PingProber = Awaited<ReturnType<typeof startProber>>;

const environment = { clock: systemClock, random: systemRandom, localAddress: {} };
const Outcome = outcomeOf(ping.Detail);

const specOf = (host: string, options = {}) => ping.Spec.parse({ type: 'ping', host, interval: '10ms', ...options });
const run = async (prober: PingProber, host: string, options = {}, signal = new AbortController().signal) =>
  prober.probe(specOf(host, options), { gate: addressGate, signal });

function openSockets(): number {
  const links = readdirSync('/proc/self/fd').map((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return '';
    }
  });
  return links.filter((link) => link.startsWith('socket:')).length;
}

// Where the machine forbids ICMP, the tests say so and are skipped, except on CI, where they have to run.
const { capability } = await withProber(async (prober) => prober);
const reason = capability.able || process.env.CI ? null : capability.reason;

async function withProber<T>(use: (prober: PingProber) => Promise<T>): Promise<T> {
  const prober = await startProber(environment);
  try {
    return await use(prober);
  } finally {
    await prober.close();
  }
}

test('this machine may ping', (context) => {
  if (reason !== null) context.skip(reason);
  expect(capability).toEqual({ able: true });
});

describe.skipIf(reason !== null)('on loopback', () => {
  let prober: Prober<ReturnType<typeof specOf>, unknown>;

  beforeAll(async () => {
    prober = await startProber(environment);
  });

  afterAll(async () => {
    await prober.close();
  });

  test.each(['127.0.0.1', '::1'])('%s is up with the kernel’s times and its TTL', async (host) => {
    const outcome = Outcome.parse(await run(prober as PingProber, host));
    expect(outcome).toMatchObject({ status: 'up', address: host, facts: { loss: 0 }, detail: { timed_by: 'kernel' } });
    expect(outcome.detail?.attempts.map(({ status, ttl }) => [status, ttl])).toEqual(
      [0, 1, 2, 3].map(() => ['OK', 64]),
    );
    const { rtt_min: min = 0, rtt_mean: mean = 0, rtt_max: max = 0 } = outcome.facts;
    expect([outcome.seconds, min <= mean, mean <= max]).toEqual([mean, true, true]);
  });

  test('the whole of 127.0.0.0/8 is pinged at the same time through one socket', async () => {
    const before = openSockets();
    const hosts = Array.from({ length: 100 }, (_, index) => `127.0.1.${index + 1}`);
    const outcomes = Promise.all(hosts.map(async (host) => run(prober as PingProber, host)));
    expect(openSockets()).toBe(before);
    expect((await outcomes).map(({ status, address, facts }) => [status, address, facts.loss])).toEqual(
      hosts.map((host) => ['up', host, 0]),
    );
  });

  test('replies are read while the loop is held up only every now and then', async () => {
    const pings = run(prober as PingProber, '127.0.0.1', { count: 10 });
    const end = systemClock.elapsed() + 400;
    while (systemClock.elapsed() < end);
    const outcome = await pings;
    expect(outcome).toMatchObject({ status: 'up', facts: { loss: 0 } });
    expect(outcome.facts.rtt_max).toBeLessThan(0.2);
  });

  test('a name without an address is the gate’s failure, with the time it took', async () => {
    expect(await run(prober as PingProber, 'nowhere.invalid')).toMatchObject({
      status: 'down',
      failure: { source: 'target', code: 'name_not_found' },
      phases: { resolve: 0.001 },
      detail: null,
    });
  });

  test('an aborted ping rejects with the reason', async () => {
    const abort = new AbortController();
    const pinging = run(prober as PingProber, '127.0.0.1', { interval: '10s' }, abort.signal);
    abort.abort(new Error('enough'));
    await expect(pinging).rejects.toThrow('enough');
  });
});

test.skipIf(reason !== null)('closing gives back every descriptor, also during a ping', async () => {
  const before = openSockets();
  const prober = await startProber(environment);
  expect(openSockets()).toBe(before + 2);
  const pinging = run(prober, '127.0.0.1', { interval: '10s' });
  await run(prober, '::1', { count: 1 });
  const settled = expect(pinging).rejects.toMatchObject({ code: 'node_gone' });
  await prober.close();
  await prober.close();
  await settled;
  expect(openSockets()).toBe(before);
});

test.skipIf(reason !== null)('a source address is used, and one that is not ours is named', async () => {
  const start = async (address: string) => startProber({ ...environment, localAddress: { 4: address, 6: '::1' } });
  const good = await start('127.0.0.9');
  expect(await run(good, '127.0.0.1', { count: 1 })).toMatchObject({ status: 'up' });
  await good.close();
  const bad = await start('192.0.2.99');
  expect(await run(bad, '127.0.0.1', { count: 1 })).toMatchObject({
    status: 'unknown',
    failure: { source: 'node', code: 'unsupported', message: expect.stringContaining('192.0.2.99') },
  });
  expect(await run(bad, '::1', { count: 1 })).toMatchObject({ status: 'up' });
  await bad.close();
});

describe.skipIf(reason !== null)('in a thread', () => {
  // A thread that ends right after its message can be told to have ended in the same breath.
  const start = async (workerData: 'busy' | 'idle') => {
    const worker = new Worker(new URL('../../support/ping-worker.ts', import.meta.url), { workerData });
    const exit = once(worker, 'exit');
    await once(worker, 'message');
    return { worker, exit };
  };

  test('open sockets do not keep it alive', async () => {
    const { exit } = await start('idle');
    expect(await exit).toEqual([0]);
  });

  test('terminating it during a ping ends it cleanly', async () => {
    const { worker } = await start('busy');
    expect(await worker.terminate()).toBe(1);
  });
});
