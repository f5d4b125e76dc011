import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { sha256 } from '#kernel/hash.ts';
import { beatRoutes, type JobPing, prefixLength } from '#web/beats.ts';
import { withoutSecret } from '#web/errors.ts';
import { serveWeb } from '../../support/web.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { silentLog } from '../../support/metrics.ts';

const secret = 'Zk3vTq9wPb7xLm2c';

async function serve(stores: () => Promise<boolean> = async () => true) {
  const heard: { readonly target: string; readonly beat: JobPing }[] = [];
  const outcomes: string[] = [];
  const clock = new FakeClock();
  const owner = { target: 'backup', hash: sha256(secret) };
  // Somebody whose hash begins alike.
  const alike = { target: 'other', hash: `${owner.hash.slice(0, -1)}${owner.hash.endsWith('0') ? '1' : '0'}` };
  const server = await serveWeb({
    plugins: [
      beatRoutes({
        ownersOf: (prefix) => (owner.hash.slice(0, prefixLength) === prefix ? [alike, owner] : []),
        async hear(target, beat) {
          heard.push({ target, beat });
          return stores();
        },
        onAnswered: (outcome) => outcomes.push(outcome),
        clock,
        log: silentLog,
      }),
    ],
  });
  const url = `http://127.0.0.1:${server.addr().port}/beat/`;
  return {
    heard,
    outcomes,
    clock,
    url,
    call: async (path: string, init: RequestInit = {}) => fetch(`${url}${path}`, init),
    [Symbol.asyncDispose]: async () => server.close(),
  };
}

test.each([
  ['', { kind: 'success', exitCode: null }],
  ['/start', { kind: 'start', exitCode: null }],
  ['/fail', { kind: 'failure', exitCode: null }],
  ['/0', { kind: 'success', exitCode: 0 }],
  ['/137', { kind: 'failure', exitCode: 137 }],
])('a call of <secret>%s says so, by GET, POST and HEAD', async (path, said) => {
  await using server = await serve();
  for (const method of ['GET', 'POST', 'HEAD']) {
    const response = await server.call(`${secret}${path}?rid=a-1`, { method });
    expect([method, response.status]).toEqual([method, 200]);
  }
  const beat = { at: server.clock.now(), run: 'a-1', log: [], ...said };
  expect(server.heard).toEqual(Array.from({ length: 3 }, () => ({ target: 'backup', beat })));
});

test.each(['', '/start', '/fail', '/7'])('an unknown secret is a path that is not there: %s', async (path) => {
  await using server = await serve();
  const unknown = await server.call(`Ak3vTq9wPb7xLm2c${path}`);
  const nothing = await server.call(`x/y/z`);
  expect([unknown.status, nothing.status]).toEqual([404, 404]);
  expect(Object.keys((await unknown.json()) as object)).toEqual(Object.keys((await nothing.json()) as object));
  expect((await server.call(`${secret}/256`)).status).toBe(404);
  expect((await server.call(`${secret}/begin`)).status).toBe(404);
  expect(server.heard).toEqual([]);
});

test('of what a job sends the last lines are kept, each on one line without controls', async () => {
  await using server = await serve();
  const noise = 'x'.repeat(20_000);
  const lines = Array.from({ length: 30 }, (_, number) => `line ${number}`);
  const body = [noise, noise, ...lines, '<b>\u001B[31mred\u0000</b>', ''].join('\r\n');
  const types = ['text/plain', 'application/json', 'application/x-www-form-urlencoded', 'a/b; c'];
  for (const type of types) {
    const response = await server.call(`${secret}/1`, { method: 'POST', body, headers: { 'content-type': type } });
    expect([type, response.status]).toEqual([type, 200]);
  }
  const kept = [...lines.slice(-9), '<b> [31mred </b>'];
  expect(server.heard.map(({ beat }) => beat.log)).toEqual(types.map(() => kept));
});

