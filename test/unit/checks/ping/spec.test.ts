import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkOf, CheckSpec } from '#checks/index.ts';
import { z } from 'zod';
import { ping } from '#checks/ping/index.ts';
import { shapeOf } from '#checks/ping/shape.ts';

const { Spec } = ping;

test('a host alone gives four echoes with all defaults', () => {
  expect(Spec.parse({ type: 'ping', host: 'example.com' })).toEqual({
    type: 'ping',
    host: 'example.com',
    count: 4,
    interval: 500,
    timeout: 3_000,
    size: 56,
  });
});

test.each([
  ['example.com', 'example.com'],
  ['https://Example.com:8443/path', 'example.com'],
  ['example.com:22', 'example.com'],
  ['[2001:DB8::1]:80', '2001:db8::1'],
  ['0x7f.1', '127.0.0.1'],
])('%s is recorded as %s', (written, host) => {
  expect(Spec.parse({ type: 'ping', host: written }).host).toBe(host);
});

test.each([
  { count: 0 },
  { count: 21 },
  { interval: '1ms' },
  { timeout: '61s' },
  { size: '7B' },
  { size: '1473B' },
  { family: 5 },
  { host: '' },
  { port: 80 },
])('%j is refused', (options) => {
  expect(Spec.safeParse({ type: 'ping', host: 'example.com', ...options }).success).toBe(false);
});

test('an encoded spec is read again as the same spec', () => {
  const options = fc.record({
    type: fc.constant('ping' as const),
    host: fc.oneof(fc.domain(), fc.ipV4(), fc.ipV6()).map((host) => Spec.shape.host.parse(host)),
    count: fc.integer({ min: 1, max: 20 }),
    interval: fc.integer({ min: 10, max: 10_000 }),
    timeout: fc.integer({ min: 100, max: 60_000 }),
    size: fc.integer({ min: 8, max: 1_472 }),
    family: fc.constantFrom<4 | 6>(4, 6),
  });
  fc.assert(
    fc.property(options, (spec) => {
      expect(Spec.parse(JSON.parse(JSON.stringify(z.encode(Spec, spec))))).toEqual(spec);
    }),
  );
});

test('the deadline leaves room for the name, the last request and its wait', () => {
  expect(ping.deadlineMs(Spec.parse({ type: 'ping', host: 'example.com' }))).toBe(5_000 + 1_500 + 3_000);
});

test('no port is recorded', () => {
  expect(ping.port(Spec.parse({ type: 'ping', host: 'example.com:22' }))).toBeNull();
});

test.each([
  [{ type: 'ping', host: 'a.example', count: 1, timeout: '500ms' }, 5_500],
  [{ type: 'ping', host: '192.0.2.1', count: 1, timeout: '500ms' }, 500],
  [{ type: 'ping', host: '[2001:db8::1]', count: 2, interval: '100ms', timeout: '500ms' }, 600],
  [{ type: 'udp', host: 'a.example:53', timeout: '500ms' }, 1_000],
  [{ type: 'udp', host: '192.0.2.1:53', timeout: '500ms' }, 500],
  [{ type: 'dns', host: 'a.example', resolver: 'ns.example', timeout: '500ms' }, 1_000],
  [{ type: 'dns', host: 'a.example', resolver: '[2001:db8::1]:53', timeout: '500ms' }, 500],
])('%j takes no time for a name that is none', (written, ms) => {
  const spec = CheckSpec.parse(written);
  expect(checkOf(spec.type).deadlineMs(spec)).toBe(ms);
});

test.each([
  ['ef', 46],
  ['af11', 10],
  ['af43', 38],
  ['cs0', 0],
  ['cs5', 40],
  [63, 63],
] as const)('the class %s is %i', (dscp, code) => {
  expect(shapeOf(Spec.parse({ type: 'ping', host: 'a.example', dscp }))).toEqual({ trafficClass: code << 2 });
});
