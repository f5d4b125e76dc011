import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { call } from '#channels/call.ts';

test('a call that was answered before it was sent whole hears of no end that comes later', async () => {
  const server = createServer((request, reply) => {
    reply.writeHead(200, { 'content-length': '2' }).end('ok');
    setImmediate(() => request.resume());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const unheard: unknown[] = [];
  const hear = (error: unknown) => void unheard.push(error);
  process.on('uncaughtException', hear);
  const closing = new AbortController();
  const answered = await call({ url, method: 'POST', headers: {}, body: 'x'.repeat(5_000_000) }, closing.signal);
  expect(answered).toMatchObject({ status: 200, text: 'ok' });
  closing.abort(new Error('the channel was closed'));
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
  process.off('uncaughtException', hear);
  expect(unheard).toEqual([]);
});
