import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bounded } from '#checks/evidence/bounds.ts';
import { EvidenceDocument } from '#checks/evidence/detail.ts';
import { createRedaction, printable } from '#checks/evidence/redaction.ts';
import { checkOf, CheckSpec } from '#checks/index.ts';

const nothing: EvidenceDocument = {
  path: null,
  names: null,
  tls: null,
  response: null,
  received: null,
  uplink: null,
  missing: [],
};

const plain = createRedaction([], []);

describe('what looks like a secret is redacted', () => {
  test.each([
    ['a token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl here', 'a token *** here'],
    ['authorization: Bearer abc.def-123', 'authorization: Bearer ***'],
    ['{"password": "hunter2", "user": "ann"}', '{"password": "***", "user": "ann"}'],
    [String.raw`{\"api_key\":\"k-1\"}`, String.raw`{\"api_key\":\"***\"}`],
    ['?access_token=abc&page=2', '?access_token=***&page=2'],
    ['mail ann.smith@example.com', 'mail ***@example.com'],
    ['postgres://ann:hunter2@db.example/shop', 'postgres://***@db.example/shop'],
    ['key ghp_abcdefghijklmnop1234', 'key ***'],
    ['id AKIAABCDEFGHIJKLMNOP', 'id ***'],
    ['-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----\nrest', '***\nrest'],
    ['220 mail.example.com ready', '220 mail.example.com ready'],
    ['the password is wrong', 'the password is wrong'],
  ])('%s', (written, expected) => {
    expect(plain.text(written)).toBe(expected);
  });

  test('in headers by their names', () => {
    expect(plain.header('Set-Cookie', 'sid=1234; Path=/')).toBe('sid=***');
    expect(plain.header('X-Api-Key', '1')).toBe('***');
    expect(plain.header('WWW-Authenticate', 'Basic realm="shop"')).toBe('Basic realm="shop"');
    expect(plain.header('Server', 'nginx')).toBe('nginx');
  });

  test('by patterns of the configuration', () => {
    const redaction = createRedaction([], ['order-[0-9]+', String.raw`\$x`]);
    expect(redaction.text('order-123 and order-9, $x')).toBe('*** and ***, ***');
  });
});

test('a secret that is cut off at the end of an excerpt is redacted', () => {
  const redaction = createRedaction(['correct horse'], []);
  expect(redaction.text('it is correct ho', true)).toBe('it is ***');
  expect(redaction.text('it is correct ho')).toBe('it is correct ho');
  expect(redaction.text('it is correct ho…')).toBe('it is ***…');
});

test('a secret that came to be known meanwhile is redacted, beside those before', () => {
  const redaction = createRedaction(['before-1'], []);
  redaction.add('later-1');
  redaction.add('later-2');
  expect(redaction.text('before-1 later-1 later-2')).toBe('*** *** ***');
});

test('of a request with very many parts no text is shown', () => {
  const redaction = createRedaction(
    Array.from({ length: 201 }, (_, index) => `part-${index}`),
    [],
  );
  expect(redaction.text('hello')).toBe('***');
});

const secret = fc
  .string({ minLength: 8, maxLength: 40, unit: fc.constantFrom('a', 'b', 'X', 'Y', '0', '9', '-', '_', '.', '~') })
  .map((text) => `s3-${text}`);

/** Specs with a secret in each place that can have one. */
const specsWith = (text: string): readonly object[] => [
  { type: 'http', host: 'https://a.example/', headers: { 'x-custom': text } },
  { type: 'http', host: 'https://a.example/', headers: { authorization: `Bearer ${text}` } },
  { type: 'http', host: 'https://a.example/', bearer: text.replaceAll(/[^\w.~+/-]/g, '') },
  { type: 'http', host: 'https://a.example/', basic_auth: { username: 'ann', password: text } },
  { type: 'http', host: 'https://a.example/', method: 'POST', body: JSON.stringify({ user: { pin: text } }) },
  { type: 'http', host: 'https://a.example/', method: 'POST', body: `pin=${encodeURIComponent(text)}&x=1` },
  { type: 'http', host: `https://a.example/?token=${encodeURIComponent(text)}` },
  {
    type: 'http',
    host: 'https://a.example/',
    oauth2: { token_url: 'https://b.example/', client_id: 'ann', client_secret: text },
  },
  {
    type: 'http',
    host: 'https://a.example/',
    proxy: { url: 'http://b.example:3128', username: 'ann', password: text },
  },
  { type: 'websocket', host: 'wss://a.example/', headers: { 'x-custom': text } },
  { type: 'websocket', host: 'wss://a.example/', send: `login ${text}` },
  { type: 'tcp', host: 'a.example:6379', send: `AUTH ${text}\\r\\n`, expect: 'OK' },
  { type: 'tcp', host: 'a.example:25', steps: [{ expect: '220' }, { send: `LOGIN ann ${text}\\r\\n` }] },
  { type: 'udp', host: 'a.example:9', send: { text: `community=${text}` } },
];

