import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, type TLSSocket } from 'node:tls';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stapleFailure } from '#checks/revocation/ocsp.ts';
import { dayMs } from '#kernel/units.ts';
import { issue, issueAuthority } from '../../support/certificates.ts';
import { probeOnce } from '../../support/probe-once.ts';

// OCSP responses that openssl has signed, stapled by a server.

const authority = await issueAuthority();
const stranger = await issueAuthority();
const certificate = await issue({ ips: ['127.0.0.1'], ca: authority });
const other = await issue({ ips: ['127.0.0.1'], ca: authority });
const run = promisify(execFile);
let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'watchpost-ocsp-'));
});
afterAll(async () => rm(folder, { recursive: true, force: true }));

interface ResponseOptions {
  readonly about?: string;
  readonly by?: { readonly cert: string; readonly key: string };
  readonly revoked?: boolean;
}

async function responseOf({ about = certificate.cert, by = authority, revoked = false }: ResponseOptions = {}) {
  const file = (name: string) => join(folder, name);
  await writeFile(file('ca.pem'), authority.cert);
  await writeFile(file('signer.pem'), by.cert);
  await writeFile(file('signer.key'), by.key);
  await writeFile(file('leaf.pem'), about);
  const state = revoked ? ['R', '301231235959Z', '260101120000Z,keyCompromise'] : ['V', '301231235959Z', ''];
  const { serialNumber } = new X509Certificate(about);
  await writeFile(file('index.txt'), `${[...state, serialNumber, 'unknown', '/CN=Test server'].join('\t')}\n`);
  const ocsp = async (...args: readonly string[]) => run('openssl', ['ocsp', ...args], { cwd: folder });
  await ocsp('-issuer', 'ca.pem', '-cert', 'leaf.pem', '-no_nonce', '-reqout', 'request.der');
  const extra = by === authority || by === stranger ? ['-resp_no_certs'] : [];
  const signer = ['-CA', 'ca.pem', '-rsigner', 'signer.pem', '-rkey', 'signer.key'];
  await ocsp(
    '-index',
    'index.txt',
    ...signer,
    '-reqin',
    'request.der',
    '-respout',
    'response.der',
    '-ndays',
    '1',
    ...extra,
  );
  return readFile(file('response.der'));
}

interface StaplingServer extends AsyncDisposable {
  readonly port: number | undefined;
}

async function staplingServer(staple: Buffer | null, serve: (socket: TLSSocket) => void): Promise<StaplingServer> {
  const server = createServer({ cert: certificate.cert, key: certificate.key }, serve);
  server.on('OCSPRequest', (_certificate, _issuer, answer) => answer(null, staple ?? Buffer.alloc(0)));
  server.on('tlsClientError', () => {});
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  return { port, [Symbol.asyncDispose]: async () => void server.close() };
}

async function outcomeWith(staple: Buffer | null, more: object = {}) {
  await using server = await staplingServer(staple, (socket) => socket.end());
  const host = `127.0.0.1:${server.port}`;
  return await probeOnce('tls', { host, ca: authority.cert, expect: { stapled: true }, ...more });
}

async function httpOutcomeWith(staple: Buffer | null, more: object = {}) {
  await using server = await staplingServer(staple, (socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'));
  });
  const host = `https://127.0.0.1:${server.port}/`;
  return await probeOnce('http', { host, tls: { ca: authority.cert }, expect: { stapled: true }, ...more });
}

test('a stapled response that says good is up', async () => {
  expect(await outcomeWith(await responseOf())).toMatchObject({
    status: 'up',
    detail: { tls: { protocol: 'TLSv1.3' } },
  });
});

test('a certificate that was revoked is down, whether it is verified or not', async () => {
  const staple = await responseOf({ revoked: true });
  const revoked = {
    status: 'down',
    failure: { code: 'certificate_untrusted', message: 'the certificate was revoked on 2026-01-01T12:00:00.000Z' },
  };
  expect(await outcomeWith(staple)).toMatchObject(revoked);
  expect(await outcomeWith(staple, { verify: false })).toMatchObject(revoked);
  expect(await outcomeWith(staple, { expect: {} })).toMatchObject({ status: 'up' });
});

