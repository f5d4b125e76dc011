import * as fc from 'fast-check';
import { isIP } from 'node:net';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { formatHostPort, parseEndpoint, portOf } from '#checks/endpoint.ts';
import { Host } from '#checks/host-schema.ts';
import { anyText } from '../../support/any-text.ts';

const label = 'a'.repeat(63);

test.each([
  ['example.com', { name: 'example.com' }],
  ['EXAMPLE.com.', { name: 'example.com' }],
  ['_dmarc.example.com', { name: '_dmarc.example.com' }],
  ['localhost', { name: 'localhost' }],
  ['example.com:443', { name: 'example.com', port: 443 }],
  ['192.0.2.7', { name: '192.0.2.7' }],
  ['192.0.2.7:1', { name: '192.0.2.7', port: 1 }],
  ['2001:DB8:0:0::1', { name: '2001:db8::1' }],
  ['2001:db8::1:80', { name: '2001:db8::1:80' }],
  ['[2001:db8::1]', { name: '2001:db8::1' }],
  ['[2001:db8::1]:65535', { name: '2001:db8::1', port: 65_535 }],
  ['::', { name: '::' }],
  ['::ffff:127.0.0.1', { name: '::ffff:7f00:1' }],
  ['https://example.com', { scheme: 'https', name: 'example.com' }],
  ['HTTPS://Example.com:8443/a/b?c=d#e', { scheme: 'https', name: 'example.com', port: 8443, path: '/a/b?c=d' }],
  ['http://[::1]:80/', { scheme: 'http', name: '::1', port: 80, path: '/' }],
  ['http://example.com?a=@%20', { scheme: 'http', name: 'example.com', path: '/?a=@%20' }],
  ['example.com/health', { name: 'example.com', path: '/health' }],
  ['http://example.com#top', { scheme: 'http', name: 'example.com' }],
  ['bücher.example', { name: 'xn--bcher-kva.example' }],
  ['example。com', { name: 'example.com' }],
  ['1e3', { name: '1e3' }],
  ['0x7f', { name: '0.0.0.127' }],
  ['2130706433', { name: '127.0.0.1' }],
  ['0x7f.1', { name: '127.0.0.1' }],
  ['0X7F.1:22', { name: '127.0.0.1', port: 22 }],
  ['127.1', { name: '127.0.0.1' }],
  ['127.0.1', { name: '127.0.0.1' }],
  ['127.0.0.1.', { name: '127.0.0.1' }],
  ['0177.0.0.01', { name: '127.0.0.1' }],
  ['017700000001', { name: '127.0.0.1' }],
  ['0', { name: '0.0.0.0' }],
  ['0x', { name: '0.0.0.0' }],
  ['①②⑦.0.0.1', { name: '127.0.0.1' }],
  ['4294967295', { name: '255.255.255.255' }],
  [`${label}.example`, { name: `${label}.example` }],
])('reads %s', (text, expected) => {
  expect(parseEndpoint(text)).toEqual({ ok: true, scheme: null, port: null, path: null, ...expected });
});

test.each([
  ['', /is empty/],
  ['http://', /no host name/],
  ['http:///path', /no host name/],
  ['a b', /spaces/],
  ['a\tb', /control/],
  ['a\0b', /control/],
  [' example.com', /spaces/],
  ['example.com\n', /control/],
  ['ex\u200bample.com', /control/],
  ['http:\\\\example.com', /backslash/],
  ['user@example.com', /user name/],
  ['http://user:secret@example.com', /user name/],
  ['fe80::1%eth0', /zones/],
  ['[fe80::1%25eth0]', /zones/],
  ['ex%61mple.com', /escapes/],
  ['example.com:', /port/],
  ['example.com:0', /port/],
  ['example.com:65536', /port/],
  ['example.com:-1', /port/],
  ['example.com:http', /port/],
  ['[::1]:99999', /port/],
  ['[::1]80', /IPv6/],
  ['[::1', /IPv6/],
  ['[127.0.0.1]', /IPv6/],
  ['1:2:3', /IPv6/],
  ['a..b', /empty part/],
  ['.a', /empty part/],
  ['.', /empty part/],
  ['-a.example', /begins or ends/],
  ['a-.example', /begins or ends/],
  ['a,b', /valid host name/],
  ['a"b', /valid host name/],
  ['a<b>', /valid host name/],
  ['1.2.3.256', /IPv4/],
  ['1.2.3.4.5', /IPv4/],
  ['256.1', /IPv4/],
  ['4294967296', /IPv4/],
  ['08.1.1.1', /IPv4/],
  ['a.10', /IPv4/],
  ['a.0x1f', /IPv4/],
  ['①.②⑤⑥.0.300', /internationalised|IPv4/],
  [`${label}a.example`, /63/],
])('refuses %j', (text, expected) => {
  expect(parseEndpoint(text)).toEqual({ ok: false, message: expect.stringMatching(expected) });
});

