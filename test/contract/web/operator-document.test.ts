import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { Ajv2020 } from 'ajv/dist/2020.js';
import Fastify, { type FastifyPluginAsync } from 'fastify';
import { expect, onTestFinished, test } from 'vitest';
import { WatchpostError } from '#kernel/errors.ts';
import { sha256 } from '#kernel/hash.ts';
import { type ControlRoutes, controlRoutes } from '#web/control.ts';
import { loadAssets } from '#web/assets/assets.ts';
import { acknowledgeRoutes } from '#web/pages/acknowledge.ts';
import { createSite } from '#web/pages/site.ts';
import { beatRoutes } from '#web/beats.ts';
import { deliveryRoutes } from '#web/deliveries.ts';
import { addHealth } from '#web/health.ts';
import { historyDocument } from '#web/history-document.ts';
import { metricsRoute } from '#web/metrics.ts';
import { exclusionRoutes } from '#web/exclusions.ts';
import { subscriberRoutes } from '#web/subscribers.ts';
import { noteRoutes } from '#web/notes.ts';
import { stateRoutes } from '#web/states.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { serveWeb } from '../../support/web.ts';
import { silentLog, testMetrics } from '../../support/metrics.ts';
import { delivery, incident, start } from '../../support/store.ts';

interface Operation {
  readonly operationId: string;
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema: object }>> }>
  >;
}

const document = historyDocument();
const operations = Object.entries(document.paths as Readonly<Record<string, Readonly<Record<string, Operation>>>>)
  .filter(([path]) => !path.startsWith('/api/v1/'))
  .flatMap(([path, item]) => Object.entries(item).map(([method, operation]) => ({ path, method, operation })));

let isWell = true;
let isValid = true;
const silence = { id: 's1', targets: ['shop'], why: 'it moves', from: start, until: start + 1_000 };
const exclusion = { id: 'e1', target: 'shop', from: start, to: start + 1, why: 'provider', createdAt: start };
const ofThread = { thread: null, stage: 'resolved', targets: ['shop'] } as const;
const note = { id: 'n1', page: 'status', words: 'We know.', createdAt: start, endsAt: null, ...ofThread };
const subscriber = {
  id: 's1',
  page: 'status',
  address: 'ann@example.com',
  language: 'de',
  secret: 'x',
  askedAt: start,
  confirmedAt: null,
};
const open = incident('shop', start);
const listed = {
  ...delivery(open, { id: 1 }),
  target: 'shop',
  state: 'dead' as const,
  settledAt: start,
  message: null,
  reference: null,
};

function unlessMissing<Value>(id: string, value: Value): Value {
  if (id === 'nobody') throw new WatchpostError('usage', 'there is none of this id');
  return value;
}

const control: ControlRoutes = {
  reload: async () =>
    isValid
      ? { ok: true, added: ['a'], changed: [], removed: [], needsRestart: ['data'] }
      : { ok: false, problems: ['watchpost.yaml:1:1: no'] },
  silences: () => [silence],
  addSilence: ({ targets }) => unlessMissing(String(targets), silence),
  expireSilence: (id) => unlessMissing(id, silence),
  openIncidents: () => [open],
  deliveriesOf: () => [listed],
  acknowledge: async (id) => unlessMissing(id, open),
  gatherEvidence: async (name) => unlessMissing(name, { target: name, incident: null, parts: [] }),
  outline: (salt) => ({ salt }),
};
const health = {
  pulses: [{ name: 'outbox', ageMs: () => (isWell ? 0 : 100), limitMs: 10 }],
  notReady: () => (isWell ? [] : ['it starts']),
};
const adminPlugins: readonly FastifyPluginAsync[] = [
  controlRoutes(control),
  stateRoutes(() => ({
    version: 1,
    names: ['shop'],
    states: [
      { target: 'shop', check: 'tcp', host: 'h', status: 'up', since: null, seconds: 1, up: 1, nodes: 1, cause: null },
    ],
  })),
  noteRoutes({
    list: () => [note],
    since: () => [note],
    post: ({ page }) => unlessMissing(page, note),
    remove: (id) => unlessMissing(id, note),
  }),
  exclusionRoutes({
    list: () => [exclusion, { ...exclusion, target: null }],
    add: ({ target }) => unlessMissing(String(target), exclusion),
    remove: (id) => unlessMissing(id, exclusion),
  }),
  subscriberRoutes({ list: () => [subscriber], remove: (who) => unlessMissing(who, [subscriber]) }),
  deliveryRoutes({ store: { listDeliveries: () => [listed], retryDeliveries: () => 1 }, wakeOutbox: () => {} }),
];

const job = { target: 'backup', hash: sha256('known') };
// By it jobs may call again.
const clock = new FakeClock();
const links: readonly FastifyPluginAsync[] = [
  beatRoutes({
    ownersOf: () => [job],
    hear: async () => isWell,
    onAnswered: () => {},
    clock,
    log: silentLog,
  }),
  acknowledgeRoutes({
    site: createSite({ assets: await loadAssets(), places: [], service: null }),
    read: (token) =>
      token === 'nobody' ? null : { incident: open.id, channel: 'email', recipient: 'ops@example.com' },
    openIncidents: () => (isWell ? [open] : []),
    acknowledge: async () => open,
    incidentsOf: () => [open.id],
  }),
];

