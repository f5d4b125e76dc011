import { expect, test } from 'vitest';
import { createDestinationLimits } from '#service/destinations.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const none = async () => [];

test.each([
  ['example.com', ['example.com']],
  ['a.b.example.com', ['a.b.example.com', 'example.com']],
  ['www.example.co.uk', ['www.example.co.uk', 'example.co.uk']],
  ['co.uk', ['co.uk']],
  ['one.github.io', ['one.github.io']],
  ['a.one.github.io', ['a.one.github.io', 'one.github.io']],
  ['localhost', ['localhost']],
  ['a.b.internal', ['a.b.internal', 'b.internal']],
  ['192.0.2.1', ['192.0.2.1']],
  ['2001:db8:1:2:3::4', ['2001:db8:1:2::/64']],
])('%s is borne by %j', (target, bearers) => {
  expect(createDestinationLimits(none, new FakeClock()).named(target)).toEqual(bearers);
});

test('a name is borne by the networks of its addresses too, an address by its own alone', async () => {
  const addresses = ['192.0.2.1', '192.0.2.2', '2001:db8::1', '2001:db8::2', '192.0.2.1'];
  const destinations = createDestinationLimits(async () => addresses, new FakeClock());
  expect(await destinations.reached('www.example.com')).toEqual([
    'www.example.com',
    'example.com',
    '192.0.2.1',
    '192.0.2.2',
    '2001:db8:0:0::/64',
  ]);
  expect(await destinations.reached('198.51.100.1')).toEqual(['198.51.100.1']);
});

test('a name with addresses without end uses up eight allowances, not all', async () => {
  const addresses = Array.from({ length: 100 }, (_, index) => `192.0.2.${index}`);
  const destinations = createDestinationLimits(async () => addresses, new FakeClock());
  expect(await destinations.reached('example.com')).toHaveLength(1 + 8);
});

test('a crowd that checks one name makes one lookup, and another one after a while', async () => {
  const clock = new FakeClock();
  let lookups = 0;
  const destinations = createDestinationLimits(async () => [`192.0.2.${(lookups += 1)}`], clock);
  await Promise.all(Array.from({ length: 50 }, async () => destinations.reached('example.com')));
  expect(await destinations.reached('example.com')).toEqual(['example.com', '192.0.2.1']);
  await clock.advance(30_000);
  expect(await destinations.reached('example.com')).toEqual(['example.com', '192.0.2.2']);
  for (let index = 0; index < 10_000; index += 1) await destinations.reached(`${index}.example`);
  await destinations.reached('example.com');
  expect(lookups).toBe(2 + 10_000 + 1);
});
