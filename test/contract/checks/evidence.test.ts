import { describe, expect, test } from 'vitest';
import { CheckSpec } from '#checks/index.ts';
import { systemClock } from '#kernel/clock.ts';
import { issue, issueAuthority, issueIntermediate } from '../../support/certificates.ts';
import { conclusionsFrom, gatherEvidence } from '../../support/evidence.ts';
import { grpcServer } from '../../support/grpc-server.ts';
import { serveHttp, serveRaw } from '../../support/http-servers.ts';
import { literalGate } from '../../support/literal-gate.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { closedPort, tcpServer, tlsServer } from '../../support/tcp-servers.ts';
import { startProber } from '../../support/probe-once.ts';

const gather = gatherEvidence;
const hostOf = ({ port }: { readonly port: number }) => `127.0.0.1:${port}`;

describe('TLS', () => {
  test('an expired intermediate certificate is named', async () => {
    const authority = await issueAuthority();
    const intermediate = await issueIntermediate(authority, [-30, -1]);
    const leaf = await issue({ ips: ['127.0.0.1'], ca: intermediate });
    await using server = await tlsServer({ key: leaf.key, cert: `${leaf.cert}\n${intermediate.cert}` }, () => {});
    const document = await gather({ type: 'tls', host: server.host, ca: authority.cert });
    expect(document.tls).toMatchObject({
      address: '127.0.0.1',
      protocol: 'TLSv1.3',
      chain: [{ subject: 'CN=Test server' }, { subject: 'CN=Test intermediate' }, { subject: 'CN=Test authority' }],
      problem: 'CERT_HAS_EXPIRED',
      isForName: true,
      failure: null,
      versions: [
        { version: 'TLS 1.2', accepted: true },
        { version: 'TLS 1.3', accepted: true },
      ],
    });
    expect(conclusionsFrom(document, 'certificate_expired')).toEqual([
      'The intermediate certificate "Test intermediate" expired yesterday.',
    ]);
  });

  test('an intermediate certificate that is not sent is missed', async () => {
    const authority = await issueAuthority();
    const intermediate = await issueIntermediate(authority);
    const leaf = await issue({ ips: ['127.0.0.1'], ca: intermediate });
    await using server = await tlsServer(leaf, () => {});
    const document = await gather({ type: 'tls', host: server.host, ca: authority.cert });
    expect(conclusionsFrom(document, 'certificate_untrusted')).toEqual([
      'The server sends its certificate without that of its issuer "Test intermediate", which the node does not know.',
    ]);
  });

  test('the names of a certificate for others are listed', async () => {
    const made = await issue({ names: ['a.example', 'b.example'] });
    await using server = await tlsServer(made, () => {});
    const document = await gather({ type: 'http', host: `https://${server.host}/` });
    expect(conclusionsFrom(document, 'certificate_name')).toEqual([
      'The certificate is not for 127.0.0.1 but for a.example and b.example.',
    ]);
    // The chain shows although the request was not sent.
    expect(document.tls?.chain).toMatchObject([{ subject: 'CN=Test server', names: ['a.example', 'b.example'] }]);
    expect(document.response).toMatchObject({ status: null });
  });

  test('versions are tried one by one, old ones only if no other is accepted', async () => {
    const made = await issue({ ips: ['127.0.0.1'] });
    await using server = await tlsServer({ ...made, minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' }, () => {});
    const target = { type: 'tls', host: server.host, min_version: 'TLSv1.3' };
    const { tls } = await gather(target);
    expect(tls?.versions).toEqual([
      { version: 'TLS 1.2', accepted: true, failure: null },
      { version: 'TLS 1.3', accepted: false, failure: expect.stringContaining('alert') as string },
    ]);
    const ciphers = 'DEFAULT@SECLEVEL=0';
    await using old = await tlsServer({ ...made, ciphers, minVersion: 'TLSv1', maxVersion: 'TLSv1.1' }, () => {});
    const document = await gather({ type: 'tls', host: old.host });
    expect(document.tls?.versions.map(({ version, accepted }) => [version, accepted])).toEqual([
      ['TLS 1.2', false],
      ['TLS 1.3', false],
      ['TLS 1.0', true],
      ['TLS 1.1', true],
    ]);
    expect(conclusionsFrom(document, 'tls')).toEqual([
      'The server accepts TLS 1.0 and TLS 1.1 and refuses TLS 1.2 and TLS 1.3.',
    ]);
  });

  test('a server that speaks no TLS proves no version', async () => {
    await using server = await tcpServer((socket) => socket.end('hello\r\n'));
    const document = await gather({ type: 'tls', host: server.host });
    expect(document.tls).toMatchObject({ chain: [], versions: [{ accepted: null }, { accepted: null }] });
    expect(conclusionsFrom(document, 'tls')).toEqual([]);
  });
});

describe('responses', () => {
  test('head and beginning of the body are kept', async () => {
    await using server = await serveHttp((_request, response) => {
      response.writeHead(503, {
        'content-type': 'text/html',
        server: 'shop',
        'set-cookie': 'sid=abcdef123456; Path=/',
      });
      response.end(`<title>Down for maintenance</title>${'x'.repeat(5_000)}`);
    });
    const document = await gather({ type: 'http', host: hostOf(server) });
    expect(document.response).toMatchObject({
      status: '503 Service Unavailable',
      bodyBytes: 5_035,
      isWhole: true,
      redirects: [],
      failure: null,
    });
    expect(document.response?.headers).toContainEqual(['server', 'shop']);
    expect(document.response?.headers).toContainEqual(['set-cookie', 'sid=***']);
    expect(document.response?.body).toHaveLength(1_024);
    const good = { ...document, response: { ...document.response!, status: '200 OK', body: '<title>Shop</title>' } };
    expect(conclusionsFrom(document, 'status', good)).toEqual([
      'The server answers 503 Service Unavailable with the title "Down for maintenance"; the last good answer was 200 OK.',
    ]);
  });

  test('a truncated one shows how much came', async () => {
    await using server = await serveRaw((socket) => {
      socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2048\r\n\r\nonly this');
    });
    const document = await gather({ type: 'http', host: hostOf(server) });
    expect(document.response).toMatchObject({ body: 'only this', bodyBytes: 9, isWhole: false });
    expect(conclusionsFrom(document, 'closed')).toEqual(['The response ends after 9 of 2048 bytes.']);
  });

  test('redirects are followed as the target says', async () => {
    await using server = await serveHttp((request, response) => {
      if (request.url === '/') response.writeHead(302, { location: '/there' }).end();
      else response.end('there');
    });
    const followed = await gather({ type: 'http', host: hostOf(server), redirects: 2 });
    expect(followed.response).toMatchObject({
      status: '200 OK',
      redirects: [`http://${hostOf(server)}/`, `http://${hostOf(server)}/there`],
    });
    const first = await gather({ type: 'http', host: hostOf(server) });
    expect(first.response).toMatchObject({ status: '302 Found', redirects: [] });
  });

  test('the answer to a WebSocket that is refused is kept', async () => {
    await using server = await serveHttp((_request, response) => response.writeHead(401).end('who are you?'));
    const refused = await gather({ type: 'websocket', host: `ws://${hostOf(server)}/` });
    expect(refused.response).toMatchObject({ status: '401 Unauthorized', body: 'who are you?' });
    await using upgrading = await serveRaw((socket) => {
      socket.once('data', (request) => {
        expect(request.toString()).toMatch(/^connection: upgrade\r$/im);
        socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\n\r\n');
      });
    });
    const accepted = await gather({ type: 'websocket', host: `ws://${hostOf(upgrading)}/` });
    expect(accepted.response).toMatchObject({ status: '101 Switching Protocols' });
  });
});

describe('what is received', () => {
  test('of a server that talks and then hangs', async () => {
    await using server = await tcpServer((socket) => socket.write('220 mail.example ready\r\n'));
    const document = await gather({ type: 'tcp', host: server.host, preset: 'smtp', timeout: '300ms' });
    expect(document.received).toEqual({
      bytes: 24,
      text: String.raw`220 mail.example ready\r\n`,
      closed: false,
      failure: expect.stringContaining('no answer') as string,
      protocol: 'tcp',
      isSilent: true,
    });
    expect(conclusionsFrom(document, 'timeout')).toEqual(['The server sends 24 bytes and then nothing more.']);
  });

  test('of a server that closes at once', async () => {
    await using server = await tcpServer((socket) => socket.end());
    const document = await gather({ type: 'tcp', host: server.host, expect: 'hello' });
    expect(document.received).toMatchObject({ bytes: 0, text: '', closed: true, isSilent: false });
    expect(conclusionsFrom(document, 'closed')).toEqual([
      'The server accepts the connection and closes it without sending a byte.',
    ]);
  });

  test('behind TLS is what was encrypted', async () => {
    const made = await issue({ ips: ['127.0.0.1'] });
    await using server = await tlsServer(made, (socket) => socket.write('\u0000hello'));
    const target = { type: 'tcp', host: server.host, tls: { ca: made.cert }, expect: 'bye', timeout: '300ms' };
    const document = await gather(target);
    expect(document.received).toMatchObject({ bytes: 6, text: String.raw`\x00hello`, isSilent: true });
  });

  test('of a port that is closed there is nothing', async () => {
    const port = await closedPort();
    const document = await gather({ type: 'tcp', host: `127.0.0.1:${port}`, expect: 'hello' });
    expect(document.received).toBeNull();
    expect(document.missing).toContainEqual({ part: 'received', reason: 'connection refused' });
    expect(conclusionsFrom(document, 'refused')).toEqual([
      `Packets from de1 reach 127.0.0.1, which refuses TCP port ${port}.`,
    ]);
  });
});

test('over IPv6 everything is gathered as over IPv4', async () => {
  await using server = await tcpServer((socket) => socket.write('hi'), '::1');
  const document = await gather({ type: 'tcp', host: server.host, expect: 'hello', timeout: '300ms' });
  expect(document.received).toMatchObject({ bytes: 2, text: 'hi', isSilent: true });
  expect(document.path).toMatchObject({ protocol: 'tcp', address: '::1', family: 6, end: 'reached' });
  expect(document.uplink).toMatchObject({ gateway: null });
});

test('the answer of gRPC is its health, or status and message', async () => {
  await using server = await grpcServer(await issue({ ips: ['127.0.0.1'] }));
  const of = async (health_of: string) => gather({ type: 'grpc', host: server.host, tls: true, health_of });
  const good = await of('');
  expect(good.response).toMatchObject({ status: 'SERVING', failure: null });
  expect(good.tls).toMatchObject({ problem: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
  const carts = await of('shop.Carts');
  expect(carts.response).toMatchObject({ status: 'NOT_SERVING', failure: null });
  expect(conclusionsFrom(carts, 'status', good)).toEqual([
    'The server answers NOT_SERVING; the last good answer was SERVING.',
  ]);
  expect((await of('shop.Other')).response?.status).toMatch(/^NOT_FOUND/);
  const silent = await tcpServer(() => {});
  await using _ = silent;
  const target = { type: 'grpc', host: silent.host, timeout: '300ms' };
  expect((await gather(target)).response).toMatchObject({
    status: null,
    failure: expect.stringMatching(/no answer within|timeout/),
  });
});

test('certificates behind a proxy are missing, with the reason', async () => {
  const proxy = { url: `http://127.0.0.1:${await closedPort()}` };
  const { tls, missing } = await gather({ type: 'http', host: 'https://a.example/', proxy, timeout: '300ms' });
  expect(tls).toBeNull();
  expect(missing).toContainEqual({ part: 'tls', reason: 'the target is behind a proxy' });
  const plain = await gather({ type: 'http', host: 'http://a.example/', proxy, timeout: '300ms' });
  expect(plain.missing.map(({ part }) => part)).not.toContain('tls');
});

test('references show whether the node itself is connected', async () => {
  await using server = await tcpServer(() => {});
  const references = [
    { name: 'shop', host: server.host },
    { name: 'old', host: 'gone.example:80' },
  ];
  const document = await gather({ type: 'ping', host: '127.0.0.1' }, { references });
  expect(document.uplink?.references).toEqual([
    { name: 'shop', reached: true },
    { name: 'old', reached: false },
  ]);
});

test('the path is traced by the protocol and port that failed, under the gate', async () => {
  const asked: object[] = [];
  const tracePath = async (options: { readonly address: string; readonly family: 4 | 6 }) => {
    asked.push(options);
    const { address, family } = options;
    return { protocol: 'tcp' as const, port: 25, address, family, hops: [], end: 'silent' as const, mtu: null };
  };
  const target = { type: 'tcp', host: 'a.example:25' };
  const { path } = await gather(target, { names: { 'a.example': '192.0.2.1' }, tools: { tracePath } });
  expect(asked).toMatchObject([{ address: '192.0.2.1', family: 4, protocol: 'tcp', port: 25, maxHops: 30 }]);
  expect(path).toMatchObject({ address: '192.0.2.1', end: 'silent' });
  const forbidden = await gather({ type: 'tcp', host: 'b.example:25' }, { tools: { tracePath } });
  expect(asked).toHaveLength(1);
  expect(forbidden.missing).toContainEqual({ part: 'path', reason: 'b.example does not exist' });
});

test('a part that breaks leaves the others whole', async () => {
  const tracePath = async () => Promise.reject(new Error('no socket'));
  await using server = await tcpServer((socket) => socket.end('hi'));
  const document = await gather({ type: 'tcp', host: server.host, expect: 'hi' }, { tools: { tracePath } });
  expect(document.missing).toContainEqual({ part: 'path', reason: 'failed: no socket' });
  expect(document.received).toMatchObject({ bytes: 2, failure: null });
});

test('gathering ends with the check, and with its reason', async () => {
  await using server = await tcpServer(() => {});
  const reason = new Error('cancelled');
  const gathering = gather(
    { type: 'tcp', host: server.host, expect: 'hello', timeout: '60s' },
    { signal: AbortSignal.any([abortedSoon(reason)]) },
  );
  await expect(gathering).rejects.toBe(reason);
});

function abortedSoon(reason: Error): AbortSignal {
  const controller = new AbortController();
  systemClock.after(50, () => controller.abort(reason));
  return controller.signal;
}

test('a spec that this node cannot read is its own matter', async () => {
  const spec = CheckSpec.parse({ type: 'evidence', host: 'a.example', of: { type: 'telepathy', host: 'a.example' } });
  const prober = await startProber('evidence', { clock: systemClock, random: seededRandom(), localAddress: {} });
  const outcome = await prober.probe(spec, { gate: literalGate(), signal: new AbortController().signal });
  await prober.close();
  expect(outcome).toMatchObject({ status: 'unknown', failure: { source: 'node', code: 'unsupported' } });
});

test('what a target echoes of a request is redacted', async () => {
  await using server = await serveHttp((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const echo = JSON.stringify({ ...request.headers, url: request.url, body: Buffer.concat(chunks).toString() });
      response.writeHead(500, { 'x-echo': echo, location: `/?was=${request.headers['x-tenant'] as string}` });
      response.end(`${'.'.repeat(600)}${echo}`);
    });
  });
  const secrets = ['correct-horse', 'battery-staple', 'tenant-4711', 'query-0815'];
  const [password, body, tenant, query] = secrets;
  const document = await gather({
    type: 'http',
    host: `http://${hostOf(server)}/?token=${query}`,
    method: 'POST',
    basic_auth: { username: 'ann', password },
    headers: { 'x-tenant': tenant },
    body: JSON.stringify({ pin: body }),
  });
  expect(document.response).toMatchObject({ status: '500 Internal Server Error' });
  expect(document.response?.body).toContain('***');
  const written = JSON.stringify(document);
  const basic = Buffer.from(`ann:${password}`).toString('base64');
  expect([...secrets, basic].filter((secret) => written.includes(secret))).toEqual([]);
});

test('patterns of the spec redact besides', async () => {
  await using server = await tcpServer((socket) => socket.end('hello customer 4711\r\n'));
  const document = await gather({ type: 'tcp', host: server.host, expect: 'hello' }, { redact: ['customer [0-9]+'] });
  expect(document.received).toMatchObject({ text: String.raw`hello ***\r\n`, bytes: 21 });
});
