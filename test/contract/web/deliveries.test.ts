import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import type { ListedDelivery } from '#monitor/judge/delivery.ts';
import { type DeliveryDesk, deliveryRoutes } from '#web/deliveries.ts';
import type { WebServer } from '#web/server.ts';
import { serveWeb } from '../../support/web.ts';
import { delivery } from '../../support/incidents.ts';

const dead: ListedDelivery = {
  ...delivery({ id: 7, attempts: 1, lastError: '550 no such user' }),
  target: 'shop',
  state: 'dead',
  settledAt: Date.parse('2026-01-01T12:02:00Z'),
  message: 'm1',
  reference: null,
};

async function start() {
  const asked: unknown[] = [];
  let woken = 0;
  const store: DeliveryDesk['store'] = {
    listDeliveries(options) {
      asked.push(options);
      return [dead];
    },
    retryDeliveries(ids) {
      asked.push(ids);
      return ids === null ? 3 : ids.filter((id) => id === 7).length;
    },
  };
  const server = await serveWeb({
    plugins: [deliveryRoutes({ store, wakeOutbox: () => void (woken += 1) })],
  });
  return { server, asked, woken: () => woken, [Symbol.asyncDispose]: async () => server.close() };
}

interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

async function ask(server: WebServer, path: string, { method = 'GET', headers = {}, body = '' }: Asked = {}) {
  const { port } = server.addr();
  const json = body === '' ? {} : { 'content-type': 'application/json' };
  const request = httpRequest({
    host: '127.0.0.1',
    port,
    path,
    method,
    headers: { ...json, ...headers },
    agent: false,
  });
  request.end(body);
  const [response] = await once(request, 'response');
  return { status: response.statusCode, body: JSON.parse(await text(response)) };
}

const retry = (body: unknown): Asked => ({ method: 'POST', body: JSON.stringify(body) });

describe('a program on this machine', () => {
  test('is shown deliveries with their last error', async () => {
    await using place = await start();
    const answer = await ask(place.server, '/-/deliveries?state=dead&limit=5');
    expect(place.asked).toEqual([{ state: 'dead', limit: 5 }]);
    expect(answer).toEqual({
      status: 200,
      body: {
        ok: 1,
        deliveries: [
          {
            id: 7,
            state: 'dead',
            kind: 'opened',
            number: 1,
            target: 'shop',
            incident: dead.incidentId,
            channel: 'email',
            recipient: 'ops@example.com',
            attempts: 1,
            message: 'm1',
            last_error: '550 no such user',
            created_at: '2026-01-01T12:01:30.000Z',
            next_attempt_at: null,
            settled_at: '2026-01-01T12:02:00.000Z',
          },
        ],
      },
    });
  });

  test('has deliveries tried again, and the outbox wakes up', async () => {
    await using place = await start();
    expect(await ask(place.server, '/-/deliveries/retry', retry({ ids: [7, 8] }))).toMatchObject({
      body: { retried: 1 },
    });
    expect(await ask(place.server, '/-/deliveries/retry', retry({ all: true }))).toMatchObject({
      body: { retried: 3 },
    });
    expect(await ask(place.server, '/-/deliveries/retry', retry({ ids: [8] }))).toMatchObject({ body: { retried: 0 } });
    expect(place.asked).toEqual([[7, 8], null, [8]]);
    expect(place.woken()).toBe(2);
  });

  test.each([{}, { ids: [] }, { ids: ['7'] }, { ids: [7], all: true }, { all: false }, 7])(
    'is told that %j is no wish',
    async (body) => {
      await using place = await start();
      expect(await ask(place.server, '/-/deliveries/retry', retry(body))).toMatchObject({
        status: 400,
        body: { ok: 0 },
      });
      expect(place.asked).toEqual([]);
    },
  );

  test.each(['state=lost', 'limit=0', 'limit=x'])('is told that %s is no question', async (query) => {
    await using place = await start();
    expect(await ask(place.server, `/-/deliveries?${query}`)).toMatchObject({ status: 400 });
  });
});

describe('anybody else', () => {
  test.each([
    { name: 'through a proxy', headers: { 'x-forwarded-for': '192.0.2.1' } },
    { name: 'through a proxy that says so in the new way', headers: { forwarded: 'for=192.0.2.1' } },
    { name: 'through a gateway', headers: { via: '1.1 gateway' } },
    { name: 'from a page in a browser', headers: { origin: 'https://evil.example' } },
    { name: 'from a page that hides where it is from', headers: { 'sec-fetch-site': 'cross-site' } },
    { name: 'under a name that was bent to this machine', headers: { host: 'evil.example' } },
  ])('$name is refused', async ({ headers }) => {
    await using place = await start();
    for (const request of [{ headers }, { ...retry({ all: true }), headers }]) {
      const path = request.headers === headers && 'body' in request ? '/-/deliveries/retry' : '/-/deliveries';
      expect(await ask(place.server, path, request)).toMatchObject({ status: 403, body: { error: 'forbidden' } });
    }
    expect(place.asked).toEqual([]);
  });

  test.each(['localhost', '127.0.0.1:8080', '[::1]:8080'])('who calls this machine %s is served', async (host) => {
    await using place = await start();
    expect(await ask(place.server, '/-/deliveries', { headers: { host } })).toMatchObject({ status: 200 });
  });
});
