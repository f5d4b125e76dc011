import * as fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { failed, failure, toSeconds } from '#checks/outcome.ts';
import { outcomeOf } from '#checks/outcome-schemas.ts';
import { bytesOf, matcherOf } from '#checks/payload.ts';
import { AnswerPattern, Payload } from '#checks/payload-schemas.ts';
import { tcp } from '#checks/tcp/index.ts';

const Outcome = outcomeOf(tcp.Detail);

interface Sample {
  readonly check: string;
  readonly kind: string;
  readonly sample: unknown;
}

const samples = JSON.parse(readFileSync(new URL('../../fixtures/samples.json', import.meta.url), 'utf8')) as Sample[];
const rows = samples
  .filter(({ check, kind }) => check === 'tcp' && kind.includes('result'))
  .flatMap(({ sample }) => (Array.isArray(sample) ? [sample] : Object.values(sample as Record<string, unknown>)));

test.each([
  ['example.com', 'example.com:80', '80'],
  ['https://Example.com/path', 'example.com:443', '443'],
  ['ssmtp://mx.example', 'mx.example:465', '465'],
  ['[2001:db8::1]:22', '[2001:db8::1]:22', '22'],
  ['2001:db8::1', '[2001:db8::1]:80', '80'],
  ['0x7f.1:22', '127.0.0.1:22', '22'],
])('records %s as %s', (host, recorded, port) => {
  const spec = tcp.Spec.parse({ type: 'tcp', host });
  expect(spec.host).toBe(recorded);
  expect(tcp.port(spec)).toBe(port);
  expect(tcp.Spec.parse(z.encode(tcp.Spec, spec))).toEqual(spec);
});

test('a spec with every option survives being encoded', () => {
  const spec = tcp.Spec.parse({
    type: 'tcp',
    host: 'a.example',
    timeout: '1m',
    family: 6,
    tls: { server_name: 'b.example', min_version: 'TLSv1.3', verify: false },
    send: { base64: 'AAEC' },
    expect: { hex: '00:01 02' },
  });
  expect(tcp.Spec.parse(JSON.parse(JSON.stringify(z.encode(tcp.Spec, spec))))).toEqual(spec);
  expect(() => z.toJSONSchema(tcp.Spec, { io: 'input' })).not.toThrow();
});

test.each([
  [{ send: 'a\\q' }, /escape/],
  [{ send: 'a\\x0' }, /escape/],
  [{ expect: { regex: '(' } }, /regular expression/],
  [{ expect: { hex: '0g' } }, /hexadecimal/],
  [{ family: 5 }, /4\|6/],
  [{ timeout: '2m' }, /at most 60s/],
  [{ host: 'user@example.com' }, /user name/],
])('refuses %j', (wishes, message) => {
  const parsed = tcp.Spec.safeParse({ type: 'tcp', host: 'example.com', ...wishes });
  expect(JSON.stringify(parsed.error?.issues)).toMatch(message);
});

test('escapes in a payload become bytes', () => {
  expect(bytesOf(Payload.parse('a\\r\\n\\t\\0\\\\\\xffü'))).toEqual(
    Buffer.concat([Buffer.from('a\r\n\t\0\\'), Buffer.from([0xff]), Buffer.from('ü')]),
  );
  expect(bytesOf(Payload.parse({ hex: '00 FF:0a' }))).toEqual(Buffer.from([0, 255, 10]));
  expect(bytesOf(Payload.parse({ base64: 'AAEC' }))).toEqual(Buffer.from([0, 1, 2]));
});

test('an expectation looks at bytes, or by a regular expression at lines of text', () => {
  expect(matcherOf(AnswerPattern.parse('ok\\r\\n'))(Buffer.from('250 ok\r\n'))).toBe(true);
  expect(matcherOf(AnswerPattern.parse('\\xff'))(Buffer.from([1, 255, 2]))).toBe(true);
  expect(matcherOf(AnswerPattern.parse({ hex: '0102' }))(Buffer.from([1, 255, 2]))).toBe(false);
  expect(matcherOf(AnswerPattern.parse({ regex: '^250' }))(Buffer.from('220 hi\r\n250 ok'))).toBe(true);
});

