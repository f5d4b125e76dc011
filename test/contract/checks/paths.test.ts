import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { CheckSpec } from '#checks/index.ts';
import type { Detail as MtrDetail } from '#checks/mtr/detail.ts';
import { withNames } from '#checks/path/hop-names.ts';
import { type PathTrace, tracePath } from '#checks/path/trace.ts';
import { systemClock } from '#kernel/clock.ts';
import { systemRandom } from '#kernel/random.ts';
import { startAgent } from '#node/agent.ts';
import { dnsServer } from '../../support/dns-server.ts';
import { probeOnce } from '../../support/probe-once.ts';
import { tcpServer } from '../../support/tcp-servers.ts';

const descriptors = () => readdirSync('/proc/self/fd').length;

test.each(['udp', 'tcp'] as const)('this machine is one hop away: %s', async (protocol) => {
  const host = '127.0.0.1';
  const outcome = await probeOnce('traceroute', { host, protocol, port: 9, timeout: '500ms' });
  expect(outcome).toMatchObject({ status: 'up', address: host, facts: { hops: 1 } });
  const { hops, end } = outcome.detail as PathTrace;
  expect(end).toBe('reached');
  const kind = protocol === 'udp' ? 'port_unreachable' : 'refused';
  expect(hops).toMatchObject([{ hop: 1, probes: [{ address: host, kind }, { kind }, { kind }] }]);
  expect(outcome.seconds).toBeGreaterThan(0);
});

test.each([
  ['closes', (socket: Socket) => void socket.end()],
  ['resets', (socket: Socket) => void socket.resetAndDestroy()],
])('a server that %s connections at once has accepted them', async (_, onConnection) => {
  await using server = await tcpServer(onConnection);
  const spec = { host: '127.0.0.1', protocol: 'tcp', port: server.port, timeout: '500ms' };
  for (let round = 0; round < 5; round += 1) {
    const outcome = await probeOnce('traceroute', spec);
    expect(outcome.status).toBe('up');
    const kind = 'connected';
    expect((outcome.detail as PathTrace).hops).toMatchObject([{ hop: 1, probes: [{ kind }, { kind }, { kind }] }]);
  }
});

test.each([
  ['ignores datagrams', 3, { end: 'silent', hops: [{ hop: 1, probes: [{ kind: 'none' }] }] }],
  ['answers them', 1, { end: 'reached', hops: [{ hop: 1, probes: [{ kind: 'reply' }] }] }],
])('a server that %s gets %i of them if its port is to be spared', async (kind, most, trace) => {
  const socket = createSocket('udp4');
  let received = 0;
  socket.on('message', (_, { port, address }) => {
    received += 1;
    if (kind === 'answers them') socket.send('fine', port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address();
  const options = { address: '127.0.0.1', family: 4, protocol: 'udp', port, waitMs: 200, sparesPort: true } as const;
  const found = await tracePath(options, { clock: systemClock, random: systemRandom }, new AbortController().signal);
  socket.close();
  expect(received).toBe(most);
  expect(found).toMatchObject(trace);
});

test('a port that is to be spared and closed is reached', async () => {
  const options = { address: '127.0.0.1', family: 4, protocol: 'udp', port: 9, waitMs: 500, sparesPort: true } as const;
  const found = await tracePath(options, { clock: systemClock, random: systemRandom }, new AbortController().signal);
  expect(found).toMatchObject({ end: 'reached', hops: [{ hop: 1, probes: [{ kind: 'port_unreachable' }] }] });
});

test('mtr has as many packets as were asked for', async () => {
  const outcome = await probeOnce('mtr', {
    host: '127.0.0.1',
    protocol: 'tcp',
    port: 9,
    packets: 4,
    interval: '100ms',
  });
  expect((outcome.detail as MtrDetail).figures).toMatchObject([{ hop: 1, sent: 4, received: 4, loss: 0 }]);
});

test.each(['udp', 'tcp'] as const)('an abort ends it at once and closes what was open: %s', async (protocol) => {
  const before = descriptors();
  const controller = new AbortController();
  const options = {
    address: '127.0.0.1',
    family: 4,
    protocol,
    port: 9,
    queries: 16,
    everyMs: 5_000,
    waitMs: 10_000,
  } as const;
  const tracing = tracePath(options, { clock: systemClock, random: systemRandom }, controller.signal);
  await pause(100);
  expect(descriptors()).toBeGreaterThanOrEqual(before + 1);
  const reason = new Error('stopped');
  controller.abort(reason);
  await expect(tracing).rejects.toBe(reason);
  expect(descriptors()).toBe(before);
});

test('a source address that is not of this machine is an error, not silence', async () => {
  const options = {
    address: '127.0.0.1',
    family: 4,
    protocol: 'udp',
    port: 9,
    waitMs: 500,
    localAddress: '192.0.2.1',
  } as const;
  const trace = await tracePath(options, { clock: systemClock, random: systemRandom }, new AbortController().signal);
  expect(trace).toMatchObject({ end: 'error', hops: [], error: expect.stringContaining('source address 192.0.2.1') });
});

test('hops get the names that the name server has for them, and the others none in time', async () => {
  await using server = await dnsServer((name) => {
    if (name === '1.2.0.192.in-addr.arpa') return { answers: [{ type: 'PTR', name, data: 'gw.example' }] };
    return name.startsWith('2.') ? { rcode: 'NXDOMAIN' } : null;
  });
  const hops = [1, 2, 3].map((hop) => {
    return { hop, probes: [{ address: `192.0.2.${hop}`, seconds: 0.001, kind: 'time_exceeded' as const }] };
  });
  const trace: PathTrace = {
    protocol: 'udp',
    port: 9,
    address: '192.0.2.9',
    family: 4,
    hops,
    end: 'silent',
    mtu: null,
  };
  const named = await withNames(trace, 300, systemClock, new AbortController().signal, [server.address]);
  expect(named.hops.map(({ probes }) => probes[0]?.name)).toEqual(['gw.example', null, null]);
});

test('of the checks that were started over the API only a few measure paths at the same time', async () => {
  const options = {
    localAddress: {},
    policy: 'private',
    allow: [],
    deny: [],
    knownAs: [],
    running: 100,
    queued: 100,
  } as const;
  const agent = await startAgent(options, systemClock, systemRandom);
  const spec = CheckSpec.parse({
    type: 'mtr',
    host: '127.0.0.1',
    protocol: 'tcp',
    port: 9,
    packets: 2,
    interval: '200ms',
  });
  const most = { api: 0, monitor: 0 };
  const running = { api: 0, monitor: 0 };
  const runOne = async (origin: 'api' | 'monitor') => {
    const command = { spec, policy: 'private', deadlineMs: 30_000, origin } as const;
    const outcome = await agent.run(command, new AbortController().signal, {
      onStarted() {
        running[origin] += 1;
        most[origin] = Math.max(most[origin], running[origin]);
      },
    });
    running[origin] -= 1;
    return outcome.status;
  };
  const all = await Promise.all([...Array(10).fill('api'), ...Array(10).fill('monitor')].map(runOne));
  await agent.close();
  expect(new Set(all)).toEqual(new Set(['up']));
  // One may begin before the end of another is heard of here.
  expect(most.api).toBeLessThanOrEqual(5);
  expect(most.monitor).toBe(10);
});
