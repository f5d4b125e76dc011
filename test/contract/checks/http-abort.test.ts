import { once } from 'node:events';
import { expect, test } from 'vitest';
import type { Gate } from '#checks/gate.ts';
import { issue } from '../../support/certificates.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { checkHttp, loopbackGate } from '../../support/http-check.ts';
import { arrived, serveHttp2, serveRaw } from '../../support/http-servers.ts';

const reason = new Error('nobody waits any more');

test('an abort before the check rejects at once', async () => {
  await expect(checkHttp('a.example', {}, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
});

test('an abort while the name is resolved rejects', async () => {
  const controller = new AbortController();
  const clock = new FakeClock();
  const gate: Gate = {
    pin: async (_, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error));
        controller.abort(reason);
      }),
    verify: () => null,
  };
  await expect(checkHttp('a.example', {}, { clock, gate, signal: controller.signal })).rejects.toBe(reason);
  expect(clock.pending).toBe(0);
});

test('an abort while connecting leaves no connection', async () => {
  await using server = await serveRaw(() => {});
  const controller = new AbortController();
  const clock = new FakeClock();
  const gate: Gate = {
    async pin(host, options) {
      const pinned = await loopbackGate().pin(host, options);
      process.nextTick(() => controller.abort(reason));
      return pinned;
    },
    verify: () => expect.unreachable('it must not connect'),
  };
  const checked = checkHttp(`a.example:${server.port}`, {}, { clock, gate, signal: controller.signal });
  await expect(checked).rejects.toBe(reason);
  expect(clock.pending).toBe(0);
  await arrived();
  await server.drained();
});

const ok = 'HTTP/1.1 200 OK\r\n';

test.each([
  ['in the TLS handshake', 'https', '', {}],
  ['while waiting for the first byte', 'http', '', {}],
  ['while waiting for the headers', 'http', `${ok}Server: x`, {}],
  ['while waiting for the body', 'http', `${ok}Content-Length: 10\r\n\r\nhello`, {}],
  [
    'while decompressing',
    'http',
    `${ok}Content-Encoding: gzip\r\nContent-Length: 100\r\n\r\n\x1f\x8b\x08\x00`,
    { expect: { body: { contains: 'x' } } },
  ],
])('an abort %s closes the connection', async (_, scheme, text, options) => {
  await using server = await serveRaw((socket) => void socket.once('data', () => socket.write(text, 'latin1')));
  const controller = new AbortController();
  const clock = new FakeClock();
  const connected = server.connection();
  const checked = checkHttp(`${scheme}://a.example:${server.port}`, options, { clock, signal: controller.signal });
  const rejected = expect(checked).rejects.toBe(reason);
  await once(await connected, 'data');
  await arrived();
  controller.abort(reason);
  await rejected;
  await server.drained();
  expect(clock.pending).toBe(0);
});

test('an abort of an HTTP/2 request closes the connection', async () => {
  const certificate = await issue({ names: ['a.example'] });
  let answer = () => {};
  const asked = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await using server = await serveHttp2(certificate, (_, response) => {
    response.write('x');
    answer();
  });
  const controller = new AbortController();
  const options = { tls: { verify: false } };
  const checked = checkHttp(`https://a.example:${server.port}`, options, { signal: controller.signal });
  const rejected = expect(checked).rejects.toBe(reason);
  await asked;
  controller.abort(reason);
  await rejected;
  await server.drained();
});

test('a check that ends leaves no timer behind', async () => {
  await using server = await serveRaw((socket) => void socket.once('data', () => socket.end(`${ok}\r\n`)));
  const clock = new FakeClock();
  await checkHttp(`a.example:${server.port}`, {}, { clock });
  expect(clock.pending).toBe(0);
});
