import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { webhook } from '#channels/webhook.ts';
import { WebhookBody } from '#channels/webhook-body.ts';
import { DeadlineError } from '#kernel/clock.ts';
import { Secret } from '#kernel/secret.ts';
import { userAgent } from '#kernel/version.ts';
import { type Message, renewalTimes } from '#monitor/notify/channel.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { mailKinds } from '../../support/mail-kinds.ts';
import { memoryLog } from '../../support/memory-log.ts';

const secret = 's3cret';
const opened = mailKinds[0]!.message;

interface Call {
  readonly method: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

async function startHook(answer: (response: ServerResponse) => void) {
  const calls: Call[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      calls.push({ method: request.method, headers: request.headers, body });
      answer(response);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hooks?token=x`,
    calls,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function open(url: string) {
  const log = memoryLog().log;
  const shared = { folder: '/nowhere', hostname: 'localhost', renewal: renewalTimes, devices: null };
  const files = { secret_file: new Secret(secret) };
  const entry = webhook.Entry.parse({ url, secret_file: 'x' });
  const clock = new FakeClock('2026-01-01T12:01:30Z');
  return webhook.open({ ...shared, clock, log }, () => [{ notify: 'ops', entry, files }], {});
}

async function send(url: string, message: Message = opened, signal = AbortSignal.timeout(50_000), recipient = 'ops') {
  const channel = open(url);
  const receipt = await channel.send(message, recipient, signal);
  await channel.close();
  return receipt;
}

describe('a webhook', () => {
  test('gets a signed body that its secret verifies', async () => {
    await using hook = await startHook((response) => response.writeHead(204).end());
    expect(await send(hook.url)).toEqual({ kind: 'delivered', response: '204 No Content' });
    const [{ method, headers, body } = { method: '', headers: {}, body: '' }] = hook.calls;
    expect(method).toBe('POST');
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': userAgent,
      'watchpost-id': opened.id,
    });
    const [, time = '', signature] = /^t=(\d+),v1=([\da-f]{64})$/.exec(String(headers['watchpost-signature'])) ?? [];
    expect(Number(time)).toBe(Date.parse('2026-01-01T12:01:30Z') / 1_000);
    expect(signature).toBe(createHmac('sha256', secret).update(`${time}.${body}`).digest('hex'));
  });

  test.each(mailKinds)('gets a body of the documented form for $name', async ({ message }) => {
    await using hook = await startHook((response) => response.end());
    await send(hook.url, message);
    const body = WebhookBody.parse(JSON.parse(hook.calls[0]?.body ?? ''));
    expect(body).toMatchObject({ version: 1, id: message.id, kind: message.kind, subject: message.content.subject });
    expect(body.incidents.map(({ id }) => id)).toEqual(message.incidents.map(({ id }) => id));
  });

  test.each([
    { status: 200, kind: 'delivered' },
    { status: 202, kind: 'delivered' },
    { status: 302, kind: 'retry', says: /redirects are not followed/ },
    { status: 400, kind: 'rejected' },
    { status: 401, kind: 'retry' },
    { status: 403, kind: 'retry' },
    { status: 404, kind: 'retry' },
    { status: 408, kind: 'retry' },
    { status: 410, kind: 'rejected' },
    { status: 413, kind: 'rejected' },
    { status: 422, kind: 'rejected' },
    { status: 429, kind: 'retry' },
    { status: 500, kind: 'retry' },
    { status: 503, kind: 'retry' },
  ])('that answers $status means: $kind', async ({ status, kind, says = /./ }) => {
    await using hook = await startHook((response) => response.writeHead(status, { location: '/elsewhere' }).end());
    const receipt = await send(hook.url);
    expect(receipt).toMatchObject({ kind });
    expect('reason' in receipt ? receipt.reason : receipt.response).toMatch(says);
    expect(hook.calls).toHaveLength(1);
  });

  test.each([
    { name: 'seconds', value: '120', afterMs: 120_000 },
    { name: 'a date', value: 'Thu, 01 Jan 2026 12:06:30 GMT', afterMs: 300_000 },
    { name: 'a date that has passed', value: 'Thu, 01 Jan 2026 11:00:00 GMT', afterMs: 0 },
  ])('that asks for patience in $name gets it', async ({ value, afterMs }) => {
    await using hook = await startHook((response) => response.writeHead(429, { 'retry-after': value }).end());
    expect(await send(hook.url)).toEqual({ kind: 'retry', reason: '429 Too Many Requests', afterMs });
  });

  test('that never answers ends with the signal, and may have taken it', async () => {
    await using hook = await startHook(() => {});
    const controller = new AbortController();
    const sending = send(hook.url, opened, controller.signal);
    await expect.poll(() => hook.calls.length).toBe(1);
    controller.abort(new DeadlineError(60_000));
    expect(await sending).toEqual({ kind: 'retry', reason: 'not done within 60 s', isUncertain: true });
  });

  test('that drops the connection may have taken it', async () => {
    await using hook = await startHook((response) => response.socket?.destroy());
    expect(await send(hook.url)).toMatchObject({ kind: 'retry', isUncertain: true });
  });

  test('that is not there has not taken it', async () => {
    const server = createTcpServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    server.close();
    const receipt = await send(`http://127.0.0.1:${port}/`);
    expect(receipt).toEqual({ kind: 'retry', reason: expect.stringContaining('ECONNREFUSED') });
  });

  test('that is not configured any more gets nothing', async () => {
    await using hook = await startHook((response) => response.end());
    const receipt = await send(hook.url, opened, AbortSignal.timeout(50_000), 'gone');
    expect(receipt).toEqual({ kind: 'rejected', reason: 'notify.gone has no webhook any more' });
    expect(hook.calls).toEqual([]);
  });
});
