import { expect, test } from 'vitest';
import { encodeSocketAddress } from '#checks/ping/socket-address.ts';
import { createExchange } from '#checks/ping/exchange.ts';
import { roundTrip } from '#checks/ping/round-trip.ts';
import { createEchoRequest } from '#checks/ping/packet.ts';
import { runSeries, type EchoSeries } from '#checks/ping/series.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { type FakeEchoSocket, fakeEchoSocket } from '../../../support/fake-echo-socket.ts';

const EHOSTUNREACH = 113;
const ENETUNREACH = 101;
const unreachable = { type: 3, code: 1, fromNetwork: true, by: '192.0.2.254' };
const payload = Uint8Array.from({ length: 56 }, (_, index) => index * 3);

function begin(options: Partial<EchoSeries> = {}, identifier: number | null = null) {
  const clock = new FakeClock();
  const family = options.family ?? 4;
  const socket = fakeEchoSocket(clock, family, identifier);
  const exchange = createExchange(clock, socket);
  const abort = new AbortController();
  const run = async (target = family === 4 ? '192.0.2.1' : '2001:db8::1') =>
    runSeries(
      exchange,
      clock,
      {
        family,
        request: createEchoRequest(family, exchange.identifier, payload),
        destination: encodeSocketAddress(target, family),
        shape: null,
        count: 4,
        intervalMs: 500,
        timeoutMs: 3_000,
        isPatient: false,
        ...options,
      },
      abort.signal,
    );
  return { clock, socket, exchange, abort, run };
}

test('requests go out one interval apart, whether the ones before are answered or not', async () => {
  const { clock, socket, run } = begin();
  const series = run();
  await clock.advance(1_500);
  expect(socket.sent.map(({ at }) => at)).toEqual([0, 500, 1_000, 1_500]);
  await clock.advance(3_000);
  const { attempts } = await series;
  expect(attempts).toEqual(
    Array.from({ length: 4 }, () => ({ status: 'TIMEOUT', seconds: 3, ttl: null, reason: null })),
  );
});

test('the series ends with its last answer and leaves no timer and no sequence number behind', async () => {
  const { clock, socket, exchange, run } = begin({ count: 2 });
  const series = run();
  await clock.advance(20);
  socket.reply(socket.sent[0]);
  await clock.advance(500);
  socket.reply(socket.sent[1]);
  expect(await series).toEqual({
    attempts: [0.02, 0.02].map((seconds) => ({ status: 'OK', seconds, ttl: 64, reason: null })),
    duplicates: 0,
    timed_by: 'kernel',
  });
  expect([clock.pending, exchange.pending]).toEqual([0, 0]);
});

test('answers find their request whatever order they come in', async () => {
  const { clock, socket, run } = begin({ count: 3, intervalMs: 10 });
  const series = run();
  await clock.advance(100);
  for (const index of [2, 0, 1]) {
    socket.reply(socket.sent[index]);
    await clock.advance(1);
  }
  expect((await series).attempts.map(({ seconds }) => seconds)).toEqual([0.101, 0.092, 0.08]);
});

test('the kernel’s receive time counts, however late the process reads the reply', async () => {
  const { clock, socket, run } = begin({ count: 1 });
  const series = run();
  const arrived = clock.now() + 20;
  await clock.advance(90);
  socket.reply(socket.sent[0], { stampMs: arrived });
  expect((await series).attempts).toMatchObject([{ status: 'OK', seconds: 0.02 }]);
});

test('a reply that lay unread while the loop was held up is found before its timeout is believed', async () => {
  const { clock, socket, run } = begin({ count: 1 });
  const series = run();
  const arrived = clock.now() + 20;
  await clock.advance(2_999);
  socket.queued.push(() => socket.reply(socket.sent[0], { stampMs: arrived }));
  await clock.advance(1);
  expect((await series).attempts).toMatchObject([{ status: 'OK', seconds: 0.02 }]);
});

test('a reply that the kernel got too late is a timeout, even where it is read first', async () => {
  const { clock, socket, run } = begin({ count: 1, timeoutMs: 100 });
  const series = run();
  const late = clock.now() + 101;
  const arrive = () => {
    if (clock.elapsed() < 100) socket.queued.push(arrive);
    else socket.reply(socket.sent[0], { stampMs: late });
  };
  socket.queued.push(arrive);
  await clock.advance(100);
  expect((await series).attempts).toMatchObject([{ status: 'TIMEOUT', seconds: 0.1 }]);
});

