import { expect, test } from 'vitest';
import { minute, serveHistory as serve } from '../../support/history-server.ts';
import { start } from '../../support/store.ts';

const get = async (url: string, headers: Record<string, string> = {}) => {
  const response = await fetch(url, { headers });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text) };
};

// fetch of Node adds sec-fetch-mode only, so that it is a program on this machine.
test('targets are listed by pages, and one tells how it was and from where', async () => {
  const base = await serve();
  const first = await get(`${base}/api/v1/targets?limit=1`);
  expect(first.body).toMatchObject({ ok: 1, targets: [{ name: 'mail', incidents: [{ word: 'DOWN' }] }], next: 'mail' });
  const second = await get(`${base}/api/v1/targets?limit=1&after=mail`);
  expect(second.body).toMatchObject({ targets: [{ name: 'shop', status: 'up', labels: { team: 'web' } }], next: null });
  expect((await get(`${base}/api/v1/targets?label=team:web`)).body.targets).toHaveLength(1);
  const query = `from=${new Date(start).toISOString()}&to=${new Date(start + 10 * minute).toISOString()}`;
  expect((await get(`${base}/api/v1/targets/shop?${query}`)).body.target).toMatchObject({
    name: 'shop',
    figures: { uptime: 0.9, time: { down: 60, up: 540 }, latency: { count: 9, max: 0.02 } },
    nodes: [{ node: 'de1', answers: { up: 9, down: 1 } }],
  });
  expect((await get(`${base}/api/v1/targets/nobody`)).status).toBe(404);
});

test('a series has its steps, a report each target, and incidents their deliveries', async () => {
  const base = await serve();
  const query = `from=${new Date(start).toISOString()}&to=${new Date(start + 10 * minute).toISOString()}`;
  const { series } = (await get(`${base}/api/v1/targets/shop/series?${query}&step=5m`)).body;
  expect(series).toMatchObject({ step_seconds: 300, parts: [{ uptime: 1 }, { uptime: 0.8 }] });
  const report = (await get(`${base}/api/v1/report?${query}`)).body;
  expect(report.targets.map((one: { target: string; uptime: number }) => [one.target, one.uptime])).toEqual([
    ['mail', null],
    ['shop', 0.9],
  ]);
  const [{ id }] = (await get(`${base}/api/v1/incidents?open=true`)).body.incidents;
  expect((await get(`${base}/api/v1/incidents/${id}`)).body.incident).toMatchObject({
    started_at: new Date(start + 5 * minute - 30_000).toISOString(),
    later_causes: [],
    deliveries: [{ kind: 'opened', recipient: 'ops@example.com', state: 'pending' }],
  });
  expect((await get(`${base}/api/v1/incidents/nonsense`)).status).toBe(404);
});

test('a series of a target that never was is a 404, and not a line of nothing', async () => {
  const { status, body } = await get(`${await serve()}/api/v1/targets/shpo/series`);
  expect([status, body]).toEqual([
    404,
    {
      ok: 0,
      error: 'not_found',
      message: 'there is no target shpo, and there is no history of one in this span',
    },
  ]);
});

test('an answer that is known already is not sent again', async () => {
  const base = await serve();
  const { headers, status } = await get(`${base}/api/v1/targets/shop`);
  expect(status).toBe(200);
  const etag = headers.get('etag') ?? '';
  const again = await get(`${base}/api/v1/targets/shop`, { 'if-none-match': `W/${etag}` });
  expect([again.status, again.body]).toEqual([304, null]);
});

test.each([
  '/api/v1/targets?limit=0',
  '/api/v1/targets?nonsense=1',
  '/api/v1/targets?label=team',
  '/api/v1/targets/shop/series?from=yesterday',
  '/api/v1/targets/shop/series?from=2020-01-01T00:00:00Z&step=1m',
  '/api/v1/incidents?after=nonsense',
])('%s is refused with a reason', async (path) => {
  const { status, body } = await get(`${await serve()}${path}`);
  expect([status, body.error]).toEqual([400, 'bad_request']);
});

test.each([
  ['targets?limit=0', 'limit: must be at least 1'],
  ['targets?limit=x', 'limit: expected a number'],
  ['targets?lable=team:web', 'lable: unknown key (did you mean "label"?)'],
  ['targets?label=team', 'label: expected a label and its value, such as team:web'],
  ['targets/shop?from=yesterday', 'from: expected a time, such as "2026-11-21T04:35:00Z"'],
  ['targets/shop/series?step=1', 'step: expected a duration with its unit, such as "30s", "800ms" or "1m30s"'],
])('the refusal of /api/v1/%s says where and what is wrong', async (path, message) => {
  expect((await get(`${await serve()}/api/v1/${path}`)).body.message).toBe(message);
});

test.each(['targets/shop', 'targets/shop/series', 'report', 'incidents'])(
  'a span of /api/v1/%s that ends before it begins is refused',
  async (path) => {
    const query = 'from=2026-11-28T03:00:00Z&to=2026-11-28T02:00:00Z';
    const { status, body } = await get(`${await serve()}/api/v1/${path}?${query}`);
    expect([status, body.message]).toEqual([
      400,
      'from: must not be after the end of the span, 2026-11-28T02:00:00.000Z',
    ]);
  },
);

test('whoever comes through a proxy is refused', async () => {
  const { status } = await get(`${await serve()}/api/v1/targets`, { 'x-forwarded-for': '192.0.2.1' });
  expect(status).toBe(403);
});
