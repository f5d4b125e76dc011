import { once } from 'node:events';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import { beforeAll, expect, test } from 'vitest';
import { http } from '#checks/http/index.ts';
import { userAgent } from '#kernel/version.ts';
import { issue, issueAuthority, type Issued } from '../../support/certificates.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { checkHttp, inShort } from '../../support/http-check.ts';
import { serveHttp, serveHttp2, serveHttps, serveRaw, type TestServer } from '../../support/http-servers.ts';

let authority: Issued;
let good: Issued;
let tls: { ca: string };

beforeAll(async () => {
  authority = await issueAuthority();
  good = await issue({ names: ['a.example'], ips: ['127.0.0.1'], ca: authority });
  tls = { ca: authority.cert };
});

const at = (server: TestServer, path = '') => `https://a.example:${server.port}${path}`;
const answer = (_: unknown, response: { end(text: string): void }) => response.end('hello');

test('a certificate of a private authority is accepted, and told', async () => {
  await using server = await serveHttps(good, answer);
  const outcome = await checkHttp(at(server), { tls });
  expect(outcome).toMatchObject({
    status: 'up',
    detail: {
      version: '1.1',
      certificate: { subject: 'CN=Test server', issuer: 'CN=Test authority', names: ['a.example', '127.0.0.1'] },
    },
  });
  expect(Object.keys(outcome.phases)).toEqual(['resolve', 'connect', 'tls', 'first_byte', 'transfer']);
  const validTo = Date.parse(outcome.detail?.certificate?.valid_to ?? '');
  expect(outcome.facts.certificate_expires_at).toBe(validTo / 1_000);
  await server.drained();
});

test('an address is verified as an address', async () => {
  await using server = await serveHttps(good, answer);
  expect(inShort(await checkHttp(`https://127.0.0.1:${server.port}`, { tls }))).toBe('up 200');
});

test('the port does not decide about TLS', async () => {
  await using server = await serveHttps(good, answer);
  expect(inShort(await checkHttp(`a.example:${server.port}`))).toMatch(/^down (?:closed|reset)$/);
});

test.each([
  [
    'for another name',
    { names: ['b.example'] },
    true,
    'certificate_name',
    'the certificate is not for a.example but for b.example',
  ],
  [
    'expired',
    { names: ['a.example'], days: [-9, -2] as const },
    true,
    'certificate_expired',
    'the certificate expired on',
  ],
  ['not valid yet', { names: ['a.example'], days: [2, 9] as const }, true, 'certificate_expired', 'not valid before'],
  ['self-signed', { names: ['a.example'] }, false, 'certificate_untrusted', 'self-signed'],
])('a certificate that is %s is down, unless nothing is verified', async (_, wishes, signed, code, words) => {
  const issued = await issue({ ...wishes, ...(signed && { ca: authority }) });
  await using server = await serveHttps(issued, answer);
  const outcome = await checkHttp(at(server), { tls });
  expect(inShort(outcome)).toBe(`down ${code}`);
  expect(outcome).toMatchObject({
    failure: { message: expect.stringContaining(words) },
    facts: { certificate_expires_at: expect.any(Number) },
    detail: { status: null, certificate: { subject: 'CN=Test server' } },
  });
  expect(http.row.toRow(outcome)).toEqual([[0, outcome.seconds, expect.stringContaining(words), null, null]]);
  const lax = await checkHttp(at(server), { tls: { ...tls, verify: false } });
  expect(lax).toMatchObject({ status: 'up', detail: { certificate: { subject: 'CN=Test server' } } });
});

test('without the authority the certificate is untrusted', async () => {
  await using server = await serveHttps(good, answer);
  expect(inShort(await checkHttp(at(server)))).toBe('down certificate_untrusted');
});

test('another name can be asked for and verified', async () => {
  await using server = await serveHttps(good, answer);
  const host = `https://internal.example:${server.port}`;
  expect(inShort(await checkHttp(host, { tls }))).toBe('down certificate_name');
  expect(inShort(await checkHttp(host, { tls: { ...tls, server_name: 'a.example' } }))).toBe('up 200');
});

