import * as fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { expect, test } from 'vitest';
import { addressRules, isSameAddress, addressObjection } from '#checks/address.ts';
import { AddressRange } from '#checks/address-range.ts';

const none = addressRules([], []);

test.each([
  '1.1.1.1',
  '8.8.8.8',
  '172.15.255.255',
  '172.32.0.0',
  '100.128.0.0',
  '2606:4700::1111',
  '2a00:1450::1',
  '2001:4860:4860::8888',
])('lets %s pass under either policy', (address) => {
  expect(addressObjection(address, 'public', none, [])).toBeNull();
  expect(addressObjection(address, 'private', none, [])).toBeNull();
});

test.each([
  '10.0.0.1',
  '127.0.0.1',
  '127.255.255.255',
  '169.254.169.254',
  '172.16.0.1',
  '192.168.1.1',
  '100.64.0.1',
  '::1',
  'fe80::1',
  'fd00::1',
  'fd00:ec2::254',
])('lets %s pass under the private policy only', (address) => {
  expect(addressObjection(address, 'public', none, [])).toBe('private');
  expect(addressObjection(address, 'private', none, [])).toBeNull();
});

test.each([
  ['0.0.0.0', 'never'],
  ['0.1.2.3', 'never'],
  ['224.0.0.1', 'never'],
  ['239.255.255.255', 'never'],
  ['240.0.0.1', 'never'],
  ['255.255.255.255', 'never'],
  ['::', 'never'],
  ['ff02::1', 'never'],
  ['192.0.0.1', 'special'],
  ['192.0.2.1', 'special'],
  ['192.88.99.1', 'special'],
  ['198.18.0.1', 'special'],
  ['198.51.100.1', 'special'],
  ['203.0.113.1', 'special'],
  ['168.63.129.16', 'special'],
  ['::127.0.0.1', 'special'],
  ['::ffff:127.0.0.1', 'special'],
  ['::ffff:7f00:1', 'special'],
  ['::ffff:8.8.8.8', 'special'],
  ['::ffff:0:7f00:1', 'special'],
  ['64:ff9b::7f00:1', 'special'],
  ['64:ff9b::8.8.8.8', 'special'],
  ['64:ff9b:1::7f00:1', 'special'],
  ['2002:7f00:1::', 'special'],
  ['2001::80ff:fffe', 'special'],
  ['2001:0:4136:e378:8000:63bf:3fff:fdd2', 'special'],
  ['2001:db8::1', 'special'],
  ['3fff::1', 'special'],
  ['100::1', 'special'],
  ['fec0::1', 'special'],
  ['5f00::1', 'special'],
  ['4000::1', 'special'],
  ['fe80::1%eth0', 'no_address'],
  ['example.com', 'no_address'],
  ['127.1', 'no_address'],
  ['', 'no_address'],
])('refuses %s under either policy', (address, objection) => {
  expect(addressObjection(address, 'public', none, [])).toBe(objection);
  expect(addressObjection(address, 'private', none, [])).toBe(objection);
});

test('denied ranges are closed whatever else allows them', () => {
  const rules = addressRules(['10.0.0.0/8', '1.1.1.0/24'], ['10.1.0.0/16', '1.1.1.1']);
  expect(addressObjection('10.2.0.1', 'public', rules, [])).toBeNull();
  expect(addressObjection('10.1.0.1', 'private', rules, [])).toBe('denied');
  expect(addressObjection('1.1.1.1', 'public', rules, [])).toBe('denied');
  expect(addressObjection('1.1.1.2', 'public', rules, [])).toBeNull();
});

test('allowed ranges open everything but multicast and the like', () => {
  const rules = addressRules(['0.0.0.0/0', '::/0'], []);
  expect(addressObjection('198.18.0.1', 'public', rules, [])).toBeNull();
  expect(addressObjection('fd00::1', 'public', rules, [])).toBeNull();
  for (const address of ['224.0.0.1', '255.255.255.255', '0.0.0.0', '::', 'ff02::1']) {
    expect(addressObjection(address, 'private', rules, [])).toBe('never');
  }
});

