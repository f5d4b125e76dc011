import { expect, test } from 'vitest';
import { createExchange } from '#checks/ping/exchange.ts';
import { sendEchoes } from '#checks/ping/probe.ts';
import { Spec } from '#checks/ping/spec.ts';
import { systemRandom } from '#kernel/random.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { fakeEchoSocket } from '../../../support/fake-echo-socket.ts';

// The machine that runs this has a loopback interface, and no network of the addresses for documentation.
test.each([
  { name: 'of our own next hop', by: '127.0.0.1', status: 'unknown', source: 'node', code: 'local' },
  { name: 'of a router on the way', by: '192.0.2.254', status: 'down', source: 'target', code: 'unreachable' },
])('that a host is unreachable, as a complaint $name, is $status', async ({ by, ...expected }) => {
  const clock = new FakeClock();
  const socket = fakeEchoSocket(clock);
  const exchange = createExchange(clock, socket);
  const address = '198.51.100.1';
  const pinned = { ok: true, address, family: 4, addresses: [address], seconds: 0 } as const;
  const site = {
    pinned,
    phases: {},
    signal: new AbortController().signal,
    pin: async () => pinned,
    connect: async () => Promise.reject(new Error('a ping connects nowhere')),
  };
  const spec = Spec.parse({ type: 'ping', host: address, count: 1 });
  const environment = { clock, random: systemRandom, localAddress: {} };
  const pinging = sendEchoes(spec, { ok: true, exchange }, site, environment);
  await clock.advance(20);
  socket.notify(socket.sent[0], { type: 3, code: 1, fromNetwork: true, by });
  await clock.advance(10_000);
  const { status, source, code } = expected;
  expect(await pinging).toMatchObject({ status, failure: { source, code } });
});