test('a missing response, one about another certificate or by a stranger, and garbage are down', async () => {
  const said = async (staple: Buffer | null) => {
    const outcome = await outcomeWith(staple);
    return outcome.status === 'up' ? 'up' : `${outcome.failure.code}: ${outcome.failure.message}`;
  };
  expect(await said(null)).toBe('answer: the server staples no OCSP response');
  expect(await said(await responseOf({ about: other.cert }))).toBe(
    'answer: the stapled OCSP response is about another certificate',
  );
  expect(await said(await responseOf({ by: stranger }))).toBe(
    "answer: the stapled OCSP response is not signed by the certificate's issuer",
  );
  const good = await responseOf();
  for (let length = 1; length < good.length; length += 37)
    expect(await said(good.subarray(0, length))).toMatch(/^answer: the stapled OCSP response /);
  // The signature is at its end.
  const forged = Buffer.from(good);
  forged[good.length - 1] = (forged[good.length - 1] ?? 0) ^ 1;
  expect(await said(forged)).toBe("answer: the stapled OCSP response is not signed by the certificate's issuer");
  expect(await said(Buffer.from([0x30, 0x03, 0x0a, 0x01, 0x03]))).toBe(
    'answer: the stapled OCSP response is an error: status 3',
  );
});

/** A certificate for signing OCSP responses, by the authority. */
async function responder(usage: string) {
  const file = (name: string) => join(folder, name);
  await writeFile(file('ca.pem'), authority.cert);
  await writeFile(file('ca.key'), authority.key);
  await writeFile(file('usage.conf'), `extendedKeyUsage = ${usage}\n`);
  const key = ['-newkey', 'rsa:2048', '-nodes', '-keyout', 'responder.key'];
  await run('openssl', ['req', ...key, '-subj', '/CN=Responder', '-out', 'responder.csr'], { cwd: folder });
  const signed = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-extfile', 'usage.conf'];
  const files = ['-in', 'responder.csr', '-out', 'responder.pem'];
  await run('openssl', ['x509', '-req', '-days', '1', ...signed, ...files], { cwd: folder });
  return { cert: await readFile(file('responder.pem'), 'utf8'), key: await readFile(file('responder.key'), 'utf8') };
}

test('a step of a flow may expect a staple, and names what is wrong with it', async () => {
  const flow = async (staple: Buffer | null) => {
    await using server = await staplingServer(staple, (socket) => {
      socket.on('error', () => {});
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'));
    });
    const host = `https://127.0.0.1:${server.port}/`;
    const steps = [{ name: 'start', url: '/', expect: { stapled: true } }];
    return await probeOnce('flow', { host, tls: { ca: authority.cert }, steps });
  };
  expect(await flow(await responseOf())).toMatchObject({ status: 'up' });
  expect(await flow(await responseOf({ revoked: true }))).toMatchObject({
    status: 'down',
    failure: { code: 'certificate_untrusted', message: expect.stringContaining('the certificate was revoked on 2026') },
  });
  expect(await flow(null)).toMatchObject({
    status: 'down',
    failure: { message: expect.stringContaining('the server staples no OCSP response') },
  });
});

test('a responder signs if the issuer has authorised it, and no other certificate of the issuer', async () => {
  const authorised = await responseOf({ by: await responder('OCSPSigning') });
  expect(await outcomeWith(authorised)).toMatchObject({ status: 'up' });
  const unauthorised = await responseOf({ by: await responder('serverAuth') });
  expect(await outcomeWith(unauthorised)).toMatchObject({
    status: 'down',
    failure: { message: "the stapled OCSP response is not signed by the certificate's issuer" },
  });
});

