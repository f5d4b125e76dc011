import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import type { Connection, ConnectionFailure } from '#checks/connection.ts';
import type { PinnedAddress } from '#checks/gate.ts';
import { openFastest } from '#checks/happy-eyeballs.ts';
import { failure } from '#checks/outcome.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const addresses = ['192.0.2.1', '192.0.2.2', '2001:db8::1', '2001:db8::2'];
const name: PinnedAddress = { ok: true, address: '192.0.2.1', family: 4, addresses, seconds: 0.01 };

/** Attempts that end when the test says so. */
function attempts() {
  const begun: string[] = [];
  const ends = new Map<string, (result: Connection | ConnectionFailure) => void>();
  const signals = new Map<string, AbortSignal>();
  const open = async (pinned: PinnedAddress, signal: AbortSignal) => {
    begun.push(pinned.address);
    signals.set(pinned.address, signal);
    return new Promise<Connection | ConnectionFailure>((resolve, reject) => {
      ends.set(pinned.address, resolve);
      signal.addEventListener('abort', () => reject(new Error('aborted')));
    });
  };
  const made = (address: string): Connection => ({
    ok: true,
    pinned: { ...name, address, family: address.includes(':') ? 6 : 4 },
    socket: new Socket(),
    arrivedAt: () => 0,
    sentAt: () => 0,
    seconds: 0.02,
    clockSeconds: 0.03,
    timedBy: 'kernel',
  });
  const refuse = (address: string, message = 'connection refused') =>
    ends.get(address)?.({ ok: false, failure: failure('target', 'refused', message), reset: null });
  return { begun, open, signals, refuse, connect: (address: string) => ends.get(address)?.(made(address)) };
}

const turn = async () => new Promise((resolve) => setImmediate(resolve));
const never = new AbortController().signal;

test('the families alternate, IPv6 first, and a silent address delays the next one by 250 ms', async () => {
  const clock = new FakeClock();
  const { begun, open, signals, connect } = attempts();
  const opened = openFastest(name, clock, never, open);
  expect(begun).toEqual(['2001:db8::1']);
  await clock.advance(249);
  expect(begun).toHaveLength(1);
  await clock.advance(1);
  expect(begun).toEqual(['2001:db8::1', '192.0.2.1']);
  await clock.advance(250);
  expect(begun).toEqual(['2001:db8::1', '192.0.2.1', '2001:db8::2']);
  connect('192.0.2.1');
  const connection = await opened;
  expect(connection).toMatchObject({ ok: true, pinned: { address: '192.0.2.1' }, seconds: 0.27, clockSeconds: 0.28 });
  expect(signals.get('2001:db8::1')?.aborted).toBe(true);
  await clock.advance(1_000);
  expect(begun).toHaveLength(3);
});

test('a failed attempt begins the next one at once, and all failures are one of both families', async () => {
  const clock = new FakeClock();
  const { begun, open, refuse } = attempts();
  const opened = openFastest(name, clock, never, open);
  for (const address of ['2001:db8::1', '192.0.2.1', '2001:db8::2', '192.0.2.2']) {
    expect(begun.at(-1)).toBe(address);
    refuse(address, address.includes(':') ? 'no route' : 'connection refused');
    await turn();
  }
  expect(await opened).toMatchObject({ ok: false, failure: { message: 'IPv6: no route; IPv4: connection refused' } });
});

test('an end from outside begins no other attempt', async () => {
  const clock = new FakeClock();
  const { begun, open } = attempts();
  const ending = new AbortController();
  const opened = openFastest(name, clock, ending.signal, open);
  ending.abort();
  await expect(opened).rejects.toThrow('aborted');
  await clock.advance(1_000);
  expect(begun).toEqual(['2001:db8::1']);
});
