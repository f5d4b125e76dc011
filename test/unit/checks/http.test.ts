import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { exchangeFailure } from '#checks/http/exchange-failure.ts';
import { http } from '#checks/http/index.ts';
import { followRedirect, targetOf, urlOf } from '#checks/http/redirect.ts';
import { inRanges } from '#checks/http/status-ranges.ts';
import { StatusRanges } from '#checks/http/status-ranges-schema.ts';
import { failed, failure, type Outcome } from '#checks/outcome.ts';
import { FailureCode, outcomeOf } from '#checks/outcome-schemas.ts';

const Outcome = outcomeOf(http.Detail);
const parse = (options: object) => http.Spec.safeParse({ type: 'http', host: 'a.example', ...options });

test.each([
  ['example.com', 'http://example.com:80'],
  ['Example.COM.', 'http://example.com:80'],
  ['example.com:8080', 'http://example.com:8080'],
  ['example.com/path?q=1', 'http://example.com:80/path?q=1'],
  ['http://example.com', 'http://example.com:80'],
  ['http://example.com:443/', 'http://example.com:443/'],
  ['http://example.com?q', 'http://example.com:80/?q'],
  ['https://example.com', 'https://example.com'],
  ['https://example.com:8443/a#b', 'https://example.com:8443/a'],
  ['HTTPS://EXAMPLE.com/A', 'https://example.com/A'],
  ['smtp://example.com', 'http://example.com:25'],
  ['192.0.2.1', 'http://192.0.2.1:80'],
  ['0x7f.1', 'http://127.0.0.1:80'],
  ['2001:db8::1', 'http://[2001:db8::1]:80'],
  ['https://[2001:DB8::1]:444', 'https://[2001:db8::1]:444'],
  ['bücher.example', 'http://xn--bcher-kva.example:80'],
])('records %s as %s', (host, recorded) => {
  const spec = http.Spec.parse({ type: 'http', host });
  expect(spec.host).toBe(recorded);
  expect(http.Spec.parse(z.encode(http.Spec, spec))).toEqual(spec);
  expect(http.port(spec)).toBeNull();
  expect(http.deadlineMs(spec)).toBe(10_000);
});

test('a spec with every option survives being encoded and sent as JSON', () => {
  const spec = http.Spec.parse({
    type: 'http',
    host: 'https://a.example/',
    timeout: '30s',
    method: 'POST',
    headers: { 'X-One': 'eins', accept: 'text/html' },
    body: '{"a":1}',
    basic_auth: { username: 'u', password: 'p' },
    bearer: 'abc.def-ghi_jkl~mno+pqr/stu==',
    family: 6,
    http2: 'never',
    redirects: 5,
    tls: {
      ca: '-----BEGIN CERTIFICATE-----',
      client: { cert: '-----BEGIN CERTIFICATE-----', key: '-----BEGIN EC PRIVATE KEY-----' },
      server_name: 'b.example',
      verify: false,
    },
    max_body: '2MiB',
    expect: {
      status: ['200-299', 301],
      headers: { 'content-type': { regex: '^text/' }, server: 'x' },
      body: { contains: 'a', not_contains: 'b', regex: 'c', json: { path: '$.d', equals: null, exists: true } },
      latency: '1.5s',
      certificate: { valid_for: '14d' },
    },
  });
  expect(http.Spec.parse(JSON.parse(JSON.stringify(z.encode(http.Spec, spec))))).toEqual(spec);
});

test('the schema of a spec can be written as JSON Schema', () => {
  expect(() => z.toJSONSchema(http.Spec, { io: 'input', target: 'openapi-3.0' })).not.toThrow();
  expect(() => z.toJSONSchema(Outcome)).not.toThrow();
});

test.each([
  [{ host: '' }, 'is empty'],
  [{ host: 'http://user:pass@a.example' }, 'user name or password'],
  [{ host: 'a.example:99999' }, 'no valid port'],
  [{ timeout: '2m' }, 'at most 60s'],
  [{ method: 'TRACE' }, 'GET'],
  [{ headers: { 'a b': 'x' } }, 'expected the name of a header'],
  [{ headers: { 'Content-Length': '5' } }, 'set by the check itself'],
  [{ headers: { 'transfer-encoding': 'chunked' } }, 'set by the check itself'],
  [{ headers: { a: 'x\r\nb: y' } }, 'line breaks'],
  [{ headers: { a: '\u20ac' } }, 'Latin-1'],
  [{ bearer: 'a b' }, 'bearer token'],
  [{ basic_auth: { username: 'a:b', password: 'c' } }, 'RFC 7617'],
  [{ redirects: 6 }, '<=5'],
  [{ max_body: '17MiB' }, 'must be from'],
  [{ tls: { ca: '/etc/ssl/ca.pem' } }, 'expected PEM text'],
  [{ tls: { client: { cert: '-----BEGIN CERTIFICATE-----' } } }, 'expected string'],
  [{ expect: { status: 'ok' } }, 'expected a status code'],
  [{ expect: { status: '299-200' } }, 'write the smaller status code first'],
  [{ expect: { status: [] } }, 'status'],
  [{ expect: { body: { regex: '(' } } }, 'is no valid regular expression'],
  [{ expect: { headers: { a: { regex: '[' } } } }, 'is no valid regular expression'],
  [{ expect: { body: { json: { path: 'status' } } } }, 'path'],
  [{ expect: { typo: 1 } }, 'typo'],
])('refuses %j', (options, message) => {
  const parsed = parse(options);
  expect(parsed.success).toBe(false);
  expect(JSON.stringify(parsed.error?.issues)).toContain(message);
});