test('a response is good from its beginning to its end', async () => {
  const staple = await responseOf();
  const [leaf, issuer] = [certificate, authority].map(({ cert }) => new X509Certificate(cert));
  if (leaf === undefined) throw new Error('no certificate');
  const at = (ms: number) => stapleFailure(staple, leaf, issuer, Date.now() + ms)?.message ?? null;
  expect(at(0)).toBeNull();
  expect(at(2 * dayMs)).toMatch(/^the stapled OCSP response expired on 20/);
  expect(at(-dayMs)).toMatch(/^the stapled OCSP response is not valid before 20/);
  expect(stapleFailure(staple, leaf, undefined, Date.now())?.message).toMatch(/the issuer is not known$/);
});

test('no change of a byte makes a response of a responder good or ends the check', async () => {
  const staple = await responseOf({ revoked: true, by: await responder('OCSPSigning') });
  const [leaf, issuer] = [certificate, authority].map(({ cert }) => new X509Certificate(cert));
  if (leaf === undefined) throw new Error('no certificate');
  for (let at = 0; at < staple.length; at += 1) {
    const changed = Buffer.from(staple);
    changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8));
    expect(stapleFailure(changed, leaf, issuer, Date.now())).not.toBeNull();
  }
});

test('http expects the same of the server that it gets its answer from', async () => {
  const good = await responseOf();
  expect(await httpOutcomeWith(good)).toMatchObject({ status: 'up', detail: { status: 200 } });
  expect(await httpOutcomeWith(null)).toMatchObject({
    status: 'down',
    failure: { code: 'answer', message: 'the server staples no OCSP response' },
    detail: { certificate: { subject: 'CN=Test server' } },
  });
  expect(await httpOutcomeWith(await responseOf({ about: other.cert }))).toMatchObject({
    status: 'down',
    failure: { code: 'answer', message: 'the stapled OCSP response is about another certificate' },
  });
  const staple = await responseOf({ revoked: true });
  const revoked = {
    status: 'down',
    failure: { code: 'certificate_untrusted', message: 'the certificate was revoked on 2026-01-01T12:00:00.000Z' },
  };
  expect(await httpOutcomeWith(staple)).toMatchObject(revoked);
  expect(await httpOutcomeWith(staple, { tls: { ca: authority.cert, verify: false } })).toMatchObject(revoked);
  expect(await httpOutcomeWith(staple, { expect: {} })).toMatchObject({ status: 'up' });
  // What is wrong with the certificate itself comes first.
  expect(await httpOutcomeWith(staple, { tls: {} })).toMatchObject({
    status: 'down',
    failure: { code: 'certificate_untrusted', message: expect.not.stringContaining('revoked') },
  });
});

test('a redirect by a server with a revoked certificate is not followed', async () => {
  const staple = await responseOf({ revoked: true });
  await using end = await staplingServer(await responseOf(), (socket) => {
    socket.once('data', () => socket.end('HTTP/1.1 204 No Content\r\n\r\n'));
  });
  await using start = await staplingServer(staple, (socket) => {
    const location = `https://127.0.0.1:${end.port}/`;
    socket.once('data', () => socket.end(`HTTP/1.1 302 Found\r\nlocation: ${location}\r\ncontent-length: 0\r\n\r\n`));
  });
  const spec = { host: `https://127.0.0.1:${start.port}/`, tls: { ca: authority.cert }, redirects: 1 };
  expect(await probeOnce('http', spec)).toMatchObject({ status: 'up', detail: { status: 204 } });
  expect(await probeOnce('http', { ...spec, expect: { stapled: true } })).toMatchObject({
    status: 'down',
    failure: { code: 'certificate_untrusted' },
    detail: { hops: [] },
  });
});

test('an address without TLS has nothing to staple', async () => {
  const server = createHttpServer((_request, response) => response.end('ok'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  try {
    expect(await probeOnce('http', { host: `http://127.0.0.1:${port}/`, expect: { stapled: true } })).toMatchObject({
      status: 'down',
      failure: { code: 'tls', message: 'there is no certificate: the connection is not encrypted' },
    });
  } finally {
    server.close();
  }
});