test('a body that never ends is answered after 64 KiB, and one that stalls after ten seconds', async () => {
  await using server = await serve();
  const { hostname, port } = new URL(server.url);
  const send = async (first: string, thenMs: number) => {
    const socket = connect(Number(port), hostname);
    const pieces: string[] = [];
    socket.on('data', (piece: Buffer) => pieces.push(piece.toString()));
    socket.write(`POST /beat/${secret} HTTP/1.1\r\nhost: a\r\ncontent-length: 1000000000\r\n\r\n${first}`);
    while (pieces.length === 0) {
      await setImmediate();
      if (thenMs > 0) await server.clock.advance(thenMs);
    }
    socket.destroy();
    return pieces.join('');
  };
  expect(await send('a line\n'.repeat(10_000), 0)).toMatch(/^HTTP\/1\.1 200 /);
  expect(await send('begun', 10_000)).toMatch(/^HTTP\/1\.1 200 /);
  expect(server.heard.map(({ beat }) => beat.log.at(-1))).toEqual([expect.stringContaining('a line'), 'begun']);
});

test('a body without a type and without a length is heard too', async () => {
  await using server = await serve();
  const status = await new Promise((resolve, reject) => {
    const call = request(`${server.url}${secret}`, { method: 'POST' }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    call.on('error', reject);
    call.write('one\n');
    call.end('two');
  });
  expect(status).toBe(200);
  expect(server.heard[0]?.beat.log).toEqual(['one', 'two']);
});

test('a call that cannot be stored is to come again', async () => {
  await using server = await serve(async () => false);
  const response = await server.call(secret);
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5']);
});

test('of who knows no secret nothing is read, however much is sent', async () => {
  await using server = await serve();
  const { hostname, port } = new URL(server.url);
  for (const path of ['guess', 'guess/1']) {
    const socket = connect(Number(port), hostname);
    let answer = '';
    socket.on('data', (piece: Buffer) => (answer += piece.toString()));
    // Of a body of a gigabyte the first bytes come, and then no more.
    socket.write(`POST /beat/${path} HTTP/1.1\r\nhost: a\r\ncontent-length: 1000000000\r\n\r\nfirst bytes`);
    await once(socket, 'close');
    expect(answer).toMatch(/^HTTP\/1\.1 404 /);
  }
});

test('the name of a run that is none is refused', async () => {
  await using server = await serve();
  expect((await server.call(`${secret}?rid=a%20b`)).status).toBe(400);
  expect(server.heard).toEqual([]);
});

test('who guesses is refused after thirty tries, and a job that calls too often for a while', async () => {
  await using server = await serve();
  for (let tries = 0; tries < 30; tries += 1) expect((await server.call(`guess-${tries}`)).status).toBe(404);
  const refused = await server.call('guess-30');
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '2']);
  for (let calls = 0; calls < 300; calls += 1) expect((await server.call(secret, { method: 'HEAD' })).status).toBe(200);
  expect((await server.call(secret)).status).toBe(429);
  await server.clock.advance(1_000);
  expect((await server.call(secret)).status).toBe(200);
});

test('it is told what became of each call: what it said, or why it was refused', async () => {
  let isThere = true;
  await using server = await serve(async () => isThere);
  for (const path of ['', '/start', '/fail', '/7', '/0']) await server.call(`${secret}${path}`);
  expect(server.outcomes).toEqual(['success', 'start', 'failure', 'failure', 'success']);
  server.outcomes.length = 0;
  isThere = false;
  for (const path of [secret, `${secret}/begin`, `${secret}?rid=a%20b`, 'guess', 'guess/1']) await server.call(path);
  expect(server.outcomes).toEqual(['not_stored', 'malformed', 'malformed', 'unknown_secret', 'unknown_secret']);
  server.outcomes.length = 0;
  isThere = true;
  for (let calls = 0; calls < 300; calls += 1) await server.call(secret, { method: 'HEAD' });
  expect(new Set(server.outcomes)).toEqual(new Set(['success', 'too_many']));
});

test('no log holds a secret', () => {
  expect(withoutSecret(`/beat/${secret}/start?rid=a`)).toBe('/beat/[secret]/start?rid=a');
  expect(withoutSecret(`/beat/${secret}?rid=a`)).toBe('/beat/[secret]?rid=a');
  expect(withoutSecret('/metrics')).toBe('/metrics');
  // What the router reads as the same path.
  expect(withoutSecret(`/%62eat/${secret}`)).not.toContain(secret);
  expect(withoutSecret(`http://example.com/beat/${secret}?rid=a`)).not.toContain(secret);
});