test('reads every captured row, and row, outcome and row again are the same', () => {
  expect(rows.length).toBeGreaterThanOrEqual(3);
  for (const row of rows) {
    const outcome = Outcome.parse(tcp.row.fromRow(row));
    expect(tcp.row.toRow(outcome)).toEqual(row);
  }
});

test.each([
  [[{ error: 'Connection timed out' }], 'down', 'timeout'],
  [[{ error: 'Connection refused', address: '192.0.2.1' }], 'down', 'refused'],
  [[{ error: 'Connection reset by peer' }], 'down', 'reset'],
  [[{ error: 'No route to host' }], 'down', 'unreachable'],
  [[{ error: 'Network is unreachable' }], 'down', 'unreachable'],
  [[{ error: 'Name or service not known' }], 'down', 'name_not_found'],
  [[{ error: 'something else' }], 'down', 'unreachable'],
  [[{ error: 'Broken pipe', time: 0.1, extra: 1 }], 'down', 'reset'],
])('reads %j', (row, status, code) => {
  expect(tcp.row.fromRow(row)).toMatchObject({ status, failure: { code } });
});

test.each([null, [], [null], [{}], [{ time: 'x' }], [{ time: -1 }], 'text', [{ error: 5 }], [[1]], { error: 'x' }])(
  'does not read %j',
  (row) => {
    expect(tcp.row.fromRow(row)).toBeNull();
  },
);

test.each([
  failure('target', 'refused', 'connection refused'),
  failure('target', 'timeout', 'connection timed out after 5s'),
  failure('target', 'timeout', 'no answer within 5s'),
  failure('target', 'timeout', 'no TLS handshake within 5s'),
  failure('target', 'reset', 'connection reset by the target'),
  failure('target', 'closed', 'connection closed by the target without an answer'),
  failure('target', 'unreachable', 'host or network unreachable'),
  failure('target', 'answer', 'the answer "the certificate expired" does not contain "x"'),
  failure('target', 'tls', 'TLS handshake failed: wrong version number'),
  failure('target', 'certificate_expired', 'the certificate expired on 2026-01-01T00:00:00.000Z'),
  failure('target', 'certificate_untrusted', 'the certificate is not trusted: it is self-signed'),
  failure('target', 'certificate_name', 'the certificate is not for a.example but for expired.example'),
  failure('target', 'name_not_found', 'the name a.example does not exist'),
  failure('target', 'name_without_address', 'the name a.example has no IPv6 address'),
  failure('target', 'name_server', 'the name servers of a.example answer with an error'),
  failure('target', 'name_timeout', 'the name servers of a.example do not answer'),
  failure('resolver', 'name_server', 'the resolver of this node does not work: its name servers answer with an error'),
  failure('node', 'forbidden', 'a.example is refused: this node checks public addresses only'),
  failure('node', 'local', 'this node could not connect: connect EADDRNOTAVAIL 192.0.2.1'),
])('a failure of our own is read back from its row: $message', (reason) => {
  const row = tcp.row.toRow(failed(reason, { address: '192.0.2.1' }));
  expect(tcp.row.fromRow(row)).toMatchObject({ failure: reason, address: '192.0.2.1' });
});

test('row, outcome and row again are the same for any row', () => {
  const address = fc.oneof(fc.ipV4(), fc.ipV6());
  const time = fc.integer({ min: 0, max: 60_000_000 }).map((microseconds) => toSeconds(microseconds / 1_000));
  const row = fc.oneof(
    fc.record({ time, address }),
    fc.record({ error: fc.string() }),
    fc.record({ error: fc.string(), address }),
  );
  fc.assert(
    fc.property(row, (written) => {
      const outcome = tcp.row.fromRow([written]);
      const first = tcp.row.toRow(Outcome.parse(outcome));
      const again = tcp.row.fromRow(first);
      expect(tcp.row.toRow(Outcome.parse(again))).toEqual(first);
      if (!('error' in written)) expect(first).toEqual([written]);
    }),
  );
});
