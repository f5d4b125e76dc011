import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { decode } from 'dns-packet';
import { expect, test } from 'vitest';
import { checkOf, CheckSpec, type ProbeContext } from '#checks/index.ts';
import { createGate } from '#checks/gate.ts';
import { createResolver } from '#checks/resolver.ts';
import { systemClock } from '#kernel/clock.ts';
import { systemRandom } from '#kernel/random.ts';
import { FakeClock, withoutTime } from '../../support/fake-clock.ts';
import { distrustingGate, literalGate } from '../../support/literal-gate.ts';
import { answerTo } from '../../support/name-server.ts';
import { startProber } from '../../support/probe-once.ts';

interface Responder extends AsyncDisposable {
  readonly socket: Socket;
  readonly port: number;
  readonly requests: readonly Buffer[];
}

type Reply = (bytes: Uint8Array | string) => void;

/** A UDP port that does with each datagram what the test says. */
async function responder(
  handle: (request: Buffer, reply: Reply, number: number, from: RemoteInfo) => void,
  address = '127.0.0.1',
): Promise<Responder> {
  const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4');
  const requests: Buffer[] = [];
  socket.on('message', (request, from) => {
    requests.push(request);
    handle(request, (bytes) => socket.send(bytes, from.port, from.address), requests.length, from);
  });
  socket.bind(0, address);
  await once(socket, 'listening');
  return {
    socket,
    port: socket.address().port,
    requests,
    async [Symbol.asyncDispose]() {
      socket.close();
      await once(socket, 'close');
    },
  };
}

const context: ProbeContext = { gate: literalGate(), signal: new AbortController().signal };
const udp = checkOf('udp');

const clock = new FakeClock();

/** Runs a check for which no time passes but what its responder lets pass. */
async function run(port: number, options: Record<string, unknown> = {}, within = context, host = '127.0.0.1') {
  const spec = CheckSpec.parse({ type: 'udp', host: `${host}:${port}`, timeout: '3s', ...options });
  const prober = await startProber('udp', { clock, random: systemRandom, localAddress: {} });
  const outcome = udp.Outcome.parse(await withoutTime(clock, prober.probe(spec, within)));
  await prober.close();
  return outcome;
}

async function closedPort(): Promise<number> {
  await using gone = await responder(() => {});
  return gone.port;
}

test('a reply is up, with its time and its bytes', async () => {
  await using server = await responder((_request, reply) => {
    clock.hold(20);
    reply('pong');
  });
  const outcome = await run(server.port);
  expect(outcome).toMatchObject({
    status: 'up',
    seconds: 0.02,
    address: '127.0.0.1',
    detail: { replied: true, sent: 1, bytes: 4, reply: Buffer.from('pong').toString('base64'), note: null },
  });
  expect(server.requests).toEqual([Buffer.from('\r\n\r\n')]);
});

test('a closed port is down as refused, at once', async () => {
  const outcome = await run(await closedPort(), { timeout: '9s' });
  expect(outcome).toMatchObject({
    status: 'down',
    failure: { source: 'target', code: 'refused' },
    address: '127.0.0.1',
  });
  expect(udp.row?.toRow(outcome)).toEqual([{ error: expect.stringContaining('refused'), address: '127.0.0.1' }]);
});

test('silence is neither up nor down, after three datagrams', async () => {
  await using server = await responder(() => void clock.advance(1_000));
  const outcome = await run(server.port);
  expect(outcome).toMatchObject({
    status: 'unknown',
    failure: { source: 'target', code: 'silent' },
    address: '127.0.0.1',
    detail: { replied: false, sent: 3 },
  });
  expect(server.requests).toHaveLength(3);
  expect(udp.row?.toRow(outcome)).toEqual([{ address: '127.0.0.1', timeout: 1 }]);
});

test.each([
  { options: { silence: 'up' }, status: 'up' },
  { options: { silence: 'down' }, status: 'down' },
  { options: { send: 'ntp' }, status: 'down' },
  { options: { expect: 'pong' }, status: 'down' },
  { options: { send: 'ntp', silence: 'unknown' }, status: 'unknown' },
])('silence is $status with $options', async ({ options, status }) => {
  await using server = await responder(() => void clock.advance(3_000));
  const outcome = await run(server.port, { tries: 1, ...options });
  expect(outcome.status).toBe(status);
  expect(udp.row?.toRow(outcome)).toEqual([{ address: '127.0.0.1', timeout: 1 }]);
  expect(server.requests).toHaveLength(1);
});

