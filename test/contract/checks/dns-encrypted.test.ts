import type { Socket } from 'node:net';
import { type Answer, decode, encode } from 'dns-packet';
import { expect, test } from 'vitest';
import { probe } from '#checks/dns/probe.ts';
import { Detail } from '#checks/dns/detail.ts';
import { Spec } from '#checks/dns/spec.ts';
import { outcomeOf } from '#checks/outcome-schemas.ts';
import { systemClock } from '#kernel/clock.ts';
import { systemRandom } from '#kernel/random.ts';
import { issue, issueAuthority } from '../../support/certificates.ts';
import { arrived, serveHttp2, serveHttps, serveText } from '../../support/http-servers.ts';
import { distrustingGate, literalGate } from '../../support/literal-gate.ts';
import { closedPort, tcpServer, tlsServer } from '../../support/tcp-servers.ts';

const authority = await issueAuthority();
const certificate = await issue({ names: ['dns.example'], ips: ['127.0.0.1'], ca: authority });
const tls = { ca: authority.cert };
const gate = literalGate({ 'dns.example': '127.0.0.1', 'other.example': '127.0.0.1' });

async function run(spec: Record<string, unknown>, signal = new AbortController().signal, within = gate) {
  const read = Spec.parse({ type: 'dns', host: 'www.example.com', timeout: '20s', ...spec });
  const environment = { clock: systemClock, random: systemRandom, localAddress: {} };
  return outcomeOf(Detail).parse(await probe(read, { gate: within, signal }, environment));
}

/** The answer to a query of this name: addresses of either family. */
function answerTo(query: Buffer): Buffer {
  const { id = 0, questions = [] } = decode(query);
  const [question] = questions;
  const name = question?.name ?? '';
  const answers: Answer[] =
    question?.type === 'A'
      ? [{ type: 'A', name, ttl: 60, data: '192.0.2.10' }]
      : [{ type: 'AAAA', name, ttl: 30, data: '2001:db8::10' }];
  return encode({ type: 'response', id, flags: 0x0180, questions, answers });
}

const framed = (bytes: Buffer) => Buffer.concat([Buffer.from([bytes.length >> 8, bytes.length & 0xff]), bytes]);

function answerOverTls(socket: Socket): void {
  socket.on('data', (bytes: Buffer) => socket.write(framed(answerTo(bytes.subarray(2)))));
}

const found = { A: ['192.0.2.10'], AAAA: ['2001:db8::10'], TTL: 30 };

test('over TLS the answer comes with the certificate, and the phases of the connection', async () => {
  await using server = await tlsServer(certificate, answerOverTls);
  const outcome = await run({ resolver: `dns.example:${server.port}`, protocol: 'tls', tls });
  expect(outcome).toMatchObject({
    status: 'up',
    address: '127.0.0.1',
    facts: { answer_ttl: 30 },
    detail: { ...found, protocol: 'tls', tls: { protocol: 'TLSv1.3', certificate: { names: expect.any(Array) } } },
  });
  expect(outcome.facts.certificate_expires_at).toBeGreaterThan(Date.now() / 1_000);
  expect(Object.keys(outcome.phases)).toEqual(['resolve', 'connect', 'tls']);
  await expect.poll(async () => server.connections(), { timeout: 30_000 }).toBe(0);
});

test.each([
  ['HTTP/1.1', serveHttps],
  ['HTTP/2', serveHttp2],
])('over HTTPS questions are posted, by %s', async (_, serve) => {
  const asked: string[] = [];
  // Both servers hand over requests and responses that are alike in what is used here.
  const server = await (serve as typeof serveHttps)(certificate, (request, response) => {
    asked.push(`${request.method} ${request.url} ${request.headers['content-type']}`);
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const query = Buffer.concat(pieces);
      asked.push(`id ${query.readUInt16BE(0)}`);
      response.setHeader('content-type', 'application/dns-message');
      response.end(answerTo(query));
    });
  });
  try {
    const outcome = await run({ resolver: `127.0.0.1:${server.port}`, protocol: 'https', path: '/q', tls });
    expect(outcome).toMatchObject({
      status: 'up',
      detail: { ...found, protocol: 'https', tls: { protocol: 'TLSv1.3' } },
    });
    expect(Object.keys(outcome.phases)).toEqual(['connect', 'tls', 'first_byte', 'transfer']);
    expect(asked.filter((line) => line === 'POST /q application/dns-message')).toHaveLength(2);
    expect(asked.filter((line) => line === 'id 0')).toHaveLength(2);
    await arrived();
    expect(server.open.size).toBe(0);
  } finally {
    await server[Symbol.asyncDispose]();
  }
});

