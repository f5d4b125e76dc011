import { expect, test } from 'vitest';
import { http } from '#checks/http/index.ts';
import { issue, issueAuthority } from '../../support/certificates.ts';
import { checkHttp, forbidden, inShort, loopbackGate } from '../../support/http-check.ts';
import { serveHttp, serveHttps, type TestServer } from '../../support/http-servers.ts';

interface Asked {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

interface Redirector extends AsyncDisposable {
  readonly server: TestServer;
  readonly asked: readonly Asked[];
}

/** Answers each path with a redirect to where the map leads, and all others with 200. */
async function serveRedirects(
  to: Readonly<Record<string, readonly [status: number, location?: string]>>,
): Promise<Redirector> {
  const asked: Asked[] = [];
  const server = await serveHttp((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      asked.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, body });
      const [status, location] = to[request.url ?? ''] ?? [200];
      response.writeHead(status, location === undefined ? {} : { location }).end('moved '.repeat(20_000));
    });
  });
  return { server, asked, [Symbol.asyncDispose]: async () => server[Symbol.asyncDispose]() };
}

const at = ({ server }: Redirector, path: string) => `http://a.example:${server.port}${path}`;

test('no redirect is followed unless asked', async () => {
  await using one = await serveRedirects({ '/': [302, '/next'] });
  const outcome = await checkHttp(at(one, '/'));
  expect(outcome).toMatchObject({ status: 'up', detail: { status: 302, headers: { location: '/next' }, hops: [] } });
  expect(one.asked).toHaveLength(1);
});

test('redirects are followed to the last answer, and the way is told', async () => {
  await using one = await serveRedirects({ '/': [301, '/b'], '/b': [308, 'c?d=1#e'] });
  const outcome = await checkHttp(at(one, '/'), { redirects: 5 });
  expect(outcome).toMatchObject({
    status: 'up',
    detail: {
      status: 200,
      hops: [
        { url: at(one, '/'), status: 301 },
        { url: at(one, '/b'), status: 308 },
      ],
    },
  });
  expect(one.asked.map(({ url }) => url)).toEqual(['/', '/b', '/c?d=1']);
  expect(outcome.phases.resolve).toBe(0.003);
  await one.server.drained();
});

test.each([
  ['more than allowed', { '/': [302, '/b'], '/b': [302, '/c'] } as const, 1, 'more than 1 redirects'],
  ['a loop of two', { '/': [302, '/b'], '/b': [302, '/'] } as const, 5, 'redirect loop: back to http://a.example:'],
  ['itself', { '/': [302, '/'] } as const, 5, 'redirect loop: back to http://a.example:'],
  ['another scheme', { '/': [302, 'ftp://a.example/'] } as const, 5, 'has the scheme "ftp"'],
  ['a script', { '/': [302, 'javascript:alert(1)'] } as const, 5, 'redirect to javascript:alert(1)'],
  ['credentials', { '/': [302, 'http://user:pass@a.example/'] } as const, 5, 'a URL with a user name or password'],
  ['no URL', { '/': [302, 'http://:99999/'] } as const, 5, 'redirect to an invalid URL: http://:99999/'],
])('a redirect to %s is down', async (_, map, redirects, message) => {
  await using one = await serveRedirects(map);
  const outcome = await checkHttp(at(one, '/'), { redirects });
  expect(inShort(outcome)).toBe('down redirect');
  expect(outcome).toMatchObject({ failure: { message: expect.stringContaining(message) }, detail: { status: 302 } });
  expect(http.row.toRow(outcome)).toMatchObject([[0, outcome.seconds, expect.any(String), '302', '127.0.0.1']]);
});

test.each([
  ['300', [300, '/b']],
  ['304', [304, '/b']],
  ['302 without a location', [302]],
] as const)('%s is a last answer', async (_, answer) => {
  await using one = await serveRedirects({ '/': answer });
  expect(inShort(await checkHttp(at(one, '/'), { redirects: 5 }))).toBe(`up ${answer[0]}`);
});

test('each hop goes through the gate: a redirect to a private address is refused', async () => {
  await using one = await serveRedirects({ '/': [302, 'http://internal.example/admin'] });
  const gate = loopbackGate({ 'internal.example': forbidden });
  const outcome = await checkHttp(at(one, '/'), { redirects: 1 }, { gate });
  expect(inShort(outcome)).toBe('unknown node forbidden');
  expect(outcome).toMatchObject({
    failure: { message: 'redirect to internal.example: 10.0.0.1 is a private address' },
    detail: { status: null, hops: [{ url: at(one, '/'), status: 302 }] },
  });
});