test('a name that does not resolve has no address in its row', async () => {
  const outcome = await run(9, {}, context, 'nowhere.example');
  expect(outcome).toMatchObject({ status: 'down', failure: { code: 'name_not_found' }, address: null });
  expect(udp.row?.toRow(outcome)).toEqual([{ error: 'nowhere.example does not exist' }]);
});

test('nothing is sent where the gate refuses the connection', async () => {
  await using server = await responder(() => {});
  const outcome = await run(server.port, {}, { ...context, gate: distrustingGate });
  expect(outcome).toMatchObject({ status: 'unknown', failure: { source: 'node', code: 'forbidden' } });
  expect(server.requests).toEqual([]);
});

test('under the policy for strangers no datagram goes to this machine', async () => {
  await using server = await responder(() => {});
  const resolver = createResolver({ clock: systemClock, readFile: async () => '', servers: [] });
  const gate = createGate({
    policy: 'public',
    resolver,
    clock: systemClock,
    allow: [],
    deny: [],
    ownAddresses: () => [],
  });
  for (const host of ['127.0.0.1', '0x7f.1', '[::ffff:127.0.0.1]', 'localhost']) {
    const outcome = await run(server.port, {}, { ...context, gate }, host);
    expect(outcome).toMatchObject({ status: 'unknown', failure: { source: 'node', code: 'forbidden' } });
  }
  expect(server.requests).toEqual([]);
});

test('a source address that this machine does not have is the fault of the node', async () => {
  const spec = CheckSpec.parse({ type: 'udp', host: '127.0.0.1:9', timeout: '20s' });
  const environment = { clock: systemClock, random: systemRandom, localAddress: { 4: '203.0.113.99' } };
  const prober = await startProber('udp', environment);
  const outcome = await prober.probe(spec, context);
  expect(outcome).toMatchObject({ status: 'unknown', failure: { source: 'node', code: 'local' } });
});

test('probes leave from the address that the node was given', async () => {
  await using server = await responder((_request, reply, _number, from) => reply(from.address));
  const spec = CheckSpec.parse({ type: 'udp', host: `127.0.0.1:${server.port}`, expect: '127.0.0.7', timeout: '20s' });
  const prober = await startProber('udp', {
    clock: systemClock,
    random: systemRandom,
    localAddress: { 4: '127.0.0.7' },
  });
  expect(await prober.probe(spec, context)).toMatchObject({ status: 'up' });
});

test('a lost datagram is sent again', async () => {
  await using server = await responder((_request, reply, number) => {
    if (number === 2) reply('here');
    else void clock.advance(1_000);
  });
  expect(await run(server.port)).toMatchObject({ status: 'up', detail: { sent: 2 } });
});

test('a late reply to one of several like datagrams is never timed better than it was', async () => {
  await using server = await responder((_request, reply, number) => {
    if (number === 2) reply('here');
    else void clock.advance(1_000);
  });
  expect((await run(server.port)).seconds).toBe(1);
});

test('the reply to a repeated request of a preset is timed from that request', async () => {
  await using server = await responder((request, reply, number) => {
    if (number === 1) return void clock.advance(1_000);
    clock.hold(20);
    reply(ntpReply(request));
  });
  expect((await run(server.port, { send: 'ntp' })).seconds).toBeCloseTo(0.02);
});

test('the first of two replies counts, and neither is answered', async () => {
  await using server = await responder((_request, reply) => {
    reply('one');
    reply('two');
  });
  expect(await run(server.port)).toMatchObject({
    status: 'up',
    detail: { bytes: 3, reply: Buffer.from('one').toString('base64') },
  });
  await run(server.port);
  expect(server.requests).toHaveLength(2);
});

test('a reply from another port is no reply', async () => {
  await using stranger = await responder(() => {});
  await using server = await responder((_request, _reply, _number, from) =>
    stranger.socket.send('boo', from.port, from.address, () => void clock.advance(3_000)),
  );
  expect(await run(server.port, { tries: 1 })).toMatchObject({
    status: 'unknown',
    failure: { code: 'silent' },
  });
});

