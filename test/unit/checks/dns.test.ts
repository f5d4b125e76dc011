import { readFileSync } from 'node:fs';
import { isIP, isIPv4, isIPv6 } from 'node:net';
import { decode } from 'dns-packet';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { checkOf } from '#checks/index.ts';
import { outcomeOf } from '#checks/outcome-schemas.ts';
import { Detail } from '#checks/dns/detail.ts';
import { mismatch } from '#checks/dns/expectation.ts';
import { fromRow, toRow } from '#checks/dns/row.ts';
import { frameFault } from '#checks/dns/frame.ts';
import { encodeQuery, readMessage } from '#checks/dns/message.ts';
import { Spec } from '#checks/dns/spec.ts';
import { askedName } from '#checks/dns/question.ts';
import { a, answerTo } from '../../support/name-server.ts';

const Outcome = outcomeOf(Detail);
const question = { name: 'www.example.com', type: 'A' } as const;
const query = encodeQuery(question, { id: 7, recursion: true, edns: true });

test('arbitrary bytes are never more than a stranger or malformed, and never throw', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 600 }), (bytes) => {
      const forged = Buffer.concat([Buffer.from([0, 7, 0x80]), bytes]);
      expect(['stranger', 'malformed', 'message']).toContain(readMessage(forged, question, 7).kind);
      expect(readMessage(Buffer.from(bytes), question, 7).kind).not.toBe('message');
    }),
  );
});

test('an answer with any bytes changed never throws', () => {
  const answer = answerTo(decode(query), [a('www.example.com', '192.0.2.1'), a('www.example.com', '192.0.2.2')]);
  const change = fc.tuple(fc.nat(answer.length - 1), fc.nat(255));
  fc.assert(
    fc.property(fc.array(change, { maxLength: 6 }), (changes) => {
      const changed = Buffer.from(answer);
      for (const [index, byte] of changes) changed[index] = byte;
      readMessage(changed, question, 7);
    }),
  );
});

test('a message made to keep the decoder busy is refused fast', () => {
  const header = Buffer.from([0, 7, 0x80, 0, 0, 0, 0xff, 0xff, 0, 0, 0, 0]);
  expect(frameFault(Buffer.concat([header, Buffer.alloc(60_000, 0xc0)]))).toBe('too many records');
  header.writeUInt16BE(400, 6);
  const chain = Buffer.alloc(16_000);
  for (let offset = 0; offset < chain.length; offset += 2) chain.writeUInt16BE(0xc000 | (offset + 14), offset);
  expect(frameFault(Buffer.concat([header, chain]))).toContain('name never ends');
});

test('text in an answer is made safe', () => {
  const answer = answerTo(decode(query), [
    { type: 'CNAME', name: 'www.example.com', data: 'a\u0007b\u202e.example', ttl: 1 },
  ]);
  expect(readMessage(answer, question, 7)).toMatchObject({ message: { records: [{ data: 'a b .example' }] } });
});

test('a time to live with its topmost bit set counts as zero', () => {
  const answer = answerTo(decode(query), [a('www.example.com', '192.0.2.1', 2 ** 31)]);
  expect(readMessage(answer, question, 7)).toMatchObject({ message: { records: [{ ttl: 0 }] } });
});

test.each([
  ['192.0.2.1', '1.2.0.192.in-addr.arpa'],
  ['www.example.com', 'www.example.com'],
])('the name asked for %s is %s', (host, name) => expect(askedName(host)).toBe(name));

test.each([
  { written: { host: 'https://WWW.Example.COM:8443/path' }, host: 'www.example.com' },
  { written: { host: 'example.com.' }, host: 'example.com' },
  { written: { host: '_dmarc.example.com', record: 'TXT' }, host: '_dmarc.example.com' },
  { written: { host: '[2001:db8::1]:53' }, host: '2001:db8::1' },
  { written: { host: 'example.com', resolver: 'ns1.example.com:53', protocol: 'tcp' }, host: 'example.com' },
  { written: { host: 'example.com', expect: { A: '192.0.2.1', rcode: 'NOERROR' } }, host: 'example.com' },
])('$written is recorded as $host, and reads the same again', ({ written, host }) => {
  const spec = Spec.parse({ type: 'dns', ...written });
  expect(spec.host).toBe(host);
  expect(Spec.parse(JSON.parse(JSON.stringify(z.encode(Spec, spec))))).toEqual(spec);
  expect(checkOf('dns').deadlineMs(spec)).toBeGreaterThanOrEqual(spec.timeout);
  expect(checkOf('dns').port(spec)).toBeNull();
});

test.each([
  { options: { expect: { MX: ['10 mail'] } }, message: 'MX records are not asked for: add "record: MX"' },
  { options: { record: 'A', expect: { AAAA: [] } }, message: 'AAAA records are not asked for: add "record: AAAA"' },
  { options: { host: '192.0.2.1', record: 'MX' }, message: 'an address has PTR records only' },
  { options: { resolver: 'a b' }, message: 'must not contain spaces, control characters or backslashes' },
])('$options is refused: $message', ({ options, message }) => {
  const result = Spec.safeParse({ type: 'dns', host: 'example.com', ...options });
  expect(result.error?.issues.map((issue) => issue.message)).toContain(message);
});

