import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { http } from '#checks/http/index.ts';
import { start as startProber } from '#checks/http/probe.ts';
import { type Clock, systemClock } from '#kernel/clock.ts';
import { issue, issueAuthority } from '../../support/certificates.ts';
import { checkHttp, forbidden, inShort, loopbackGate } from '../../support/http-check.ts';
import { serveHttp, serveHttps } from '../../support/http-servers.ts';
import { seededRandom } from '../../support/seeded-random.ts';

/** A token endpoint with numbered tokens, and a target that takes them. */
async function world(grant: (response: ServerResponse, count: number) => void = give(3_600)) {
  const asked: { readonly authorization: string | undefined; readonly form: string }[] = [];
  const seen: (string | undefined)[] = [];
  let isRevoked = false;
  const endpoint = await serveHttp((request, response) => {
    void textOf(request).then((form) => {
      asked.push({ authorization: request.headers.authorization, form });
      grant(response, asked.length);
    });
  });
  const target = await serveHttp((request, response) => {
    seen.push(request.headers.authorization);
    response.writeHead(isRevoked ? 401 : 200).end();
  });
  return {
    asked,
    seen,
    endpoint,
    host: `http://127.0.0.1:${target.port}`,
    oauth2: { token_url: `http://127.0.0.1:${endpoint.port}/token`, client_id: 'wp', client_secret: 'sehr geheim' },
    revoke: (is: boolean) => void (isRevoked = is),
    async [Symbol.asyncDispose]() {
      await endpoint[Symbol.asyncDispose]();
      await target[Symbol.asyncDispose]();
    },
  };
}

const give = (expires_in?: number) => (response: ServerResponse, count: number) =>
  void response.end(JSON.stringify({ access_token: `token-${count}`, token_type: 'Bearer', expires_in }));

async function textOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces).toString();
}

function movingClock() {
  let ahead = 0;
  const clock: Clock = { ...systemClock, elapsed: () => systemClock.elapsed() + ahead };
  return { clock, pass: (ms: number) => void (ahead += ms) };
}

async function startHttp(clock: Clock) {
  const prober = await startProber({ clock, random: seededRandom(), localAddress: {} });
  return async (host: string, options: object, signal = new AbortController().signal) =>
    prober.probe(http.Spec.parse({ type: 'http', host, ...options }), { gate: loopbackGate(), signal });
}

test('a token is asked for by client credentials and sent to the target', async () => {
  await using at = await world();
  const oauth2 = { ...at.oauth2, scopes: ['read', 'write:all'], audience: 'https://api.example' };
  expect(await checkHttp(at.host, { oauth2 })).toMatchObject({ status: 'up' });
  expect(at.seen).toEqual(['Bearer token-1']);
  expect(at.asked).toEqual([
    {
      authorization: `Basic ${Buffer.from('wp:sehr+geheim').toString('base64')}`,
      form: 'grant_type=client_credentials&scope=read+write%3Aall&audience=https%3A%2F%2Fapi.example',
    },
  ]);
});

test('id and secret go into the body where the endpoint wants that', async () => {
  await using at = await world();
  await checkHttp(at.host, { oauth2: { ...at.oauth2, auth: 'body' } });
  expect(at.asked).toEqual([
    { authorization: undefined, form: 'grant_type=client_credentials&client_id=wp&client_secret=sehr+geheim' },
  ]);
});

test('a token serves all checks that ask for the same until shortly before its end', async () => {
  await using at = await world(give(600));
  const { clock, pass } = movingClock();
  const check = await startHttp(clock);
  const { oauth2 } = at;
  await Promise.all([check(at.host, { oauth2 }), check(`${at.host}/b`, { oauth2 })]);
  pass(539_000);
  await check(at.host, { oauth2 });
  expect(at.asked).toHaveLength(1);
  pass(2_000);
  await check(at.host, { oauth2 });
  expect(at.seen.at(-1)).toBe('Bearer token-2');
  await check(at.host, { oauth2: { ...oauth2, scopes: ['other'] } });
  expect(at.asked).toHaveLength(3);
});

test('a token that the target does not take is not used again', async () => {
  await using at = await world();
  const check = await startHttp(systemClock);
  at.revoke(true);
  expect(await check(at.host, { oauth2: at.oauth2 })).toMatchObject({ status: 'down', failure: { code: 'status' } });
  at.revoke(false);
  expect(await check(at.host, { oauth2: at.oauth2 })).toMatchObject({ status: 'up' });
  expect(at.seen).toEqual(['Bearer token-1', 'Bearer token-2']);
});