test('a certificate that ends too soon is down', async () => {
  await using server = await serveHttps(good, answer);
  expect(inShort(await checkHttp(at(server), { tls, expect: { certificate: { valid_for: '14d' } } }))).toBe('up 200');
  const outcome = await checkHttp(at(server), { tls, expect: { certificate: { valid_for: '60d' } } });
  expect(inShort(outcome)).toBe('down certificate_expires_soon');
  expect(outcome.detail).toMatchObject({ status: 200, failed_expectation: 'certificate' });
});

test('a certificate cannot be expected of plain http', async () => {
  await using server = await serveHttp((_, response) => void response.end());
  const outcome = await checkHttp(`a.example:${server.port}`, { expect: { certificate: { valid_for: '1d' } } });
  expect(inShort(outcome)).toBe('down tls');
});

test.each(['TLSv1.2', 'TLSv1.3'] as const)('a client certificate is presented over %s', async (version) => {
  const client = await issue({ names: ['client.example'], ca: authority });
  const options = { ...good, ca: authority.cert, requestCert: true, minVersion: version, maxVersion: version };
  await using server = await serveHttps(options, answer);
  const without = await checkHttp(at(server), { tls });
  expect(without.status === 'up' ? null : without.failure.code).toMatch(/^(?:tls|reset|closed)$/);
  expect(inShort(await checkHttp(at(server), { tls: { ...tls, client } }))).toBe('up 200');
});

test('certificates that cannot be read are a fault of the node, without the key in it', async () => {
  const key = '-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----';
  await using server = await serveHttps(good, answer);
  const outcome = await checkHttp(at(server), { tls: { ...tls, client: { cert: good.cert, key } } });
  expect(inShort(outcome)).toBe('unknown node unsupported');
  expect(JSON.stringify(outcome)).not.toContain('c2VjcmV0');
});

test('plain HTTP where TLS is expected is a TLS fault', async () => {
  await using server = await serveHttp((_, response) => void response.end());
  const outcome = await checkHttp(at(server));
  expect(inShort(outcome)).toBe('down tls');
  expect(outcome.phases).toHaveProperty('tls');
  await server.drained();
});

test('junk where TLS is expected is a TLS fault', async () => {
  await using server = await serveRaw((socket) => void socket.once('data', () => socket.end('\x16\x03\x01junk')));
  expect(inShort(await checkHttp(at(server)))).toBe('down tls');
});

test('a server that hangs up in the handshake is a TLS fault', async () => {
  await using server = await serveRaw((socket) => void socket.once('data', () => socket.end()));
  expect(inShort(await checkHttp(at(server)))).toBe('down tls');
});

test('silence in the handshake is a timeout that says so', async () => {
  await using server = await serveRaw(() => {});
  const clock = new FakeClock();
  const connected = server.connection();
  const checked = checkHttp(at(server), { timeout: '2s' }, { clock });
  await once(await connected, 'data');
  await clock.advance(2_000);
  expect(await checked).toMatchObject({
    failure: { code: 'timeout', message: 'timeout after 2s while waiting for the TLS handshake' },
  });
  await server.drained();
});

interface Asked {
  readonly version: string;
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

async function serveEcho(asked: Asked[]): Promise<TestServer> {
  return serveHttp2(good, (request: Http2ServerRequest, response: Http2ServerResponse) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      const { httpVersion: version, method, url, headers } = request;
      asked.push({ version, method, url, headers, body });
      response.writeHead(url === '/missing' ? 404 : 200, { server: 'test' });
      response.end('hello');
    });
  });
}

