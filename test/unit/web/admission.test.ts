import { expect, test } from 'vitest';
import { FakeClock } from '../../support/fake-clock.ts';
import { type Admission, type HttpConnection, createAdmission, isReserved } from '#web/admission.ts';
import { inRanges } from '#web/connections.ts';

class FakeConnection {
  readonly remoteAddress: string;
  cut = false;
  readonly #admission: Admission<FakeConnection>;

  constructor(admission: Admission<FakeConnection>, remoteAddress: string) {
    this.remoteAddress = remoteAddress;
    this.#admission = admission;
  }

  destroy = () => {
    this.cut = true;
    this.#admission.closed(this);
    return undefined as never;
  };
}

function scene(
  limits = { connections: 10, keptForLoopback: 3, perClient: 4 },
  isExempt?: (address: string) => boolean,
) {
  const clock = new FakeClock();
  const admission: Admission<FakeConnection> = createAdmission(limits, () => clock.elapsed(), isExempt);
  const come = (address: string) => {
    const connection = new FakeConnection(admission, address);
    if (!admission.admit(connection)) connection.cut = true;
    return connection;
  };
  return {
    admission,
    clock,
    come,
    crowd: (address: string, count: number) => Array.from({ length: count }, () => come(address)),
  };
}

const cuts = (connections: readonly Pick<FakeConnection, 'cut'>[]) => connections.map(({ cut }) => cut);

test('a client with as many as it may loses the one that has been idle the longest', () => {
  const { admission, come, crowd } = scene();
  const own = crowd('192.0.2.1', 4);
  admission.busy(own[0]!);
  admission.busy(own[1]!);
  admission.idle(own[1]!);
  const other = come('192.0.2.2');
  expect(come('192.0.2.1').cut).toBe(false);
  expect(cuts([...own, other])).toEqual([false, false, true, false, false]);
});

test('a client whose connections are all busy gets no other, and the others do', () => {
  const { admission, come, crowd } = scene();
  for (const one of crowd('192.0.2.1', 4)) admission.busy(one);
  expect(come('192.0.2.1').cut).toBe(true);
  expect(come('192.0.2.2').cut).toBe(false);
});

test('an IPv6 client is its network of 56 bits', () => {
  const { come } = scene();
  const own = ['2001:db8::1', '2001:db8:0:2::2', '2001:db8:0:ff::1', '2001:db8:0:0:a::'].map(come);
  come('2001:db8::5');
  expect(cuts(own)).toEqual([true, false, false, false]);
  expect(come('2001:db8:0:100::1').cut).toBe(false);
  expect(cuts(own)).toEqual([true, false, false, false]);
});

test('without room the client with the most connections loses the one that has been idle the longest', () => {
  const { come, crowd } = scene();
  const first = crowd('192.0.2.1', 4);
  const second = crowd('192.0.2.2', 3);
  expect(come('192.0.2.3').cut).toBe(false);
  expect(cuts([...first, ...second])).toEqual([true, false, false, false, false, false, false]);
});

test('room is reserved for this machine, whose connections are never cut for others', () => {
  const { admission, come } = scene();
  const here = come('127.0.0.1');
  for (const last of [1, 2, 3, 4, 5, 6, 7]) admission.busy(come(`192.0.2.${last}`));
  expect(come('192.0.2.8').cut).toBe(true);
  expect(cuts([here, come('::1'), come('::ffff:127.0.0.1')])).toEqual([false, false, false]);
});

test('what is closed leaves its room', () => {
  const { admission, come, crowd } = scene();
  const own = crowd('192.0.2.1', 4);
  for (const one of own) admission.busy(one);
  admission.closed(own[0]!);
  admission.closed(own[0]!);
  expect([come('192.0.2.1').cut, come('192.0.2.1').cut]).toEqual([false, false]);
  expect(cuts(own)).toEqual([false, false, false, false]);
});