test('of a long reply the first 512 bytes are kept', async () => {
  await using server = await responder((_request, reply) => reply(Buffer.alloc(60_000, 'a')));
  const outcome = await run(server.port);
  expect(outcome).toMatchObject({
    status: 'up',
    detail: { bytes: 60_000, reply: Buffer.alloc(512, 'a').toString('base64') },
  });
});

test('an empty datagram is a reply', async () => {
  await using server = await responder((_request, reply) => reply(''));
  expect(await run(server.port)).toMatchObject({ status: 'up', detail: { bytes: 0, reply: '' } });
});

test.each([
  { expected: 'po', status: 'up' },
  { expected: 'ng\\r\\n', status: 'up' },
  { expected: { hex: '70 6f' }, status: 'up' },
  { expected: { regex: '^p.ng\\s+$' }, status: 'up' },
  { expected: 'Pong', status: 'down' },
  { expected: { hex: 'ff' }, status: 'down' },
  { expected: { regex: '^ong' }, status: 'down' },
])('a reply of "pong" with $expected expected is $status', async ({ expected, status }) => {
  await using server = await responder((_request, reply) => {
    reply('pong\r\n');
    void clock.advance(3_000);
  });
  const outcome = await run(server.port, { expect: expected, tries: 1 });
  expect(outcome.status).toBe(status);
  if (outcome.status !== 'up') expect(outcome.failure).toMatchObject({ source: 'target', code: 'body' });
});

test('junk before the expected reply is passed over', async () => {
  await using server = await responder((_request, reply) => {
    reply(Buffer.from([0, 1, 2]));
    reply('pong');
  });
  expect(await run(server.port, { expect: 'pong' })).toMatchObject({ status: 'up', detail: { bytes: 4 } });
});

test.each([
  { name: 'text with escapes', send: 'a\\x00\\r\\n', bytes: 'a\0\r\n' },
  { name: 'text that is named like a preset', send: { text: 'ntp' }, bytes: 'ntp' },
  { name: 'hex', send: { hex: '68:69' }, bytes: 'hi' },
  { name: 'base64', send: { base64: 'aGk=' }, bytes: 'hi' },
])('$name is sent as it says', async ({ send, bytes }) => {
  await using server = await responder((request, reply) => reply(request));
  await run(server.port, { send });
  expect(server.requests[0]?.toString()).toBe(bytes);
});

function ntpReply(request: Buffer, { flags = 0x24, stratum = 2 } = {}): Buffer {
  const reply = Buffer.alloc(48);
  reply.set([flags, stratum]);
  reply.write('RATE', 12);
  reply.set(request.subarray(40, 48), 24);
  return reply;
}

// The fields are those of RFC 5905, figure 8: the receive and transmit timestamps, in seconds since 1900.
function timeReply(request: Buffer, wallMs: number, flags = 0x24): Buffer {
  const reply = ntpReply(request, { flags });
  const seconds = (wallMs / 1e3 + 2_208_988_800) % 2 ** 32;
  for (const at of [32, 40]) {
    reply.writeUInt32BE(Math.floor(seconds), at);
    reply.writeUInt32BE(Math.floor((seconds % 1) * 2 ** 32), at + 4);
  }
  return reply;
}

test.each([
  { aheadMs: 2_500, below: '1s', status: 'down', words: "the server's clock is 2.50 s ahead of the node's" },
  { aheadMs: -2_500, below: '1s', status: 'down', words: "the server's clock is 2.50 s behind the node's" },
  { aheadMs: 900, below: '1s', status: 'up', words: null },
  { aheadMs: -900, below: '1s', status: 'up', words: null },
  { aheadMs: 86_400_000, below: undefined, status: 'up', words: null },
])(
  'an NTP server $aheadMs ms ahead is $status with offset_below: $below',
  async ({ aheadMs, below, status, words }) => {
    await using server = await responder((request, reply) => {
      clock.hold(100);
      const answer = timeReply(request, clock.now() + aheadMs);
      clock.hold(100);
      reply(answer);
    });
    const outcome = await run(server.port, { send: 'ntp', ...(below !== undefined && { offset_below: below }) });
    expect(outcome).toMatchObject({ status, seconds: 0.2 });
    expect(outcome.facts.clock_offset).toBeCloseTo(aheadMs / 1e3, 3);
    if (outcome.status !== 'up') expect(outcome.failure).toMatchObject({ source: 'target', code: 'answer' });
    if (words !== null) expect(JSON.stringify(outcome)).toContain(`${words}, expected less than 1s`);
    const side = aheadMs < 0 ? 'behind' : 'ahead of';
    expect(udp.lines(outcome)).toContainEqual(expect.stringMatching(new RegExp(`^clock {8}.* ${side} the node's$`)));
  },
);