test('a wall clock that is set in between does not change the time', async () => {
  const { clock, socket, run } = begin({ count: 1 });
  const series = run();
  await clock.advance(20);
  clock.step(-3_600_000);
  await clock.advance(10);
  socket.reply(socket.sent[0]);
  expect(await series).toMatchObject({ attempts: [{ status: 'OK', seconds: 0.03 }], timed_by: 'clock' });
});

test.each([
  {
    name: 'the kernel’s stamp',
    stampMs: 1_020,
    now: { wallMs: 1_025, elapsedMs: 25, withinMs: 0 },
    ms: 20,
    timedBy: 'kernel',
  },
  {
    name: 'the kernel’s stamp where the thread was put aside while it read the clocks',
    stampMs: 1_020,
    now: { wallMs: 1_030, elapsedMs: 25, withinMs: 5 },
    ms: 20,
    timedBy: 'kernel',
  },
  {
    name: 'its own clock without a stamp',
    stampMs: null,
    now: { wallMs: 1_025, elapsedMs: 25, withinMs: 0 },
    ms: 25,
    timedBy: 'clock',
  },
  {
    name: 'its own clock after a step forwards',
    stampMs: 6_020,
    now: { wallMs: 6_025, elapsedMs: 25, withinMs: 0 },
    ms: 25,
    timedBy: 'clock',
  },
  {
    name: 'its own clock after a step backwards',
    stampMs: 1_020,
    now: { wallMs: 525, elapsedMs: 25, withinMs: 0 },
    ms: 25,
    timedBy: 'clock',
  },
  {
    name: 'its own clock for a stamp from before',
    stampMs: 999,
    now: { wallMs: 1_025, elapsedMs: 25, withinMs: 0 },
    ms: 25,
    timedBy: 'clock',
  },
  {
    name: 'its own clock for a stamp from the future',
    stampMs: 1_030,
    now: { wallMs: 1_025, elapsedMs: 25, withinMs: 0 },
    ms: 25,
    timedBy: 'clock',
  },
])('a round trip is taken by $name', ({ stampMs, now, ms, timedBy }) => {
  expect(roundTrip({ sent: { wallMs: 1_000, elapsedMs: 0, withinMs: 0 }, departedMs: null }, stampMs, now)).toEqual({
    ms,
    timedBy,
  });
});

test('a thread that is put aside while it sends does not look like a clock that was set', () => {
  const sent = { wallMs: 1_004, elapsedMs: 0, withinMs: 4.1 };
  const now = { wallMs: 1_029, elapsedMs: 29, withinMs: 0.01 };
  expect(roundTrip({ sent, departedMs: null }, 1_024, now)).toEqual({ ms: 20, timedBy: 'kernel' });
});

test.each([
  { name: 'another payload', payload: payload.map((byte) => byte ^ 1) },
  { name: 'a shorter payload', payload: payload.subarray(1) },
  { name: 'no payload', payload: new Uint8Array(0) },
])('a reply with $name is malformed', async ({ payload }) => {
  const { clock, socket, run } = begin({ count: 1 });
  const series = run();
  await clock.advance(20);
  socket.reply(socket.sent[0], { payload });
  await clock.advance(3_000);
  expect((await series).attempts).toMatchObject([{ status: 'MALFORMED', seconds: 0.02 }]);
});

test('replies that come again are counted, not believed', async () => {
  const { clock, socket, run } = begin({ count: 2 });
  const series = run();
  await clock.advance(20);
  for (const _ of [1, 2, 3]) socket.reply(socket.sent[0]);
  await clock.advance(500);
  socket.reply(socket.sent[1]);
  expect(await series).toMatchObject({ duplicates: 2, attempts: [{ status: 'OK' }, { status: 'OK' }] });
});

test.each([
  { name: 'another address', changes: { peer: encodeSocketAddress('192.0.2.2', 4) }, identifier: null },
  { name: 'another process', changes: { bytes: Uint8Array.of(0, 0, 0, 0, 9, 9, 0, 0, ...payload) }, identifier: 7 },
  {
    name: 'an unknown sequence number',
    changes: { bytes: Uint8Array.of(0, 0, 0, 0, 0, 7, 9, 9, ...payload) },
    identifier: 7,
  },
])('a reply from or for $name is ignored', async ({ changes, identifier }) => {
  const { clock, socket, run } = begin({ count: 1 }, identifier);
  const series = run();
  await clock.advance(20);
  socket.reply(socket.sent[0], changes);
  await clock.advance(10);
  socket.reply(socket.sent[0]);
  expect((await series).attempts).toMatchObject([{ status: 'OK', seconds: 0.03 }]);
});