test('refuses names and texts that are too long', () => {
  expect(parseEndpoint(`${label}.`.repeat(4))).toEqual({ ok: false, message: expect.stringContaining('253') });
  const text = `http://example.com/${'a'.repeat(3_000)}`;
  expect(parseEndpoint(text)).toEqual({ ok: false, message: expect.stringContaining('2048') });
});

test.each([
  ['smtp://mx.example', 25],
  ['https://example.com', 443],
  ['https://example.com:80', 80],
  ['ssmtp://mx.example', 465],
  ['smtps://mx.example', 465],
  ['ssh://example.com', 22],
  ['nobody-knows-it://example.com', 80],
  ['constructor://example.com', 80],
  ['example.com', 80],
  ['example.com:22', 22],
])('takes the port of %s from what is written, from the scheme, or 80', (text, port) => {
  const endpoint = parseEndpoint(text);
  expect(endpoint.ok && portOf(endpoint)).toBe(port);
});

test('a host with its port is read again as the same', () => {
  const address = fc.oneof(fc.ipV4(), fc.ipV6(), fc.domain());
  fc.assert(
    fc.property(address, fc.integer({ min: 1, max: 65_535 }), (name, port) => {
      const first = parseEndpoint(name);
      if (!first.ok) return;
      const again = parseEndpoint(formatHostPort(first.name, port));
      expect(again).toEqual({ ...first, port });
    }),
  );
});

test('every spelling of an IPv4 address is that address', () => {
  const byte = fc.integer({ min: 0, max: 255 });
  const radix = fc.constantFrom(
    (value: number) => String(value),
    (value: number) => `0${value.toString(8)}`,
    (value: number) => `0x${value.toString(16)}`,
    (value: number) => `0X${value.toString(16).toUpperCase()}`,
    (value: number) => String(value).replaceAll(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit))),
  );
  const cut = fc.integer({ min: 1, max: 4 });
  fc.assert(
    fc.property(
      fc.tuple(byte, byte, byte, byte),
      cut,
      fc.array(radix, { minLength: 4, maxLength: 4 }),
      (bytes, parts, write) => {
        const leading = bytes.slice(0, parts - 1);
        const last = bytes.slice(parts - 1).reduce((sum, value) => sum * 256 + value, 0);
        const text = [...leading, last].map((value, index) => write[index]!(value)).join('.');
        expect(parseEndpoint(text)).toMatchObject({ ok: true, name: bytes.join('.') });
      },
    ),
  );
});

test('nothing that is read looks like a number without being an address', () => {
  const text = fc.oneof(anyText(), fc.string({ unit: fc.constantFrom(...Array.from('01279.xXaf:[]/@①⑦。-')) }));
  fc.assert(
    fc.property(text, (written) => {
      const parsed = parseEndpoint(written);
      if (!parsed.ok) return;
      expect(parsed.name).toMatch(/^[a-z0-9._:-]+$/);
      if (isIP(parsed.name) !== 0) return;
      expect(new URL(`http://${parsed.name}/`).hostname).toBe(parsed.name);
    }),
    { numRuns: 300 },
  );
});

test('a host field normalises, refuses with the message of the parser, and stays a string', () => {
  const Spec = z.strictObject({ host: Host((endpoint) => formatHostPort(endpoint.name, portOf(endpoint))) });
  const spec = Spec.parse({ host: 'HTTPS://Example.COM/' });
  expect(spec).toEqual({ host: 'example.com:443' });
  expect(Spec.parse(z.encode(Spec, spec))).toEqual(spec);
  expect(Spec.safeParse({ host: 'a b' }).error?.issues).toMatchObject([
    { path: ['host'], message: expect.stringContaining('must not contain spaces') },
  ]);
  expect(z.toJSONSchema(Spec, { io: 'input' })).toMatchObject({ properties: { host: { type: 'string' } } });
  const Picky = Host(() => ({ message: 'is never good enough' }));
  expect(Picky.safeParse('example.com').error?.issues).toMatchObject([{ message: 'is never good enough' }]);
});