test.each(['http://0x7f.1/', 'http://2130706433/', 'http://①②⑦.0.0.1/', 'http://[::ffff:127.0.0.1]/'])(
  'the gate judges the address that %s means',
  async (location) => {
    await using one = await serveRedirects({ '/': [302, location.replaceAll(/[^!-~]/g, encodeURIComponent)] });
    const gate = loopbackGate({ '127.0.0.1': forbidden, '::ffff:7f00:1': forbidden });
    expect(inShort(await checkHttp(at(one, '/'), { redirects: 1 }, { gate }))).toBe('unknown node forbidden');
  },
);

const bytes = (text: string, encoding: BufferEncoding = 'utf8') => Buffer.from(text, encoding).toString('latin1');

test.each([
  [
    'as long as those of single sign-on',
    `/sso?SAMLRequest=${'a'.repeat(6_000)}`,
    `/sso?SAMLRequest=${'a'.repeat(6_000)}`,
  ],
  ['with a backslash in its query', String.raw`/b?path=C:\x`, String.raw`/b?path=C:\x`],
  ['with an empty query', '/b?', '/b?'],
  ['in UTF-8 without escapes', bytes('/grüße?q=né'), '/gr%C3%BC%C3%9Fe?q=n%C3%A9'],
  ['in Latin-1 without escapes', bytes('/grüße', 'latin1'), '/gr%FC%DFe'],
])('a redirect to an address %s is followed', async (_, location, url) => {
  await using one = await serveRedirects({ '/': [302, location] });
  expect(inShort(await checkHttp(at(one, '/'), { redirects: 1 }))).toBe('up 200');
  expect(one.asked.map((asked) => asked.url)).toEqual(['/', url]);
});

test('a redirect to a host in UTF-8 without escapes goes to its name', async () => {
  await using one = await serveRedirects({ '/': [302, bytes('http://bücher.example/')] });
  const gate = loopbackGate({ 'xn--bcher-kva.example': forbidden });
  expect(inShort(await checkHttp(at(one, '/'), { redirects: 1 }, { gate }))).toBe('unknown node forbidden');
});

test.each([
  [301, 'POST', 'GET', ''],
  [302, 'POST', 'GET', ''],
  [303, 'PUT', 'GET', ''],
  [303, 'HEAD', 'HEAD', ''],
  [302, 'PUT', 'PUT', 'data'],
  [307, 'POST', 'POST', 'data'],
  [308, 'PATCH', 'PATCH', 'data'],
] as const)('%i to a %s becomes a %s', async (status, method, next, body) => {
  await using one = await serveRedirects({ '/': [status, '/b'] });
  const headers = { 'content-type': 'text/x', 'x-one': '1' };
  await checkHttp(at(one, '/'), { redirects: 1, method, headers, ...(method !== 'HEAD' && { body: 'data' }) });
  expect(one.asked[1]).toMatchObject({ method: next, url: '/b', body, headers: { 'x-one': '1' } });
  expect('content-type' in (one.asked[1]?.headers ?? {})).toBe(next !== 'GET');
});

test('secrets stay with their origin', async () => {
  await using other = await serveRedirects({ '/b': [302, '/c'] });
  await using one = await serveRedirects({ '/': [302, '/a'], '/a': [302, `http://b.example:${other.server.port}/b`] });
  const headers = { Cookie: 'a=1', 'X-Api-Key': 'k', 'X-Plain': 'p', Host: 'virtual.example' };
  await checkHttp(at(one, '/'), { redirects: 5, bearer: 'token', headers });
  const secrets = { authorization: 'Bearer token', cookie: 'a=1', 'x-api-key': 'k', host: 'virtual.example' };
  expect(one.asked.map((asked) => asked.headers)).toEqual([
    expect.objectContaining(secrets),
    expect.objectContaining(secrets),
  ]);
  expect(other.asked).toHaveLength(2);
  for (const { headers } of other.asked) {
    expect(headers).toMatchObject({ 'x-plain': 'p', host: `b.example:${other.server.port}` });
    expect(Object.keys(headers)).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/authorization|cookie|x-api-key/)]),
    );
  }
});

test('from http to https is a redirect like any other, back is refused', async () => {
  const authority = await issueAuthority();
  const certificate = await issue({ names: ['b.example'], ca: authority });
  await using plain = await serveRedirects({});
  await using secure = await serveHttps(certificate, (request, response) => {
    const location = at(plain, '/c');
    response.writeHead(request.url === '/down' ? 302 : 200, { location }).end();
  });
  await using one = await serveRedirects({
    '/up': [302, `https://b.example:${secure.port}/`],
    '/down': [302, `https://b.example:${secure.port}/down`],
  });
  const tls = { ca: authority.cert };
  expect(inShort(await checkHttp(at(one, '/up'), { redirects: 2, tls }))).toBe('up 200');
  const outcome = await checkHttp(at(one, '/down'), { redirects: 2, tls });
  expect(outcome).toMatchObject({
    failure: { code: 'redirect', message: `redirect from https to ${at(plain, '/c')}` },
  });
  expect(plain.asked).toHaveLength(0);
});