test('a trusted proxy has no limit of its own', () => {
  const { come, crowd } = scene(undefined, inRanges(['10.0.0.0/8', 'fd00::1']));
  expect(cuts(crowd('10.1.2.3', 7))).toEqual(Array.from({ length: 7 }, () => false));
  const { crowd: others } = scene(undefined, inRanges(['10.0.0.0/8']));
  expect(cuts(others('11.0.0.1', 7)).filter((cut) => cut)).toHaveLength(3);
  expect([come('fd00::1').cut, inRanges(['fd00::1'])('fd00::2')]).toEqual([false, false]);
});

test('closing cuts what is quiet and leaves what works', () => {
  const { admission, crowd } = scene();
  const own: readonly (HttpConnection & { cut: boolean })[] = crowd('192.0.2.1', 2);
  admission.busy(own[0] as never);
  admission.cutIdle();
  expect(cuts(own)).toEqual([false, true]);
});

test('without room the client with the most connections loses one even if all are busy', () => {
  const { admission, come, crowd } = scene();
  const first = crowd('192.0.2.1', 4);
  const second = crowd('192.0.2.2', 3);
  for (const one of [...first, ...second]) admission.busy(one);
  expect(come('192.0.2.3').cut).toBe(false);
  expect(cuts([...first, ...second])).toEqual([true, false, false, false, false, false, false]);
});

test('the client with the most connections cannot take the room of others', () => {
  const { come, crowd } = scene();
  const first = crowd('192.0.2.1', 3);
  const others = ['192.0.2.2', '192.0.2.3', '192.0.2.4', '192.0.2.5'].map(come);
  expect(come('192.0.2.1').cut).toBe(false);
  expect([...cuts(first), ...cuts(others)]).toEqual([true, false, false, false, false, false, false]);
});

test('a request that has run for five seconds is worth less than a new client', async () => {
  const { admission, clock, come } = scene();
  const old = [1, 2, 3, 4, 5, 6, 7].map((last) => come(`192.0.2.${last}`));
  for (const one of old) admission.busy(one);
  expect(come('192.0.2.8').cut).toBe(true);
  await clock.advance(5_000);
  expect(come('192.0.2.8').cut).toBe(false);
  expect(cuts(old)).toEqual([true, false, false, false, false, false, false]);
});

test('one connection in twenty is left for what is reserved, for clients that have none yet', () => {
  const { admission, come } = scene({ connections: 43, keptForLoopback: 3, perClient: 40 });
  const busy = (address: string) => {
    const connection = come(address);
    admission.busy(connection);
    return connection.cut;
  };
  for (let last = 1; last <= 38; last += 1) expect(busy(`192.0.2.${last}`)).toBe(false);
  expect(admission.isCrowded).toBe(false);
  expect([busy('198.51.100.1'), admission.isCrowded, busy('198.51.100.1')]).toEqual([false, true, true]);
});

/** Seven clients whose connections have asked nothing, and which are too many from now on. */
async function silentCrowd() {
  const { clock, come, ...rest } = scene();
  const crowd = [1, 2, 3, 4, 5, 6, 7].map((last) => come(`192.0.2.${last}`));
  await clock.advance(2_000);
  expect(come('198.51.100.1').cut).toBe(false);
  expect(cuts(crowd)).toEqual([true, false, false, false, false, false, false]);
  return { clock, come, ...rest, crowd };
}

test('without room the connection is cut that has asked nothing for the longest, whoever has more', async () => {
  const { admission, clock, come, crowd } = scene();
  const asked = come('192.0.2.1');
  admission.busy(asked);
  admission.idle(asked);
  const silent = come('192.0.2.2');
  await clock.advance(2_000);
  const more = crowd('192.0.2.3', 4);
  const last = come('192.0.2.4');
  expect(come('192.0.2.5').cut).toBe(false);
  expect(cuts([asked, silent, ...more, last])).toEqual([false, true, false, false, false, false, false]);
});

test('one that has just come is not silent yet', async () => {
  const { clock, come } = scene();
  const crowd = [1, 2, 3, 4, 5, 6].map((last) => come(`192.0.2.${last}`));
  for (const one of crowd) expect(one.cut).toBe(false);
  await clock.advance(1_999);
  const fresh = [come('192.0.2.7'), come('192.0.2.7')];
  expect(cuts([...crowd, ...fresh])).toEqual([false, false, false, false, false, false, true, false]);
  await clock.advance(1);
  come('192.0.2.8');
  expect(cuts([...crowd, ...fresh])).toEqual([true, false, false, false, false, false, true, false]);
});