const bodies: Readonly<Record<string, object>> = {
  addSilence: { targets: ['shop'], for: '2h', why: 'it moves' },
  acknowledge: { incident: open.id, why: 'I look' },
  gatherEvidence: { target: 'shop' },
  postNote: { words: 'We know.' },
  addExclusion: { target: 'shop', from: '2026-01-01T00:00:00Z', to: '2026-01-01T01:00:00Z', why: 'provider' },
  removeSubscribers: { who: 'ann@example.com' },
  retryDeliveries: { all: true },
};
const missing: Readonly<Record<string, object>> = {
  addSilence: { targets: ['nobody'], for: '2h', why: 'it moves' },
  acknowledge: { incident: 'nobody', why: 'I look' },
  gatherEvidence: { target: 'nobody' },
  postNote: { page: 'nobody', words: 'We know.' },
  addExclusion: { target: 'nobody', from: '2026-01-01T00:00:00Z', to: '2026-01-01T01:00:00Z', why: 'provider' },
  removeSubscribers: { who: 'nobody' },
};

test('every route for operators, jobs and links stands in the document, and nothing else does', async () => {
  const app = Fastify();
  const served = new Set<string>();
  app.addHook('onRoute', ({ method, url }) => {
    for (const one of [method].flat())
      if (one !== 'HEAD') served.add(`${one.toLowerCase()} ${url.replaceAll(/:(\w+)/g, '{$1}')}`);
  });
  for (const plugin of [...adminPlugins, ...links]) await app.register(plugin);
  const metrics = testMetrics();
  await app.register(metricsRoute(metrics));
  addHealth(app, health, silentLog);
  await app.ready();
  expect(served).toEqual(new Set(operations.map(({ path, method }) => `${method} ${path}`)));
});

test('whatever an operator, a job or somebody with a link asks, the answer is one that the document describes', async () => {
  const metrics = testMetrics();
  const server = await serveWeb({
    metrics,
    metricsFor: 'this machine',
    health,
    plugins: links,
    adminPlugins,
  });
  onTestFinished(async () => server.close());
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  const seen = new Set<string>();
  for (const { path, method, operation } of operations) {
    const { operationId } = operation;
    const query = operationId === 'getPlan' ? '?salt=a' : '';
    const ways: readonly Way[] = [
      { name: 'plain', query, body: bodies[operationId] },
      { name: 'of nobody', query, id: 'nobody', body: missing[operationId] ?? bodies[operationId] },
      {
        name: 'with a wrong query',
        query: `?salt=&since=x&limit=x&page=${'x'.repeat(200)}`,
        body: bodies[operationId],
      },
      { name: 'through a proxy', query, headers: { 'x-forwarded-for': '192.0.2.1' } },
      { name: 'with headers without end', query, headers: { 'x-long': 'x'.repeat(20_000) } },
      ...(method === 'post'
        ? [
            { name: 'with no JSON', query, raw: '{' },
            { name: 'of a strange kind', query, raw: '<a/>', headers: { 'content-type': 'text/xml' } },
            { name: 'with too much', query, raw: JSON.stringify({ why: 'x'.repeat(100_000) }) },
          ]
        : []),
      ...(path.startsWith('/beat/')
        ? [
            { name: 'in a run of no name', query: '?rid=a%20b' },
            { name: 'too often', query, id: 'nobody', times: 31 },
          ]
        : []),
    ];
    for (const state of ['well', 'ill'] as const) {
      isWell = isValid = state === 'well';
      await clock.advance(60_000);
      for (const way of ways) {
        const url = `http://127.0.0.1:${server.addr().port}${pathOf(path, way)}${way.query}`;
        let answer = await ask(method, url, way);
        for (let left = way.times ?? 1; left > 1; left -= 1) answer = await ask(method, url, way);
        const asked = `${operationId} ${way.name}: ${answer.status} ${answer.text.slice(0, 300)}`;
        const described = operation.responses[answer.status];
        expect(described, asked).toBeDefined();
        seen.add(`${operationId} ${answer.status}`);
        const type = answer.type.replace(/;.*/, '');
        expect(Object.keys(described?.content ?? {}), asked).toContain(type);
        if (type !== 'application/json') continue;
        const shape = `${operationId} ${answer.status}`;
        const fits =
          ajv.getSchema(shape) ??
          ajv.compile({ ...described?.content?.[type]?.schema, $id: shape, components: document.components });
        expect(fits(JSON.parse(answer.text)), `${asked} ${JSON.stringify(fits.errors)}`).toBe(true);
      }
    }
  }
  isWell = isValid = true;
  const documented = operations.flatMap(({ operation }) =>
    Object.keys(operation.responses).map((status) => `${operation.operationId} ${status}`),
  );
  // A fault of ours is told elsewhere; health is refused to others where operators have a listener of their own.
  const elsewhere = / 500$|^get(?:Health|Readiness) 403$/;
  expect(documented.filter((one) => !seen.has(one) && !elsewhere.test(one))).toEqual([]);
});

interface Way {
  readonly name: string;
  readonly query: string;
  readonly id?: string;
  /** How often it is asked in a row. Default: once. */
  readonly times?: number;
  readonly body?: object | undefined;
  readonly raw?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const pathOf = (path: string, { id = 'known' }: Way) =>
  path.replace(/\{(?:id|secret|token)\}/, id).replace('{what}', 'start');

async function ask(method: string, url: string, { body, raw, headers = {} }: Way) {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const sent = raw ?? (body === undefined ? undefined : JSON.stringify(body));
  const type = sent === undefined ? {} : { 'content-type': 'application/json' };
  const asked = request(url, { method: method.toUpperCase(), headers: { ...type, ...headers }, agent: false }, resolve);
  asked.on('error', reject).end(sent);
  const response = await promise;
  return {
    status: response.statusCode ?? 0,
    type: response.headers['content-type'] ?? '',
    text: await text(response),
  };
}