test('an offset that a slow path may have made is no failure', async () => {
  await using server = await responder((request, reply) => {
    const answer = timeReply(request, clock.now());
    clock.hold(2_900);
    reply(answer);
  });
  const outcome = await run(server.port, { send: 'ntp', tries: 1, offset_below: '1s' });
  expect(outcome.facts.clock_offset).toBeCloseTo(-1.45, 3);
  expect(outcome.status).toBe('up');
});

test('an NTP server that is not synchronised tells no time', async () => {
  await using server = await responder((request, reply) => reply(timeReply(request, clock.now(), 0xe4)));
  const outcome = await run(server.port, { send: 'ntp', offset_below: '1s' });
  expect(outcome).toMatchObject({
    status: 'down',
    facts: {},
    failure: { code: 'answer', message: 'the server does not tell the time: NTPv4, not synchronised' },
  });
  expect((await run(server.port, { send: 'ntp' })).status).toBe('up');
});

function stunReply(request: Buffer, kind: number): Buffer {
  const reply = Buffer.from(request);
  reply.writeUInt16BE(kind, 0);
  return reply;
}

const responders = {
  dns: (request: Buffer) => answerTo(decode(request), [], { rcode: 5 }),
  ntp: ntpReply,
  stun: (request: Buffer) => stunReply(request, 0x0101),
};

test.each([
  { send: 'dns', answer: responders.dns, note: 'DNS, REFUSED' },
  { send: 'ntp', answer: ntpReply, note: 'NTPv4, stratum 2' },
  {
    send: 'ntp',
    answer: (request: Buffer) => ntpReply(request, { flags: 0xdc, stratum: 0 }),
    note: 'NTPv3, kiss code RATE',
  },
  { send: 'ntp', answer: (request: Buffer) => ntpReply(request, { flags: 0xe4 }), note: 'NTPv4, not synchronised' },
  { send: 'stun', answer: responders.stun, note: 'STUN, binding response' },
  { send: 'stun', answer: (request: Buffer) => stunReply(request, 0x0111), note: 'STUN, error response' },
])('the preset $send takes a proper reply: $note', async ({ send, answer, note }) => {
  await using server = await responder((request, reply) => reply(answer(request)));
  expect(await run(server.port, { send })).toMatchObject({ status: 'up', detail: { note } });
});

test.each(['dns', 'ntp', 'stun'])(
  'the preset %s does not take junk, an echo, or the reply to another request',
  async (send) => {
    const earlier: Buffer[] = [];
    await using server = await responder((request, reply) => {
      reply('junk');
      reply(request);
      for (const other of earlier) reply(responders[send as keyof typeof responders](other));
      void clock.advance(3_000);
    });
    await using other = await responder((request) => {
      earlier.push(request);
      void clock.advance(3_000);
    });
    await run(other.port, { send, tries: 1 });
    const outcome = await run(server.port, { send, tries: 1 });
    expect(earlier).toHaveLength(1);
    expect(outcome).toMatchObject({ status: 'down', failure: { source: 'target', code: 'protocol' } });
  },
);

test('a target at an IPv6 address is reached', async () => {
  await using server = await responder((_request, reply) => reply('pong'), '::1');
  expect(await run(server.port, {}, context, '[::1]')).toMatchObject({ status: 'up', address: '::1' });
});

test('an aborted probe rejects with the reason at once and leaves no socket behind', async () => {
  const controller = new AbortController();
  const reason = new Error('nobody waits any more');
  await using server = await responder(() => controller.abort(reason));
  const running = run(server.port, { timeout: '9s' }, { ...context, signal: controller.signal });
  await expect(running).rejects.toBe(reason);
  await new Promise(setImmediate);
  const open = process
    .getActiveResourcesInfo()
    .filter((resource) => resource === 'UDPWRAP' || resource === 'UDPSENDWRAP');
  expect(open.length).toBeLessThanOrEqual(1);
});