test.each(['tls', 'https'])('a certificate is verified over %s, unless it is not to be', async (protocol) => {
  await using server = await tlsServer({ ...certificate, ALPNProtocols: ['http/1.1'] }, (socket) => {
    if (protocol === 'tls') answerOverTls(socket);
    else socket.once('data', () => socket.end('HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n'));
  });
  const ask = async (name: string, wishes: object) => {
    const outcome = await run({ resolver: `${name}:${server.port}`, protocol, tls: wishes });
    return outcome.status === 'up' ? 'up' : `${outcome.status} ${outcome.failure.source} ${outcome.failure.code}`;
  };
  const good = protocol === 'tls' ? 'up' : 'down target status';
  expect(await ask('dns.example', {})).toBe('down target certificate_untrusted');
  expect(await ask('other.example', tls)).toBe('down target certificate_name');
  expect(await ask('other.example', { ...tls, server_name: 'dns.example' })).toBe(good);
  expect(await ask('other.example', { verify: false })).toBe(good);
});

test.each(['tls', 'https'])('over %s a closed port, silence and a server without TLS are down', async (protocol) => {
  const shortly = async (port: number, timeout = '20s') => {
    const outcome = await run({ resolver: `127.0.0.1:${port}`, protocol, tls, timeout });
    return outcome.status === 'up' ? 'up' : `${outcome.status} ${outcome.failure.code}`;
  };
  expect(await shortly(await closedPort())).toBe('down refused');
  await using silent = await tcpServer(() => {});
  expect(await shortly(silent.port, '300ms')).toBe('down timeout');
  await using plain = await serveText('SSH-2.0-x\r\n');
  expect(await shortly(plain.port)).toBe('down tls');
});

test.each([
  ['silent', () => {}, 'timeout'],
  ['closing', (socket: Socket) => socket.end(), 'closed'],
  ['talking nonsense', (socket: Socket) => void socket.write(framed(Buffer.alloc(30, 7))), 'protocol'],
])('a server over TLS that is %s once it is asked is down', async (_, answer, code) => {
  await using server = await tlsServer(certificate, (socket) => void socket.once('data', () => answer(socket)));
  const timeout = code === 'timeout' ? '1s' : '20s';
  expect(await run({ resolver: `127.0.0.1:${server.port}`, protocol: 'tls', tls, timeout })).toMatchObject({
    status: 'down',
    failure: { source: 'target', code },
  });
});

test.each([
  ['a page', { 'content-type': 'text/html' }, 200, 'protocol'],
  ['an error', { 'content-type': 'application/dns-message' }, 503, 'status'],
  ['a redirect', { location: '/there' }, 302, 'status'],
])('%s over HTTPS is no answer', async (_, headers, status, code) => {
  await using server = await serveHttps(certificate, (_request, response) => {
    response.writeHead(status, headers).end('<html>');
  });
  expect(await run({ resolver: `127.0.0.1:${server.port}`, protocol: 'https', tls })).toMatchObject({
    status: 'down',
    failure: { source: 'target', code },
  });
});

test.each(['tls', 'https'])('nothing is asked over %s where the gate refuses the connection', async (protocol) => {
  let bytes = 0;
  await using server = await tcpServer((socket) => void socket.on('data', (piece) => (bytes += piece.length)));
  const outcome = await run(
    { resolver: `127.0.0.1:${server.port}`, protocol, tls },
    new AbortController().signal,
    distrustingGate,
  );
  expect(outcome).toMatchObject({ status: 'unknown', failure: { source: 'node', code: 'forbidden' } });
  expect(bytes).toBe(0);
});

test.each(['tls', 'https'])(
  'an aborted probe over %s rejects with the reason, and leaves nothing open',
  async (protocol) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    await using server = await tcpServer((socket) => {
      socket.once('data', () => resolve());
      socket.once('end', () => socket.end());
    });
    const ended = new AbortController();
    const asking = run({ resolver: `127.0.0.1:${server.port}`, protocol, tls }, ended.signal);
    await promise;
    ended.abort(new Error('enough'));
    await expect(asking).rejects.toThrow('enough');
    await expect.poll(async () => server.connections(), { timeout: 30_000 }).toBe(0);
  },
);

test.each([
  [{ protocol: 'tls' }, 'is missing: "tls" needs one'],
  [{ protocol: 'udp', resolver: 'a.example', path: '/q' }, 'needs "protocol: https"'],
  [{ protocol: 'tcp', resolver: 'a.example', tls: {} }, 'needs "protocol: tls" or "https"'],
  [{ resolver: 'https://a.example/dns-query' }, '"protocol" and "path" say the rest'],
])('%j is refused', (options, message) => {
  const parsed = Spec.safeParse({ type: 'dns', host: 'www.example.com', ...options });
  expect(parsed.error?.issues[0]?.message).toContain(message);
});
