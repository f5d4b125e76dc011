import { expect, test } from 'vitest';
import { isLoopback, networkOf } from '#kernel/network.ts';

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['2001:db8:1:2::1', '2001:db8:1:2::/64'],
  ['2001:db8:1:2:ffff:ffff:ffff:ffff', '2001:db8:1:2::/64'],
  ['2001:0DB8:0001:0002::', '2001:db8:1:2::/64'],
  ['::1', '0:0:0:0::/64'],
  ['1:2::3:4:5', '1:2:0:0::/64'],
  ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['example.com', 'example.com'],
  ['token ci', 'token ci'],
])('%s counts as %s', (written, network) => {
  expect(networkOf(written)).toBe(network);
});

test.each([
  ['127.0.0.1', true],
  ['127.200.3.4', true],
  ['::1', true],
  ['::ffff:127.0.0.1', true],
  ['128.0.0.1', false],
  ['::2', false],
  ['127.1', false],
  ['', false],
])('loopback: %s is %s', (address, is) => {
  expect(isLoopback(address)).toBe(is);
});
