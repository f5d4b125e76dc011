import { request as httpRequest } from 'node:http';
import { once } from 'node:events';
import { json } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { createControls } from '#monitor/controls.ts';
import { type ControlRoutes, controlRoutes } from '#web/control.ts';
import { serveWeb } from '../../support/web.ts';
import { startScenario, target } from '../../support/scenario.ts';
import { seededRandom } from '../../support/seeded-random.ts';

const applied = { ok: true, added: ['blog'], changed: [], removed: [], needsRestart: ['http'] } as const;

async function serve(reload: ControlRoutes['reload'] = async () => applied) {
  const scenario = await startScenario({ targets: [target('shop')] });
  const { clock } = scenario;
  const controls = createControls({ monitor: () => scenario.monitor, clock, random: seededRandom(1) });
  const server = await serveWeb({
    plugins: [
      controlRoutes({
        ...controls,
        deliveriesOf: (id) => scenario.store.listDeliveries().filter(({ incidentId }) => incidentId === id),
        reload,
        gatherEvidence: async (name) => ({ target: name, incident: null, parts: [] }),
        outline: (salt) => ({ salt }),
      }),
    ],
  });
  const ask = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const options = { host: '127.0.0.1', port: server.addr().port, method, path, agent: false };
    const type = body === undefined ? {} : { 'content-type': 'application/json' };
    const request = httpRequest({ ...options, headers: { ...type, ...headers } });
    request.end(body === undefined ? '' : JSON.stringify(body));
    const [response] = await once(request, 'response');
    return { status: response.statusCode, body: (await json(response)) as Record<string, unknown> };
  };
  return {
    scenario,
    ask,
    async [Symbol.asyncDispose]() {
      await server.close();
      await scenario[Symbol.asyncDispose]();
    },
  };
}

const silence = { targets: ['shop'], for: '2h', why: 'it\nmoves' };

test('a silence can begin later, and one that is to begin in the past begins now', async () => {
  await using served = await serve();
  const begin = async (from: string) =>
    (await served.ask('POST', '/-/silences', { ...silence, from })).body['silence'] as { from: string; until: string };
  expect(await begin('2026-02-01T00:00:00+01:00')).toMatchObject({
    from: '2026-01-31T23:00:00.000Z',
    until: '2026-02-01T01:00:00.000Z',
  });
  expect(await begin('2025-02-01T00:00:00Z')).toMatchObject({ from: '2026-01-01T00:00:00.000Z' });
  expect(await served.ask('POST', '/-/silences', { ...silence, from: 'noon' })).toMatchObject({ status: 400 });
});

test('a silence is added, listed and ended', async () => {
  await using served = await serve();
  const added = await served.ask('POST', '/-/silences', silence);
  expect(added).toMatchObject({
    status: 200,
    body: {
      ok: 1,
      silence: {
        targets: ['shop'],
        why: 'it moves',
        from: '2026-01-01T00:00:00.000Z',
        until: '2026-01-01T02:00:00.000Z',
      },
    },
  });
  const { id } = added.body['silence'] as { id: string };
  expect((await served.ask('GET', '/-/silences')).body).toMatchObject({ silences: [{ id }] });
  await served.scenario.clock.advance(60_000);
  const ended = await served.ask('POST', `/-/silences/${id}/expire`);
  expect(ended).toMatchObject({ status: 200, body: { silence: { id, until: '2026-01-01T00:01:00.000Z' } } });
  expect((await served.ask('GET', '/-/silences')).body).toEqual({ ok: 1, silences: [] });
  expect(await served.ask('POST', `/-/silences/${id}/expire`)).toMatchObject({
    status: 404,
    body: { error: 'not_found' },
  });
});

test('an incident is listed and acknowledged by its name', async () => {
  await using served = await serve();
  served.scenario.see('shop', 'd');
  await served.scenario.clock.advance(120_000);
  const [{ id, deliveries }] = (await served.ask('GET', '/-/incidents')).body['incidents'] as [
    { id: string; deliveries: unknown[] },
  ];
  expect(deliveries).toMatchObject([{ kind: 'opened', recipient: 'ops@example.com', channel: 'email' }]);
  const answer = await served.ask('POST', '/-/incidents/acknowledge', { incident: id, why: 'we know' });
  expect(answer).toMatchObject({
    status: 200,
    body: { incident: { id, target: 'shop', acknowledged: 'we know', held: null } },
  });
  expect(served.scenario.store.incidents.get(id)?.acknowledged?.why).toBe('we know');
});

test.each([
  {
    name: 'a target that is not watched',
    path: '/-/silences',
    body: { ...silence, targets: ['shopp'] },
    status: 404,
    says: 'there is no target shopp',
  },
  {
    name: 'a duration without a unit',
    path: '/-/silences',
    body: { ...silence, for: '2' },
    status: 400,
    says: 'expected a duration',
  },
  { name: 'no reason', path: '/-/silences', body: { ...silence, why: '' }, status: 400, says: 'why' },
  { name: 'an unknown key', path: '/-/silences', body: { ...silence, until: 'noon' }, status: 400, says: 'until' },
  { name: 'no body', path: '/-/silences', body: undefined, status: 400, says: '' },
  {
    name: 'an incident that is not open',
    path: '/-/incidents/acknowledge',
    body: { incident: 'x', why: 'y' },
    status: 404,
    says: 'there is no open incident x',
  },
])('refuses $name, and says why', async ({ path, body, status, says }) => {
  await using served = await serve();
  const answer = await served.ask('POST', path, body);
  expect(answer).toMatchObject({ status, body: { ok: 0 } });
  expect(answer.body['message']).toContain(says);
});

test('a reload answers with what it did, or with every mistake', async () => {
  await using good = await serve();
  expect(await good.ask('POST', '/-/reload')).toEqual({ status: 200, body: { ...applied, ok: 1 } });
  await using bad = await serve(async () => ({
    ok: false,
    problems: ['watchpost.yaml:1:1: a', 'watchpost.yaml:2:1: b'],
  }));
  expect(await bad.ask('POST', '/-/reload')).toMatchObject({
    status: 422,
    body: { ok: 0, error: 'config_invalid', problems: ['watchpost.yaml:1:1: a', 'watchpost.yaml:2:1: b'] },
  });
});

test.each<[string, Record<string, string>]>([
  ['through a proxy', { 'x-forwarded-for': '192.0.2.1' }],
  ['from a web page', { origin: 'https://example.com' }],
  ['under another name', { host: 'attacker.example.com' }],
])('refuses who comes %s', async (_, headers) => {
  let reloads = 0;
  await using served = await serve(async () => {
    reloads += 1;
    return applied;
  });
  expect(await served.ask('POST', '/-/reload', undefined, headers)).toMatchObject({
    status: 403,
    body: { error: 'forbidden' },
  });
  expect(await served.ask('GET', '/-/incidents', undefined, headers)).toMatchObject({ status: 403 });
  expect(reloads).toBe(0);
});