test.each([
  ['refuses the client', 'status', 'answered 401 (invalid_client)', deny(401, '{"error":"invalid_client"}')],
  ['is broken', 'status', 'answered 500', deny(500, 'oh')],
  ['answers with a page', 'protocol', 'gave no token that can be read', deny(200, '<html>')],
  [
    'gives another kind of token',
    'protocol',
    'gave a token of the type mac, not a bearer token',
    deny(200, '{"access_token":"abc","token_type":"mac"}'),
  ],
  ['leads elsewhere', 'status', 'answered 302', deny(302, '')],
])('an endpoint that %s tells nothing of the target', async (_, code, words, grant) => {
  await using at = await world(grant);
  const outcome = await checkHttp(at.host, { oauth2: at.oauth2 });
  expect(outcome).toMatchObject({ status: 'unknown', failure: { source: 'third_party', code } });
  expect(outcome.status === 'up' ? '' : outcome.failure.message).toBe(
    `the token endpoint 127.0.0.1:${at.endpoint.port} ${words}`,
  );
  expect(at.seen).toEqual([]);
});

function deny(status: number, body: string) {
  return (response: ServerResponse) => void response.writeHead(status, { location: '/there' }).end(body);
}

test('an endpoint has a time of its own, and is asked once by all who wait for it', async () => {
  await using at = await world(() => {});
  const check = await startHttp(systemClock);
  const oauth2 = { ...at.oauth2, timeout: '300ms' };
  const outcomes = await Promise.all([check(at.host, { oauth2 }), check(at.host, { oauth2 })]);
  for (const outcome of outcomes) {
    expect(outcome).toMatchObject({ status: 'unknown', failure: { source: 'third_party', code: 'timeout' } });
  }
  expect(at.asked).toHaveLength(1);
  expect(http.deadlineMs(http.Spec.parse({ type: 'http', host: at.host, oauth2 }))).toBe(10_300);
});

test('an endpoint that may not be reached is refused, and one with a certificate of nobody is not believed', async () => {
  const gate = loopbackGate({ 'login.example': forbidden });
  const oauth2 = { token_url: 'http://login.example/token', client_id: 'wp', client_secret: 'geheim' };
  expect(inShort(await checkHttp('http://127.0.0.1', { oauth2 }, { gate }))).toBe('unknown node forbidden');
  const authority = await issueAuthority();
  const certificate = await issue({ ips: ['127.0.0.1'], ca: authority });
  await using endpoint = await serveHttps(certificate, (_, response) => give(60)(response, 1));
  await using at = await world();
  const secured = { ...oauth2, token_url: `https://127.0.0.1:${endpoint.port}/` };
  expect(inShort(await checkHttp(at.host, { oauth2: secured }))).toBe('unknown third_party certificate_untrusted');
  expect(inShort(await checkHttp(at.host, { oauth2: { ...secured, ca: authority.cert } }))).toBe('up 200');
});

test('neither secret nor token are told, though everybody repeats them', async () => {
  const repeat = deny(400, '{"error":"sehr geheim"}');
  await using rude = await world(repeat);
  const first = await checkHttp(rude.host, { oauth2: rude.oauth2 });
  expect(JSON.stringify(first)).not.toContain('geheim');
  await using endpoint = await serveHttp((_, response) => give(60)(response, 12_345));
  await using target = await serveHttp((request, response) => {
    response.writeHead(500, request.headers.authorization, { server: request.headers.authorization }).end();
  });
  const oauth2 = { ...rude.oauth2, token_url: `http://127.0.0.1:${endpoint.port}` };
  const second = await checkHttp(`http://127.0.0.1:${target.port}`, { oauth2 });
  expect(second.detail?.headers.server).toBe('Bearer ***');
  expect(JSON.stringify(second)).not.toContain('token-12345');
});

test('an abort ends the wait for a token, and leaves nothing open', async () => {
  await using at = await world(() => {});
  const ended = new AbortController();
  const checking = checkHttp(at.host, { oauth2: { ...at.oauth2, timeout: '60s' } }, { signal: ended.signal });
  await expect.poll(() => at.asked.length, { timeout: 30_000 }).toBe(1);
  ended.abort(new Error('enough'));
  await expect(checking).rejects.toThrow('enough');
  await at.endpoint.drained();
});

test('a file that nobody has read is no secret', async () => {
  const oauth2 = { token_url: 'http://127.0.0.1/', client_id: 'wp', client_secret_file: '/etc/hostname' };
  expect(inShort(await checkHttp('http://127.0.0.1', { oauth2 }))).toBe('unknown node unsupported');
});

test.each([
  [{ oauth2: { token_url: 'ftp://x', client_id: 'a', client_secret: 'b' } }, 'expected an address'],
  [{ oauth2: { token_url: 'https://x', client_id: 'a' } }, 'is missing: give it, or client_secret_file'],
  [
    { oauth2: { token_url: 'https://x', client_id: 'a', client_secret: 'b', client_secret_file: 'c' } },
    'cannot be set together with',
  ],
  [{ oauth2: { token_url: 'https://x', client_id: 'a', client_secret: 'b' }, bearer: 'c' }, 'one of oauth2, bearer'],
  [{ proxy: { url: 'socks4://proxy.example' } }, 'expected the address of a proxy'],
  [{ proxy: { url: 'http://proxy.example', username: 'a' } }, 'is missing: there is a username'],
])('%j is refused', (options, message) => {
  const parsed = http.Spec.safeParse({ type: 'http', host: 'https://shop.example', ...options });
  expect(parsed.error?.issues[0]?.message).toContain(message);
});