test('an ICMP error is what the request it quotes comes to where no reply follows', async () => {
  const { clock, socket, run } = begin({ count: 2, intervalMs: 10 });
  const series = run();
  await clock.advance(20);
  socket.notify(socket.sent[0], unreachable);
  socket.reply(socket.sent[1]);
  await clock.advance(3_000);
  expect(await series).toMatchObject({
    attempts: [
      { status: 'DEST_UNREACH', seconds: 0.02, reason: 'host unreachable, says 192.0.2.254' },
      { status: 'OK' },
    ],
  });
});

test('an ICMP error that quotes another payload than was sent is ignored', async () => {
  const { clock, socket, run } = begin({ count: 1 });
  const series = run();
  await clock.advance(20);
  const [echo] = socket.sent;
  const forged = echo === undefined ? undefined : { ...echo, packet: echo.packet.slice().fill(0, 8) };
  socket.notify(forged, unreachable);
  await clock.advance(10);
  socket.reply(echo);
  expect((await series).attempts).toMatchObject([{ status: 'OK', seconds: 0.03 }]);
});

test('an error left over by another echo does not fail a request', async () => {
  const { clock, socket, run } = begin({ count: 1 });
  socket.errors.push(EHOSTUNREACH);
  const series = run();
  await clock.advance(20);
  socket.reply(socket.sent[0]);
  expect((await series).attempts).toMatchObject([{ status: 'OK' }]);
});

test('a request that cannot be sent ends the series, but the ones before still get their answers', async () => {
  const { clock, socket, run } = begin();
  const series = run();
  await clock.advance(499);
  socket.errors.push(...Array<number>(4).fill(ENETUNREACH));
  await clock.advance(501);
  expect(socket.sent).toHaveLength(1);
  socket.reply(socket.sent[0]);
  const { attempts } = await series;
  expect(attempts).toMatchObject([
    { status: 'OK', seconds: 1 },
    { status: 'ERROR', seconds: 0 },
  ]);
  expect(attempts[1]?.reason).toContain('ENETUNREACH');
});

test('a host that this machine has no way to is no fault of that host', async () => {
  const { socket, run } = begin({ count: 2 });
  socket.errors.push(...Array<number>(4).fill(EHOSTUNREACH));
  expect((await run()).attempts).toMatchObject([
    { status: 'ERROR', seconds: 0, reason: expect.stringContaining('EHOSTUNREACH') },
  ]);
});

test.each([
  { name: 'an ICMP error', arrive: (socket: FakeEchoSocket) => socket.notify(socket.sent[0], unreachable) },
  {
    name: 'an error that quotes no more than the header',
    arrive(socket: FakeEchoSocket) {
      const [echo] = socket.sent;
      if (echo !== undefined) socket.notify({ ...echo, packet: echo.packet.subarray(0, 8) }, unreachable);
    },
  },
  {
    name: 'a reply with another payload',
    arrive: (socket: FakeEchoSocket) => socket.reply(socket.sent[0], { payload: new Uint8Array(56) }),
  },
])('$name does not end the wait before the true reply', async ({ arrive }) => {
  const { clock, socket, run } = begin({ count: 1 });
  const series = run();
  await clock.advance(5);
  arrive(socket);
  await clock.advance(15);
  const before = socket.drains;
  await clock.advance(500);
  expect(socket.drains).toBeGreaterThan(before);
  socket.reply(socket.sent[0]);
  expect((await series).attempts).toMatchObject([{ status: 'OK', seconds: 0.52, reason: null }]);
});

test.each([
  { name: 'a redirect', family: 4, type: 5 },
  { name: 'a source quench', family: 4, type: 4 },
  { name: 'a redirect', family: 6, type: 137 },
] as const)('$name over IPv$family is no failure: the echo has gone on its way', async ({ family, type }) => {
  const { clock, socket, run } = begin({ count: 1, family });
  const series = run();
  await clock.advance(20);
  socket.notify(socket.sent[0], { type, code: 1, fromNetwork: true, by: null });
  await clock.advance(3_000);
  expect(await series).toMatchObject({ attempts: [{ status: 'TIMEOUT' }] });
});