test('behind a translator the inner address is judged too', () => {
  const rules = addressRules(['64:ff9b::/96'], ['8.8.4.4']);
  expect(addressObjection('64:ff9b::8.8.8.8', 'public', rules, [])).toBeNull();
  expect(addressObjection('64:ff9b::127.0.0.1', 'public', rules, [])).toBe('private');
  expect(addressObjection('64:ff9b::224.0.0.1', 'private', rules, [])).toBe('never');
  expect(addressObjection('64:ff9b::8.8.4.4', 'public', rules, [])).toBe('denied');
});

test("the node's own addresses are closed to strangers only", () => {
  expect(addressObjection('1.2.3.4', 'public', none, ['1.2.3.4'])).toBe('own');
  expect(addressObjection('2a00::1', 'public', none, ['2a00:0:0::1'])).toBe('own');
  expect(addressObjection('1.2.3.4', 'private', none, ['1.2.3.4'])).toBeNull();
});

const closed = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '168.63.129.16/32',
];

const closedAddress = fc
  .tuple(fc.constantFrom(...closed), fc.integer({ min: 0, max: 2 ** 32 - 1 }))
  .map(([range, random]) => {
    const [base, bits] = ipaddr.IPv4.parseCIDR(range);
    const start = base.toByteArray().reduce((sum, byte) => sum * 256 + byte, 0);
    const value = start + (random % 2 ** (32 - bits));
    return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256);
  });

const hex = (bytes: readonly number[]) =>
  Buffer.from(bytes)
    .toString('hex')
    .replace(/(.{4})(.{4})/, '$1:$2');

test('every address of a closed range is refused under public in every spelling', () => {
  const spellings = [
    (bytes: number[]) => bytes.join('.'),
    (bytes: number[]) => `::${bytes.join('.')}`,
    (bytes: number[]) => `::ffff:${bytes.join('.')}`,
    (bytes: number[]) => `0:0:0:0:0:ffff:${hex(bytes)}`,
    (bytes: number[]) => `::ffff:0:${hex(bytes)}`,
    (bytes: number[]) => `64:ff9b::${hex(bytes)}`,
    (bytes: number[]) => `64:FF9B:1::${hex(bytes)}`,
    (bytes: number[]) => `2002:${hex(bytes)}::1`,
    (bytes: number[]) => `2001:0:102:304:0:0:${hex(bytes.map((byte) => 255 - byte))}`,
  ];
  const opened = addressRules(['::/0'], []);
  fc.assert(
    fc.property(closedAddress, fc.constantFrom(...spellings), (bytes, period) => {
      expect(addressObjection(period(bytes), 'public', none, [])).not.toBeNull();
      // Even where the operator opened all of IPv6, an inner IPv4 address keeps its own rules.
      if (period(bytes) !== '::0.0.0.1') expect(addressObjection(period(bytes), 'public', opened, [])).not.toBeNull();
    }),
    { numRuns: 500 },
  );
});

test('no IPv6 address outside of global unicast is ever public', () => {
  const bytes = fc.uint8Array({ minLength: 16, maxLength: 16 });
  fc.assert(
    fc.property(bytes, (random) => {
      const address = ipaddr.fromByteArray([...random]).toString();
      if (addressObjection(address, 'public', none, []) === null) expect(random[0]! >> 5).toBe(1);
    }),
    { numRuns: 500 },
  );
});

test('compares addresses, not texts', () => {
  expect(isSameAddress('::1', '0:0:0:0:0:0:0:1')).toBe(true);
  expect(isSameAddress('::ffff:192.0.2.1', '192.0.2.1')).toBe(true);
  expect(isSameAddress('192.0.2.1', '192.0.2.2')).toBe(false);
  expect(isSameAddress('', '')).toBe(false);
});

test.each(['10.0.0.0/8', '::/0', '192.0.2.1', '2001:db8::1'])('accepts the range %s', (range) => {
  expect(AddressRange.parse(range)).toBe(range);
});

test.each([
  '',
  '10/8',
  '10.0.0.0/33',
  '::/129',
  '10.0.0.0/8/9',
  '10.0.0.0/x',
  'fe80::1%lo/64',
  '0x7f.1',
  'example.com',
])('refuses the range "%s"', (range) => {
  expect(AddressRange.safeParse(range).error?.issues[0]?.message).toContain('expected an address or a range');
  expect(() => addressRules([range], [])).toThrow(RangeError);
});