const status = fc.integer({ min: 100, max: 999 });
const range = fc.tuple(status, status).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`);
const written = fc.oneof(status, range, fc.array(fc.oneof(status, range), { minLength: 1, maxLength: 20 }));

test('status ranges survive being encoded, and mean the same afterwards', () => {
  fc.assert(
    fc.property(written, status, (ranges, code) => {
      const read = StatusRanges.parse(ranges);
      const again = StatusRanges.parse(z.encode(StatusRanges, read));
      expect(again).toEqual(read);
      expect(inRanges(code, again)).toBe(inRanges(code, read));
    }),
  );
});

test('a status is in a range from its first to its last', () => {
  fc.assert(
    fc.property(range, status, (text, code) => {
      const [from, to] = text.split('-').map(Number);
      expect(inRanges(code, StatusRanges.parse(text))).toBe(code >= (from ?? 0) && code <= (to ?? 0));
    }),
  );
});

interface Sample {
  readonly check: string;
  readonly kind: string;
  readonly sample: unknown;
}

const samples = JSON.parse(readFileSync(new URL('../../fixtures/samples.json', import.meta.url), 'utf8')) as Sample[];
const rows = samples
  .filter(({ check, kind }) => check.startsWith('http') && kind.includes('result'))
  .flatMap(({ sample }) => {
    const map = sample as Record<string, unknown>;
    return Array.isArray(sample) ? [sample] : Object.values((map['results'] ?? map) as Record<string, unknown>);
  }) as [[number, number, string, string | null, string | null | undefined]][];

test('reads every captured row and writes it with five elements', () => {
  expect(rows).toHaveLength(11);
  for (const row of rows) {
    const outcome = Outcome.parse(http.row.fromRow(row));
    const [[ok, seconds, message, code, address = null]] = row;
    expect(http.row.toRow(outcome)).toEqual([[ok, seconds, message, code, address]]);
    expect(http.row.fromRow(http.row.toRow(outcome))).toEqual(outcome);
  }
});

const seconds = fc.double({ min: 0, max: 60, noNaN: true, noDefaultInfinity: true });
const phrase = fc.stringMatching(/^[A-Za-z][A-Za-z' -]{0,60}[a-z]$/).map((text) => text.replaceAll(/ +/g, ' '));
const address = fc.option(fc.oneof(fc.ipV4(), fc.ipV6()), { nil: null });
const statusText = status.map(String);
const row = fc
  .oneof(
    fc.tuple(fc.constant(1), seconds, phrase, statusText, address),
    fc.tuple(fc.constant(0), seconds, phrase, statusText, address),
    fc.tuple(fc.constant(0), seconds, phrase, fc.constant(null), fc.constant(null)),
  )
  .map((elements) => [elements]);

test('row, outcome and row again are the same', () => {
  fc.assert(
    fc.property(row, (one) => {
      const outcome = Outcome.parse(http.row.fromRow(one));
      expect(http.row.toRow(outcome)).toEqual(one);
    }),
  );
});

const anyFailure = fc
  .tuple(fc.constantFrom('target', 'resolver'), fc.constantFrom(...FailureCode.options), phrase)
  .map(([source, code, message]) => failure(source as 'target', code, message));
const detail = fc
  .record({ status: fc.option(status, { nil: null }), reason: phrase })
  .map((known): z.output<typeof http.Detail> => ({
    ...known,
    version: '1.1',
    hops: [],
    body_bytes: 0,
    body_complete: true,
    headers: {},
    certificate: null,
    tls_protocol: null,
    timed_by: 'kernel',
    failed_expectation: null,
  }));

test('the row of any failure is five elements that are read as no success, and stay as they are', () => {
  fc.assert(
    fc.property(anyFailure, fc.option(detail, { nil: null }), seconds, address, (reason, found, took, from) => {
      const outcome: Outcome<z.output<typeof http.Detail>> = failed(reason, {
        detail: found,
        seconds: took,
        address: from,
      });
      const written = http.row.toRow(outcome);
      expect(written).toEqual([[0, took, expect.any(String), expect.toSatisfy(isStatus), expect.toSatisfy(isAddress)]]);
      const read = Outcome.parse(http.row.fromRow(written));
      expect(read.status).not.toBe('up');
      expect(http.row.toRow(read)).toEqual(written);
    }),
  );
});

const isStatus = (value: unknown) => value === null || (typeof value === 'string' && /^\d{3}$/.test(value));
const isAddress = (value: unknown) => value === null || typeof value === 'string';

test('four elements, a status as a number and more elements are read', () => {
  expect(http.row.fromRow([[1, 0.1, 'OK', 200]])).toMatchObject({
    status: 'up',
    address: null,
    detail: { status: 200 },
  });
  expect(http.row.fromRow([[1, 0.1, 'OK', '200', '192.0.2.1', 'more']])).toMatchObject({ address: '192.0.2.1' });
});

test.each([
  [null],
  [[]],
  [[null, 'some message']],
  [[null, { message: 'gone' }]],
  [[[1, 0.1, 'OK']]],
  [[[2, 0.1, 'OK', '200', null]]],
  [[[1, -1, 'OK', '200', null]]],
  [[[1, 0.1, 'OK', null, null]]],
  [[[1, 0.1, 'OK', '20', null]]],
  [[[1, '0.1', 'OK', '200', null]]],
  [
    [
      [1, 0.1, 'OK', '200', null],
      [1, 0.1, 'OK', '200', null],
    ],
  ],
])('%j is no row', (value) => {
  expect(http.row.fromRow(value)).toBeNull();
});

test.each([
  ['No such device or address', 'name_not_found'],
  ['the name a.example has no IPv6 address', 'name_without_address'],
  ['connection refused', 'refused'],
  ['Connection refused', 'refused'],
  ['connection timed out after 20s', 'timeout'],
  ['timeout after 20s while waiting for the TLS handshake', 'timeout'],
  ['Connection timed out', 'timeout'],
  ['connection reset while waiting for the body', 'reset'],
  ['connection closed while waiting for the headers', 'closed'],
  ['the answer is not valid HTTP: Expected HTTP/', 'protocol'],
  ['the body is not valid gzip', 'protocol'],
  ['the headers of the answer are larger than 16384 bytes', 'too_large'],
  ['the certificate is not trusted: it is self-signed', 'certificate_untrusted'],
  ['the certificate expired on 2026-01-01T00:00:00.000Z', 'certificate_expired'],
  ['the certificate is not for a.example but for b.example', 'certificate_name'],
  ['TLS handshake failed: wrong version number', 'tls'],
  ['TLS failed while waiting for the first byte: tlsv13 alert certificate required', 'tls'],
  ['host or network unreachable', 'unreachable'],
  ['Network is unreachable', 'unreachable'],
])('the words "%s" are read as %s', (message, code) => {
  expect(http.row.fromRow([[0, 0.1, message, null, null]])).toMatchObject({
    status: 'down',
    failure: { code, message },
  });
});

test('a status row is read with its status, whatever the phrase', () => {
  expect(http.row.fromRow([[0, 0.1, 'Not Found', '404', '192.0.2.1']])).toMatchObject({
    status: 'down',
    address: '192.0.2.1',
    failure: { source: 'target', code: 'status', message: '404 Not Found' },
    detail: { status: 404, reason: 'Not Found' },
  });
});

test('what ends a request too early is told from what resets it', () => {
  const hangUp = Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
  const reset = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET', syscall: 'read' });
  expect(exchangeFailure(hangUp, 'the body').code).toBe('closed');
  expect(exchangeFailure(reset, 'the body').code).toBe('reset');
});

test('lack of our own means is a fault of the node', () => {
  const error = Object.assign(new Error('write ENOBUFS'), { code: 'ENOBUFS', syscall: 'write' });
  expect(exchangeFailure(error, 'the body')).toMatchObject({ source: 'node', code: 'local' });
});

test('a relative location is taken from where the request went', () => {
  const target = targetOf('https://a.example:8443/x/y?z');
  if (typeof target === 'string') throw new Error(target);
  const request = { target, method: 'GET', headers: {}, body: null, sameOrigin: true } as const;
  const next = (location: string) => {
    const redirect = followRedirect(request, 302, location, { sent: 1, isVisited: () => false, limit: 1 });
    return redirect.kind === 'follow' ? urlOf(redirect.next.target) : redirect.kind;
  };
  expect(next('w')).toBe('https://a.example:8443/x/w');
  expect(next('/w')).toBe('https://a.example:8443/w');
  expect(next('?w')).toBe('https://a.example:8443/x/y?w');
  expect(next('//b.example/w')).toBe('https://b.example/w');
  expect(next('http://b.example/w')).toBe('refused');
});