test('an aborted series rejects with the reason at once and leaves nothing behind', async () => {
  const { clock, exchange, abort, run } = begin();
  const series = run();
  await clock.advance(600);
  expect(exchange.pending).toBe(2);
  abort.abort(new Error('enough'));
  await expect(series).rejects.toThrow('enough');
  expect([clock.pending, exchange.pending]).toEqual([0, 0]);
  await expect(run()).rejects.toThrow('enough');
});

test('closing ends the series that are under way as the fault of the node', async () => {
  const { clock, socket, exchange, run } = begin();
  const all = [run('192.0.2.1'), run('192.0.2.2')];
  await clock.advance(600);
  const settled = Promise.allSettled(all);
  exchange.close();
  expect(await settled).toMatchObject(all.map(() => ({ status: 'rejected', reason: { code: 'node_gone' } })));
  await expect(run()).rejects.toMatchObject({ code: 'node_gone' });
  expect([socket.closed, clock.pending, exchange.pending]).toEqual([true, 0, 0]);
});

test('many series share one socket without mixing up their answers', async () => {
  const { clock, socket, run } = begin({ family: 6, count: 2 });
  const all = Array.from({ length: 50 }, async (_, index) => run(`2001:db8::${index + 1}`));
  await clock.advance(10);
  for (const [index, echo] of socket.sent.entries()) {
    if (index % 2 === 0) socket.reply(echo, { stampMs: clock.now() - 10 + index / 10 });
  }
  await clock.advance(5_000);
  const results = await Promise.all(all);
  expect(results.map(({ attempts }) => attempts[0]?.status)).toEqual(
    results.map((_, index) => (index % 2 === 0 ? 'OK' : 'TIMEOUT')),
  );
  expect(results[48]?.attempts[0]?.seconds).toBe(0.0048);
});

test('the socket is read often at first, then less and less, and not at all once nobody waits', async () => {
  const { clock, socket, run } = begin({ count: 1 });
  const series = run();
  const readings = [];
  for (let ms = 0; ms < 3_000; ms += 1) {
    const before = socket.drains;
    await clock.advance(1);
    if (socket.drains > before) readings.push(ms + 1);
  }
  await series;
  expect(readings.slice(0, 4)).toEqual([1, 2, 3, 4]);
  expect(readings.length).toBeLessThan(30);
  for (const [index, at] of readings.entries()) {
    const before = readings[index - 1] ?? 0;
    expect(at - before).toBeLessThanOrEqual(Math.min(before / 3 + 1, 501));
  }
  const drains = socket.drains;
  await clock.advance(1_000);
  expect(socket.drains).toBe(drains);
});

test('only the last reply is woken up for, and when it is due where a round trip is known', async () => {
  const { clock, socket, run } = begin({ count: 2 });
  const series = run();
  const asleep = socket.drains;
  socket.queued.push(() => socket.reply(socket.sent[0], { stampMs: clock.now() - 460 }));
  await clock.advance(499);
  expect(socket.drains).toBe(asleep);
  await clock.advance(1);
  const drains = socket.drains;
  await clock.advance(42);
  expect(socket.drains).toBe(drains);
  await clock.advance(1);
  expect(socket.drains).toBe(drains + 1);
  socket.reply(socket.sent[1]);
  expect((await series).attempts).toMatchObject([{ seconds: 0.04 }, { seconds: 0.043 }]);
});

test('a reply that is there as soon as the request is sent needs no timer', async () => {
  const { clock, socket, run } = begin({ count: 1 });
  const series = run();
  socket.queued.push(() => socket.reply(socket.sent[0]));
  expect((await series).attempts).toMatchObject([{ status: 'OK', seconds: 0 }]);
  expect(clock.elapsed()).toBe(0);
});

test.each([
  { name: 'from its departure', departedMs: 1_002, ms: 18 },
  { name: 'from sending where the departure is not known', departedMs: null, ms: 20 },
  { name: 'from sending where the departure is before it', departedMs: 999, ms: 20 },
  { name: 'from sending where the departure is after the reply', departedMs: 1_021, ms: 20 },
])('a round trip counts $name', ({ departedMs, ms }) => {
  const sent = { wallMs: 1_000, elapsedMs: 0, withinMs: 0 };
  expect(roundTrip({ sent, departedMs }, 1_020, { wallMs: 1_025, elapsedMs: 25, withinMs: 0 })).toEqual({
    ms,
    timedBy: 'kernel',
  });
});

