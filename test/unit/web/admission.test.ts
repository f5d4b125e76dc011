import { expect, test } from 'vitest';
import { type Admission, type HttpConnection, createAdmission, inRanges } from '#web/connections.ts';

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
  const admission: Admission<FakeConnection> = createAdmission(limits, isExempt);
  const come = (address: string) => {
    const connection = new FakeConnection(admission, address);
    if (!admission.admit(connection)) connection.cut = true;
    return connection;
  };
  return {
    admission,
    come,
    crowd: (address: string, count: number) => Array.from({ length: count }, () => come(address)),
  };
}

const cuts = (connections: readonly Pick<FakeConnection, 'cut'>[]) => connections.map(({ cut }) => cut);

test('a client with as many as it may loses the one that has been quiet the longest', () => {
  const { admission, come, crowd } = scene();
  const own = crowd('192.0.2.1', 4);
  admission.busy(own[0]!);
  admission.busy(own[1]!);
  admission.quiet(own[1]!);
  const other = come('192.0.2.2');
  expect(come('192.0.2.1').cut).toBe(false);
  expect(cuts([...own, other])).toEqual([false, false, true, false, false]);
});

test('a client whose connections all work gets no other, and everybody else does', () => {
  const { admission, come, crowd } = scene();
  for (const one of crowd('192.0.2.1', 4)) admission.busy(one);
  expect(come('192.0.2.1').cut).toBe(true);
  expect(come('192.0.2.2').cut).toBe(false);
});

test('an IPv6 client is its network of 64 bits', () => {
  const { come } = scene();
  const own = ['2001:db8::1', '2001:db8::2', '2001:db8::ffff:1', '2001:db8:0:0:a::'].map(come);
  come('2001:db8::5');
  expect(cuts(own)).toEqual([true, false, false, false]);
  expect(come('2001:db8:0:1::1').cut).toBe(false);
  expect(cuts(own)).toEqual([true, false, false, false]);
});

test('where there is no room at all the one that has been quiet the longest goes, whoever it belongs to', () => {
  const { come, crowd } = scene();
  const first = crowd('192.0.2.1', 4);
  const second = crowd('192.0.2.2', 3);
  expect(come('192.0.2.3').cut).toBe(false);
  expect(cuts([...first, ...second])).toEqual([true, false, false, false, false, false, false]);
});

test('room is kept for this machine, whose connections nobody else can push out', () => {
  const { admission, come, crowd } = scene();
  const here = come('127.0.0.1');
  for (const address of ['192.0.2.1', '192.0.2.2']) for (const one of crowd(address, 4)) admission.busy(one);
  expect(come('192.0.2.3').cut).toBe(true);
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
  admission.cutQuiet();
  expect(cuts(own)).toEqual([false, true]);
});
