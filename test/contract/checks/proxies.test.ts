import { connect } from 'node:net';
import { expect, test } from 'vitest';
import type { z } from 'zod';
import { tcp } from '#checks/tcp/index.ts';
import { start as startProber } from '#checks/tcp/probe.ts';
import { outcomeOf } from '#checks/outcome-schemas.ts';
import { systemClock } from '#kernel/clock.ts';
import { issue, issueAuthority } from '../../support/certificates.ts';
import { checkHttp, forbidden, inShort, loopbackGate } from '../../support/http-check.ts';
import { serveHttp, serveHttps, serveText } from '../../support/http-servers.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { socksServer } from '../../support/socks-server.ts';
import { closedPort, tcpServer, tlsServer } from '../../support/tcp-servers.ts';

const authority = await issueAuthority();
const certificate = await issue({ names: ['shop.example'], ca: authority });
const proxyCertificate = await issue({ names: ['proxy.example'], ca: authority });
const tls = { ca: authority.cert };
const unresolvable = loopbackGate({ 'shop.example': forbidden });
const credentials = { username: 'wp', password: 'geheim' };

async function checkTcp(options: Omit<z.input<typeof tcp.Spec>, 'type'>, gate = loopbackGate()) {
  const prober = await startProber({ clock: systemClock, random: seededRandom(), localAddress: {} });
  try {
    const spec = tcp.Spec.parse({ type: 'tcp', timeout: '2s', ...options });
    return outcomeOf(tcp.Detail).parse(await prober.probe(spec, { gate, signal: new AbortController().signal }));
  } finally {
    await prober.close();
  }
}

test('with socks5h the proxy resolves the name, with socks5 the node does: http, https, tcp', async () => {
  await using plain = await serveHttp((request, response) => void response.end(request.url));
  await using secure = await serveHttps(certificate, (request, response) => void response.end(request.url));
  await using mail = await tcpServer((socket) => void socket.write('220 mail\r\n'));
  for (const [scheme, asked, gate] of [
    ['socks5h', 'shop.example', unresolvable],
    ['socks5', '127.0.0.1', loopbackGate()],
  ] as const) {
    await using proxy = await socksServer({ credentials });
    const through = { proxy: { url: `${scheme}://${proxy.host}`, ...credentials } };
    const one = await checkHttp(
      `http://shop.example:${plain.port}/a`,
      { ...through, expect: { body: { contains: '/a' } } },
      { gate },
    );
    expect(one).toMatchObject({ status: 'up', detail: { status: 200 } });
    expect(one.phases.proxy).toBeGreaterThanOrEqual(0);
    expect(one.seconds).toBeGreaterThan(0);
    const two = await checkHttp(`https://shop.example:${secure.port}/b`, { ...through, tls }, { gate });
    expect(two).toMatchObject({ status: 'up', detail: { status: 200, certificate: { names: ['shop.example'] } } });
    const three = await checkTcp({ host: `shop.example:${mail.port}`, ...through, expect: '220 mail' }, gate);
    expect(three).toMatchObject({ status: 'up', detail: { answer: '220 mail' } });
    expect(three.phases).toHaveProperty('proxy');
    expect(proxy.asked).toEqual([asked, asked, asked]);
  }
});

test('TLS to a target behind SOCKS, which speaks it at once or after a command', async () => {
  await using target = await tlsServer(certificate, (socket) => void socket.write('hello\r\n'));
  await using proxy = await socksServer();
  const options = { host: `shop.example:${target.port}`, proxy: { url: `socks5h://${proxy.host}` } };
  expect(await checkTcp({ ...options, tls, expect: 'hello' })).toMatchObject({
    status: 'up',
    detail: { tls: { certificate: { names: ['shop.example'] } } },
  });
});

test.each([
  [1, 'unknown', 'third_party', 'status', /the proxy 127.0.0.1:\d+: it refuses \(general failure\)/],
  [2, 'unknown', 'third_party', 'status', /its rules do not allow the connection/],
  [3, 'down', 'target', 'unreachable', /the proxy could not connect to shop.example: network unreachable/],
  [4, 'down', 'target', 'unreachable', /host unreachable/],
  [5, 'down', 'target', 'refused', /connection refused/],
  [6, 'down', 'target', 'unreachable', /TTL expired/],
  [99, 'unknown', 'third_party', 'status', /reply 99/],
])('reply %i of a SOCKS proxy is %s', async (reply, status, source, code, message) => {
  await using proxy = await socksServer({ reply });
  const options = { proxy: { url: `socks5h://${proxy.host}` } };
  const expected = { status, failure: { source, code, message: expect.stringMatching(message) } };
  expect(await checkHttp('http://shop.example/', options)).toMatchObject(expected);
  expect(await checkHttp('https://shop.example/', options)).toMatchObject(expected);
  expect(await checkTcp({ host: 'shop.example:25', ...options })).toMatchObject(expected);
});