const texts = (value: fc.Arbitrary<string>) => fc.array(value, { maxLength: 5 });
const rows = fc.record(
  {
    A: texts(fc.ipV4()),
    AAAA: texts(fc.ipV6()),
    TTL: fc.option(fc.nat(86_400)),
    PTR: texts(fc.domain()),
  },
  { requiredKeys: ['A', 'AAAA', 'TTL'] },
);

test('a row gives an outcome that gives the same row and the same outcome again', () => {
  fc.assert(
    fc.property(rows, (row) => {
      const outcome = Outcome.parse(fromRow([row]));
      const again = toRow(outcome);
      expect(toRow(Outcome.parse(fromRow(again)))).toEqual(again);
      expect(outcome.status).toBe([row.A, row.AAAA, row.PTR ?? []].some((list) => list.length > 0) ? 'up' : 'down');
    }),
  );
});

test.each([
  [[{ A: ['192.0.2.1'], AAAA: ['2001:db8::1'], TTL: 60 }]],
  [[{ A: [], AAAA: [], TTL: null }]],
  [[{ A: [], AAAA: [], TTL: 5, PTR: ['host.example.com'] }]],
  [[{ A: [], AAAA: [], TTL: null, PTR: [] }]],
  [[{ A: [], AAAA: [], TTL: 5, MX: ['10 mail.example.com'] }]],
  [[{ A: [], AAAA: [], TTL: 5, CNAME: ['edge.example.net'] }]],
])('the row %j comes back as it was', (row) => {
  const outcome = fromRow(row);
  expect(outcome === null ? null : toRow(outcome)).toEqual(row);
});

test.each([
  [null],
  [[]],
  [[null]],
  [[{}]],
  [[{ error: 'no' }]],
  [[{ A: 'x', AAAA: [], TTL: 1 }]],
  [[{ A: [], AAAA: [], TTL: 'x' }]],
  ['x'],
])('the row %j cannot be read', (row) => expect(fromRow(row)).toBeNull());

test('any value can be offered as a row', () => {
  fc.assert(
    fc.property(fc.anything(), (row) => {
      for (const offered of [row, [row], [{ A: row, AAAA: [], TTL: row }]]) {
        const outcome = fromRow(offered);
        if (outcome !== null) Outcome.parse(outcome);
      }
    }),
  );
});

const Page = z.looseObject({ results: z.array(z.looseObject({ result: z.array(z.string()) })) });
const samples = z
  .array(z.looseObject({ check: z.string(), sample: z.unknown() }))
  .parse(JSON.parse(readFileSync(new URL('../../fixtures/samples.json', import.meta.url), 'utf8')));

test('what a captured report page shows is no row, and its addresses are read from rows that have them', () => {
  const pages = samples.filter(({ check }) => check === 'check-dns').map(({ sample }) => Page.parse(sample));
  const results = pages.flatMap((page) => page.results);
  expect(results.length).toBeGreaterThan(40);
  for (const shown of results) {
    expect(fromRow([shown])).toBeNull();
    expect(fromRow(shown.result)).toBeNull();
    const addresses = shown.result.filter((text) => isIP(text) !== 0);
    const row = [
      { A: addresses.filter(isIPv4), AAAA: addresses.filter(isIPv6), TTL: addresses.length > 0 ? 73 : null },
    ];
    expect(toRow(Outcome.parse(fromRow(row)))).toEqual(row);
  }
});

test.each([
  ['0 issue "ca.example"', '0 issue ca.example', true],
  ['0 ISSUE "ca.example"', '0 issue ca.example', true],
  ['0 issue ca.example', '0 issue ca.example', true],
  ['0 iodef "mailto:a@b.example"', '0 iodef mailto:a@b.example', true],
  ['0 issue "ca.example"', '0 issue CA.example', false],
  ['128 issue "ca.example"', '0 issue ca.example', false],
])('a CAA record expected as %s: %s fits: %s', (expected, data, fits) => {
  const found = mismatch({ match: 'exact', CAA: [expected] }, [{ type: 'CAA', data }]);
  expect(found === null).toBe(fits);
});

test.each([
  { type: 'DS', written: '60485 5 1 2BB1 83AF', told: '60485 5 1 2bb183af' },
  { type: 'DNSKEY', written: '257 3 13 mdss wUyr', told: '257 3 13 mdsswUyr' },
  {
    type: 'HTTPS',
    written: '1 WWW.example.com. port=8443 alpn="h2,h3"',
    told: '1 www.example.com alpn=h2,h3 port=8443',
  },
  { type: 'NAPTR', written: '100 50 "s" "SIP" "" sip.example.com.', told: '100 50 "s" "SIP" "" sip.example.com' },
] as const)('$type data may be written as $written', ({ type, written, told }) => {
  expect(mismatch({ match: 'exact', [type]: [written] }, [{ type, data: told }])).toBeNull();
});

test('keys differ by the case of their letters', () => {
  const told = [{ type: 'DNSKEY', data: '257 3 13 mdsswUyr' }];
  expect(mismatch({ match: 'exact', DNSKEY: ['257 3 13 MDSSWUYR'] }, told)).toMatchObject({ code: 'answer' });
});