/** A document in which a target echoes a text in every way that it can. */
function echo(text: string, redaction: ReturnType<typeof createRedaction>): EvidenceDocument {
  const json = JSON.stringify({ echo: text });
  return {
    ...nothing,
    response: {
      status: redaction.text(`500 ${text}`),
      headers: [['x-echo', redaction.header('x-echo', text)]],
      body: redaction.text(
        printable(Buffer.from(`${json} ${encodeURIComponent(text)} ${Buffer.from(text).toString('base64')}`)),
      ),
      bodyBytes: 1,
      redirects: [`https://a.example/?q=${encodeURIComponent(text)}`],
      failure: `unexpected: ${text}`.slice(0, 200),
    },
    received: { bytes: 1, text: text, closed: false, failure: text },
    names: {
      resolver: null,
      answers: [text],
      failure: null,
      rcode: null,
      delegation: [
        { zone: text, servers: [{ name: text, address: null, answer: [text], failure: text, authoritative: false }] },
      ],
    },
    tls: {
      address: null,
      protocol: null,
      chain: [
        {
          subject: text,
          issuer: text,
          notBefore: '2026-01-01T00:00:00Z',
          notAfter: '2026-01-01T00:00:00Z',
          names: [text],
        },
      ],
      alert: text,
      failure: text,
      versions: [],
    },
    uplink: { gateway: null, resolver: null, references: [{ name: text, reached: true }] },
    missing: [{ part: 'path', reason: text }],
  };
}

test('no secret of a spec is anywhere in a document, however a target echoes it', () => {
  fc.assert(
    fc.property(secret, (text) => {
      for (const given of specsWith(text)) {
        const spec = CheckSpec.parse(given);
        const plan = checkOf(spec.type).evidence(spec);
        const redaction = createRedaction(plan?.secrets ?? [], []);
        const bearer = 'bearer' in given ? String(given.bearer) : text;
        const written = JSON.stringify(bounded(echo(bearer, redaction), redaction));
        for (const spelled of [bearer, encodeURIComponent(bearer), Buffer.from(bearer).toString('base64')]) {
          expect({ given, written: written.includes(spelled) }).toEqual({ given, written: false });
        }
      }
    }),
    { numRuns: 50 },
  );
});

test('a document is at most 60 KiB: what is left out is named', () => {
  const answer = Array.from({ length: 20 }, () => 'x'.repeat(300));
  const server = { name: 'a', address: null, answer, failure: null, authoritative: true };
  const servers = Array.from({ length: 13 }, () => server);
  const names = {
    resolver: null,
    answers: [],
    failure: null,
    rcode: null,
    delegation: [{ zone: 'example', servers }],
  };
  const received = { bytes: 2, text: 'hi', closed: false, failure: null };
  const document = bounded({ ...nothing, names, received }, plain);
  expect(document).toMatchObject({ names: null, received });
  expect(document.missing).toEqual([{ part: 'names', reason: 'left out: the document would be larger than 60 KiB' }]);
  expect(bounded({ ...nothing, received }, plain)).toEqual({ ...nothing, received });
});

test('redaction keeps a document within its limits, whatever it replaces', () => {
  const redaction = createRedaction([], ['.']);
  const [long, longest] = ['x'.repeat(64), 'x'.repeat(200)];
  const document: EvidenceDocument = {
    ...nothing,
    path: {
      protocol: 'udp',
      port: 1,
      address: long,
      family: 4,
      hops: [{ hop: 1, probes: [{ address: long, seconds: 0, kind: 'reply' }], as: { number: 1, name: longest } }],
      end: 'reached',
      mtu: 1,
      large: { result: 'passed', last_hop: 1 },
    },
    tls: {
      address: long,
      protocol: 'TLSv1.3',
      chain: [],
      alert: 'x'.repeat(100),
      failure: longest,
      versions: [{ version: 'TLS 1.3', accepted: true, failure: longest }],
    },
    response: {
      status: 'x'.repeat(300),
      headers: [['x'.repeat(100), 'x'.repeat(300)]],
      body: 'x'.repeat(4_096),
      bodyBytes: 1,
      redirects: ['x'.repeat(2_100)],
      failure: longest,
    },
    missing: [{ part: 'names', reason: longest }],
  };
  expect(EvidenceDocument.parse(document)).toEqual(document);
  expect(EvidenceDocument.safeParse(bounded(document, redaction)).error).toBeUndefined();
});