test('a proxy that wants a password, another one, or does not work tells nothing of the target', async () => {
  await using strict = await socksServer({ credentials });
  await using web = await serveText('hello');
  await using silent = await tcpServer(() => {});
  await using closing = await tcpServer((socket) => socket.end());
  const through = async (host: string, more: object = {}) =>
    Promise.all([
      checkHttp('http://shop.example/', { timeout: '300ms', proxy: { url: `socks5h://${host}`, ...more } }),
      checkTcp({ host: 'shop.example:25', timeout: '300ms', proxy: { url: `socks5h://${host}`, ...more } }),
    ]);
  for (const [host, more, code] of [
    [strict.host, {}, 'status'],
    [strict.host, { username: 'wp', password: 'falsch' }, 'status'],
    [`127.0.0.1:${web.port}`, {}, 'protocol'],
    [silent.host, {}, 'timeout'],
    [closing.host, {}, 'closed'],
    [`127.0.0.1:${await closedPort()}`, {}, 'refused'],
  ] as const) {
    for (const outcome of await through(host, more)) {
      expect(outcome).toMatchObject({ status: 'unknown', failure: { source: 'third_party', code } });
    }
  }
});

test('a name that the node cannot resolve is no fault of the proxy', async () => {
  await using proxy = await socksServer();
  const missing = {
    ok: false as const,
    failure: { source: 'target' as const, code: 'name_not_found' as const, message: 'no such name' },
    seconds: 0.001,
  };
  const gate = loopbackGate({ 'gone.example': missing });
  const outcome = await checkHttp('http://gone.example/', { proxy: { url: `socks5://${proxy.host}` } }, { gate });
  expect(inShort(outcome)).toBe('down name_not_found');
});

test('a proxy over TLS gets requests and makes tunnels, and its certificate is verified', async () => {
  await using mail = await tcpServer((socket) => void socket.write('220 mail\r\n'));
  await using secure = await serveHttps(certificate, (_request, response) => void response.end('hello'));
  const heads: string[] = [];
  await using proxy = await tlsServer(proxyCertificate, (socket) => {
    socket.once('data', (bytes: Buffer) => {
      const head = bytes.toString('latin1');
      heads.push(head.split('\r\n')[0] ?? '');
      const [, port] = /^CONNECT [^:]+:(\d+)/.exec(head) ?? [];
      if (port === undefined) return void socket.end('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello');
      const behind = connect(Number(port), '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        behind.pipe(socket).pipe(behind);
      });
      behind.on('error', () => socket.destroy());
      socket.on('error', () => behind.destroy());
    });
  });
  const way = { url: `https://proxy.example:${proxy.port}`, ca: authority.cert };
  const plain = await checkHttp('http://shop.example/a', { proxy: way, expect: { body: { contains: 'hello' } } });
  expect(plain).toMatchObject({ status: 'up' });
  const tunnel = await checkHttp(`https://shop.example:${secure.port}/`, { proxy: way, tls });
  expect(tunnel).toMatchObject({ status: 'up', detail: { certificate: { names: ['shop.example'] } } });
  expect(await checkTcp({ host: `shop.example:${mail.port}`, proxy: way, expect: '220' })).toMatchObject({
    status: 'up',
  });
  expect(heads).toEqual([
    'GET http://shop.example/a HTTP/1.1',
    `CONNECT shop.example:${secure.port} HTTP/1.1`,
    `CONNECT shop.example:${mail.port} HTTP/1.1`,
  ]);
  for (const wrong of [{ url: way.url }, { url: `https://other.example:${proxy.port}`, ca: authority.cert }]) {
    expect(await checkHttp('http://shop.example/', { proxy: wrong })).toMatchObject({
      status: 'unknown',
      failure: { source: 'third_party', code: expect.stringMatching(/^certificate_/) },
    });
  }
});

test.each([
  [{ url: 'socks4://127.0.0.1' }, ['proxy', 'url']],
  [{ url: 'socks5://127.0.0.1', username: 'a', password: 'b'.repeat(256) }, ['proxy', 'password']],
  [{ url: 'socks5://127.0.0.1', ca: authority.cert }, ['proxy', 'ca']],
])('%j is refused', (proxy, path) => {
  expect(tcp.Spec.safeParse({ type: 'tcp', host: 'a.example', proxy }).error?.issues[0]).toMatchObject({ path });
});