test('a client whose connection was silent waits when it comes back, and takes room when it asks', async () => {
  const { admission, come, crowd } = await silentCrowd();
  const back = come('192.0.2.1');
  expect(cuts([back, ...crowd.slice(1)])).toEqual([false, false, false, false, false, false, false]);
  admission.busy(back);
  expect(cuts([back, ...crowd.slice(1)])).toEqual([false, true, false, false, false, false, false]);
  admission.idle(back);
  expect(come('192.0.2.1').cut).toBe(false);
  expect(cuts([back, ...crowd.slice(1)])).toEqual([false, true, true, false, false, false, false]);
});

test('one that asks while it waits and finds no room is cut', async () => {
  const { admission, come, crowd } = await silentCrowd();
  for (const one of crowd.slice(1)) admission.busy(one);
  const back = come('192.0.2.1');
  admission.busy(come('198.51.100.2'));
  expect(back.cut).toBe(false);
  admission.busy(back);
  expect(back.cut).toBe(true);
});

test('one whose body does not come whole goes on waiting', async () => {
  const { admission, come, crowd } = await silentCrowd();
  const back = come('192.0.2.1');
  admission.idle(back);
  expect(cuts(crowd.slice(1))).toEqual([false, false, false, false, false, false]);
  admission.busy(back);
  expect(cuts([back, ...crowd.slice(1)])).toEqual([false, true, false, false, false, false, false]);
});

test('as many wait as may be connected, each client with as many as it may have', async () => {
  const { come } = await silentCrowd();
  for (const last of [2, 3]) {
    expect(come(`198.51.100.${last}`).cut).toBe(false);
  }
  const [first, second, third] = [1, 2, 3].map((last) =>
    cuts(Array.from({ length: 5 }, () => come(`192.0.2.${last}`))).filter((cut) => !cut),
  );
  expect([first?.length, second?.length, third?.length]).toEqual([4, 4, 2]);
});

test('that a client was silent is forgotten after a minute, and when it asks', async () => {
  const { admission, clock, come, crowd } = await silentCrowd();
  const waits = come('192.0.2.1');
  waits.destroy();
  await clock.advance(60_000);
  expect(cuts([come('192.0.2.1'), ...crowd.slice(1)])).toEqual([false, true, false, false, false, false, false]);
  const back = come('192.0.2.2');
  admission.busy(back);
  expect(cuts(crowd.slice(1))).toEqual([true, true, false, false, false, false]);
  admission.idle(back);
  come('192.0.2.2');
  expect(cuts(crowd.slice(1))).toEqual([true, true, true, false, false, false]);
});

test('a trusted proxy is never silent', async () => {
  const { clock, come } = scene(undefined, inRanges(['10.0.0.0/8']));
  const crowd = Array.from({ length: 7 }, () => come('10.0.0.1'));
  await clock.advance(60_000);
  expect(come('10.0.0.1').cut).toBe(false);
  expect(come('10.0.0.1').cut).toBe(false);
  expect(cuts(crowd)).toEqual([true, true, false, false, false, false, false]);
});

test('closing cuts what waits', async () => {
  const { admission, come } = await silentCrowd();
  const back = come('192.0.2.1');
  admission.cutIdle();
  expect(back.cut).toBe(true);
});

test('this machine has as many as may be connected', () => {
  const { come } = scene();
  expect(cuts(Array.from({ length: 11 }, () => come('127.0.0.1'))).filter((cut) => cut)).toHaveLength(1);
});

test.each([
  ['/beat/secret', true],
  ['/beat/secret/fail?rid=1', true],
  ['/status', true],
  ['/status/shop?lang=de', true],
  ['/login?next=%2F', true],
  ['/badge/status/shop/uptime.svg', true],
  ['/healthz', true],
  ['/', false],
  ['/statuses', false],
  ['/metrics', false],
  ['/api/v1/targets', false],
])('%s has reserved room: %s', (url, expected) => {
  expect(isReserved(url)).toBe(expected);
});