test('HTTP/2 is spoken where the server wants it', async () => {
  const asked: Asked[] = [];
  await using server = await serveEcho(asked);
  const outcome = await checkHttp(at(server, '/a?b'), {
    tls,
    method: 'POST',
    headers: { Host: 'virtual.example', 'X-One': '1' },
    body: 'data',
    expect: { body: { contains: 'hello' } },
  });
  expect(outcome).toMatchObject({
    status: 'up',
    detail: { status: 200, reason: 'OK', version: '2', body_bytes: 5, headers: { server: 'test' } },
  });
  expect(Object.keys(outcome.phases)).toEqual(['resolve', 'connect', 'tls', 'first_byte', 'transfer']);
  expect(asked).toMatchObject([
    {
      version: '2.0',
      method: 'POST',
      url: '/a?b',
      headers: { ':authority': 'virtual.example', 'x-one': '1', 'user-agent': userAgent },
      body: 'data',
    },
  ]);
  await server.drained();
});

test('HTTP/2 without a body, with a bad status, and with HEAD', async () => {
  await using server = await serveEcho([]);
  const missing = await checkHttp(at(server, '/missing'), { tls });
  expect(missing).toMatchObject({ failure: { message: '404 Not Found' }, detail: { version: '2' } });
  expect(inShort(await checkHttp(at(server), { tls, method: 'HEAD' }))).toBe('up 200');
});

test('a POST without a body says over HTTP/2 too that its length is 0', async () => {
  const lengths: (string | undefined)[] = [];
  await using server = await serveHttp2(good, (request: Http2ServerRequest, response: Http2ServerResponse) => {
    lengths.push(request.headers['content-length']);
    response.end();
  });
  for (const method of ['POST', 'GET'] as const)
    expect(await checkHttp(at(server), { tls, method })).toMatchObject({ status: 'up', detail: { version: '2' } });
  expect(lengths).toEqual(['0', undefined]);
});

test('HTTP/2 is left alone where it is not wanted', async () => {
  const asked: Asked[] = [];
  await using server = await serveEcho(asked);
  const outcome = await checkHttp(at(server), { tls, http2: 'never' });
  expect(outcome).toMatchObject({ status: 'up', detail: { version: '1.1' } });
  expect(asked).toMatchObject([{ version: '1.1' }]);
});

test.each([
  [
    'one large header',
    'too_large',
    (response: Http2ServerResponse) => response.writeHead(200, { a: 'x'.repeat(30_000) }).end(),
  ],
  [
    'many headers',
    'too_large',
    (response: Http2ServerResponse) =>
      response.writeHead(200, Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`x-${n}`, 'x']))).end(),
  ],
  ['stream is reset before an answer', 'protocol', (response: Http2ServerResponse) => response.stream.close(2)],
  ['session is cut before an answer', 'closed', (response: Http2ServerResponse) => response.stream.session?.destroy()],
  [
    'stream is reset in the body',
    'protocol',
    (response: Http2ServerResponse) => response.write('x', () => response.stream.close(2)),
  ],
  [
    'connection is cut in the body',
    'closed',
    (response: Http2ServerResponse) => response.write('x', () => response.stream.session?.destroy()),
  ],
] as const)('HTTP/2: %s', async (_, code, act) => {
  await using server = await serveHttp2(good, (_request: Http2ServerRequest, response: Http2ServerResponse) => {
    act(response);
  });
  expect(inShort(await checkHttp(at(server), { tls }))).toBe(`down ${code}`);
  await server.drained();
});

test('HTTP/2: an endless body is read up to the cap', async () => {
  await using server = await serveHttp2(good, (_request: Http2ServerRequest, response: Http2ServerResponse) => {
    const more = () => {
      while (!response.stream.destroyed && response.write('x'.repeat(10_000)));
    };
    response.on('drain', more);
    more();
  });
  const outcome = await checkHttp(at(server), { tls, max_body: '64KiB' });
  expect(outcome).toMatchObject({ status: 'up', detail: { body_bytes: 65_536, body_complete: false } });
  await server.drained();
});

test('over HTTP/2 too one of several equal headers can be expected', async () => {
  const made = await issue({ names: ['a.example'] });
  await using server = await serveHttp2(made, (_, response) => {
    response.setHeader('x-part', ['one', 'two']);
    response.end('x');
  });
  const expected = { tls: { verify: false }, expect: { headers: { 'x-part': 'two' } } };
  const outcome = await checkHttp(at(server), expected);
  expect(outcome).toMatchObject({ status: 'up', detail: { version: '2' } });
});