test('a departure that the kernel tells belongs to the request with its number', async () => {
  const { clock, socket, run } = begin({ count: 2, intervalMs: 10 });
  const series = run();
  const start = clock.now();
  await clock.advance(10);
  socket.depart(1, start + 13);
  socket.depart(0, start + 4);
  socket.depart(99, start + 5);
  await clock.advance(20);
  socket.reply(socket.sent[0], { stampMs: start + 24 });
  socket.reply(socket.sent[1], { stampMs: start + 28 });
  expect((await series).attempts.map(({ seconds }) => seconds)).toEqual([0.02, 0.015]);
});

test('where nobody waits, series share their wake-ups: a request leaves up to 5 ms before or after its time', async () => {
  const { clock, socket, run } = begin({ isPatient: true, count: 3 });
  const all = [run('192.0.2.1')];
  await clock.advance(4);
  all.push(run('192.0.2.2'));
  const beforehand = socket.drains;
  await clock.advance(1_100);
  expect(socket.sent.map(({ at }) => at)).toEqual([0, 4, 505, 505, 1_005, 1_005]);
  expect(socket.drains - beforehand).toBe(2);
  await clock.advance(5_000);
  expect((await Promise.all(all)).map(({ attempts }) => attempts.length)).toEqual([3, 3]);
});

test.each([10, 50, 200, 500, 10_000])(
  'with others at any time, requests %i ms apart leave within a hundredth of that, or a millisecond, of their time',
  async (intervalMs) => {
    const { clock, socket, run } = begin({ isPatient: true, intervalMs, count: 4 });
    const starts: number[] = [];
    const all = Array.from({ length: 20 }, async (_, index) => {
      const startsAt = (index * 37) % 100;
      await new Promise<void>((resolve) => void clock.after(startsAt, resolve));
      starts[index] = clock.elapsed();
      return run(`192.0.2.${index}`);
    });
    await clock.advance(4 * intervalMs + 5_000);
    await Promise.all(all);
    const mostMs = Math.max(1, Math.min(intervalMs / 100, 5));
    for (const [index, start] of starts.entries()) {
      const times = socket.sent.filter(({ peer }) => peer[7] === index).map(({ at }) => at);
      expect(times).toHaveLength(4);
      for (const [request, at] of times.entries())
        expect(Math.abs(at - start - request * intervalMs)).toBeLessThanOrEqual(mostMs + 1e-6);
    }
  },
);

test('where nobody waits, the last reply is read with what else there is, a tenth of a second later at the latest', async () => {
  const { clock, socket, run } = begin({ isPatient: true, count: 1 });
  const series = run();
  const asleep = socket.drains;
  socket.queued.push(() => socket.reply(socket.sent[0], { stampMs: clock.now() - 70 }));
  await clock.advance(100);
  expect(socket.drains).toBe(asleep);
  await clock.advance(1);
  expect(socket.drains).toBe(asleep + 1);
  expect((await series).attempts).toMatchObject([{ status: 'OK', seconds: 0.031 }]);
});

test('where nobody waits, silence is told of a tenth of a second after its time at the latest, with the time that was waited', async () => {
  const { clock, run } = begin({ isPatient: true, count: 1 });
  const series = run();
  await clock.advance(3_100);
  expect(await series).toMatchObject({ attempts: [{ status: 'TIMEOUT', seconds: 3 }] });
});

test('many requests that are due at once leave in parts, and the socket is read before each', async () => {
  const { clock, socket, run } = begin({ count: 2 });
  const all = Array.from({ length: 70 }, async (_, index) => run(`192.0.2.${index + 1}`));
  await clock.advance(499);
  const before = socket.drains;
  await clock.advance(10);
  const seconds = socket.sent.slice(70).map(({ at }) => at);
  expect([500, 501, 502].map((at) => seconds.filter((one) => one === at).length)).toEqual([32, 32, 6]);
  expect(socket.drains - before).toBeGreaterThanOrEqual(3);
  await clock.advance(5_000);
  expect(await Promise.all(all)).toHaveLength(70);
});

test('what begins within a millisecond shares a reading', async () => {
  const { clock, socket, run } = begin({ isPatient: true, count: 1 });
  const all = Array.from({ length: 8 }, async (_, index) => run(`192.0.2.${index + 1}`));
  expect([socket.sent.length, socket.drains]).toEqual([8, 1]);
  await clock.advance(5_000);
  expect(await Promise.all(all)).toHaveLength(8);
});
