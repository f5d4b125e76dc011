import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openConfigSource } from '#config/apply/config-source.ts';
import { askEachTime } from '#config/lists/listed-targets.ts';
import { loadConfig } from '#config/load.ts';
import { systemClock } from '#kernel/clock.ts';
import { commandHere } from '../../support/command.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { type ApiObject, type KubernetesApi, startKubernetesApi } from '../../support/kubernetes-api.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { eventually } from '../../support/program.ts';

const paths = {
  ingress: '/apis/networking.k8s.io/v1/ingresses',
  httproute: '/apis/gateway.networking.k8s.io/v1/httproutes',
  gateway: '/apis/gateway.networking.k8s.io/v1/gateways',
  service: '/api/v1/services',
} as const;

let folder = '';
let api: KubernetesApi;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'watchpost-kubernetes-'));
  api = await startKubernetesApi();
  await writeFile(join(folder, 'token'), `${api.token}\n`);
  await writeFile(join(folder, 'ca.crt'), api.ca);
  api.objects.set(paths.ingress, [
    annotated('shop', { 'watchpost.host': 'https://{host}/health', 'watchpost.label.team': 'web' }, ingress),
    { metadata: { name: 'unwatched', namespace: 'shop' }, spec: ingress },
  ]);
  api.objects.set(paths.service, [annotated('db', { 'watchpost.host': '{host}:5432' }, { clusterIP: '10.0.0.1' })]);
});
afterEach(async () => {
  await api[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

const ingress = { rules: [{ host: 'shop.example.com' }, { host: '*.example.com' }, {}] };

function annotated(name: string, annotations: Record<string, string>, spec: object = {}): ApiObject {
  return { metadata: { name, namespace: 'shop', annotations }, spec };
}

const pod = () => ({ KUBERNETES_SERVICE_HOST: '127.0.0.1', KUBERNETES_SERVICE_PORT: String(api.port) });
const files = 'token_file: token, ca_file: ca.crt';

async function put(kubernetes = '{}', ask = files): Promise<string> {
  const path = join(folder, 'watchpost.yaml');
  const entry = `{ kubernetes: ${kubernetes}, ask: { ${ask} }, check: tcp }`;
  await writeFile(path, `data: watchpost.db\ntargets_from: { k: ${entry} }\n`);
  return path;
}

/** What `config check` says of the list, with the variables of a pod. */
async function said(kubernetes?: string, ask?: string, env: Record<string, string> = pod()) {
  const { out, err } = await commandHere(['config', 'check', '--config', await put(kubernetes, ask)], { env });
  return `${out}${err}`;
}

async function targets(kubernetes?: string) {
  const path = await put(kubernetes);
  const { targets: all } = await loadConfig({ path, env: pod(), readList: askEachTime(systemClock) });
  return all.map(({ name, labels }) => ({ name, labels }));
}

test('annotated objects become targets with their hosts and labels, and the others do not', async () => {
  expect(await targets()).toEqual([
    { name: 'k-db-shop-svc-5432', labels: { kind: 'Service', name: 'db', namespace: 'shop' } },
    { name: 'k-shop-example-com-health', labels: { kind: 'Ingress', name: 'shop', namespace: 'shop', team: 'web' } },
  ]);
});

test('routes and gateways give their host names', async () => {
  const host = { 'watchpost.host': '{host}:443 {name}.{namespace}:80' };
  api.objects.set(paths.httproute, [annotated('r', host, { hostnames: ['a.example.com', '*.b.example.com'] })]);
  api.objects.set(paths.gateway, [
    annotated('g', host, { listeners: [{ hostname: 'c.example.com' }, { hostname: 'c.example.com' }, { port: 80 }] }),
  ]);
  const names = (await targets('{ kinds: [httproute, gateway] }')).map(({ name }) => name);
  expect(names.toSorted()).toEqual(['k-a-example-com-443', 'k-c-example-com-443', 'k-g-shop-80', 'k-r-shop-80']);
  expect(api.received.every((one) => one.startsWith('GET /apis/gateway.networking.k8s.io/v1/'))).toBe(true);
});

test('a cluster with IPv6 alone gives its address without brackets', async () => {
  await using other = await startKubernetesApi(api.token, '::1');
  other.objects.set(paths.service, []);
  other.objects.set(paths.ingress, []);
  await writeFile(join(folder, 'ca.crt'), other.ca);
  const env = { KUBERNETES_SERVICE_HOST: '::1', KUBERNETES_SERVICE_PORT: String(other.port) };
  expect(await said('{}', files, env)).toContain(`0 targets from Kubernetes at https://[::1]:${other.port}\n`);
  expect(other.received).toHaveLength(4);
});

test('a given address is asked, and only the kinds and namespaces that are named', async () => {
  api.objects.set('/api/v1/namespaces/shop/services', [annotated('db', { 'watchpost.host': '{host}:1' })]);
  api.objects.set('/api/v1/namespaces/blog/services', []);
  const text = await said(
    `{ url: "https://127.0.0.1:${api.port}/", kinds: [service], namespaces: [shop, blog] }`,
    files,
    {},
  );
  expect(text).toContain('1 target');
  expect(api.received).toEqual([
    'GET /api/v1/namespaces/shop/services?limit=250',
    'GET /api/v1/namespaces/blog/services?limit=250',
  ]);
});

test('long lists are read page by page', async () => {
  const names = Array.from({ length: 23 }, (_, index) => `s${index}`);
  api.objects.set(
    paths.service,
    names.map((name) => annotated(name, { 'watchpost.host': '{host}:1' })),
  );
  api.pageSize = 10;
  expect(await targets('{ kinds: [service] }')).toHaveLength(23);
  expect(api.received).toEqual(
    ['', '&continue=10', '&continue=20'].map((next) => `GET ${paths.service}?limit=250${next}`),
  );
});

test('a page that has expired begins the list again, and once only', async () => {
  api.objects.set(
    paths.service,
    ['a', 'b', 'c'].map((name) => annotated(name, { 'watchpost.host': '{host}:1' })),
  );
  api.pageSize = 2;
  let expired = 0;
  api.refuse = (_path, query) =>
    query.has('continue') && expired++ === 0
      ? { status: 410, message: 'The provided continue parameter is too old' }
      : null;
  expect((await targets('{ kinds: [service] }')).map(({ name }) => name)).toEqual(
    ['a', 'b', 'c'].map((name) => `k-${name}-shop-svc-1`),
  );
  api.refuse = (_path, query) => (query.has('continue') ? { status: 410, message: 'too old' } : null);
  expect(await said('{ kinds: [service] }')).toContain(`answered ${paths.service} with status 410: too old`);
});

test.each([
  [401, '{}', 'the API server does not accept the token (401): no'],
  [
    403,
    '{}',
    'it may not list ingresses (403): bind a ClusterRole with the rule { apiGroups: ["networking.k8s.io"], resources: [ingresses], verbs: [list, watch] }',
  ],
  [
    403,
    '{ kinds: [service], namespaces: [shop] }',
    'it may not list services (403): bind a Role in shop with the rule { apiGroups: [""], resources: [services], verbs: [list, watch] }',
  ],
  [500, '{ kinds: [service] }', 'the API server answered /api/v1/services with status 500: no'],
  [302, '{ kinds: [service] }', 'the API server answered /api/v1/services with status 302: no'],
])('status %d for %s is named with what to do', async (status, kubernetes, message) => {
  api.refuse = () => ({ status, message: 'no' });
  const text = await said(kubernetes);
  expect(text).toContain(message);
  expect(text).not.toContain(api.token);
});

test('a cluster without the Gateway API is asked for the rest, unless it was named', async () => {
  expect(await targets()).toHaveLength(2);
  expect(await said('{ kinds: [gateway] }')).toContain(`the API server has no ${paths.gateway} (404)`);
});

test('what is missing to ask is named', async () => {
  expect(await said('{}', files, {})).toContain('KUBERNETES_SERVICE_HOST is not set, as it is in pods: set url');
  expect(await said('{}', 'token_file: nowhere, ca_file: ca.crt')).toMatch(
    /cannot read \S+nowhere: there is no such file/,
  );
  expect(await said('{}', 'every: 1m')).toContain('cannot read /var/run/secrets/kubernetes.io/serviceaccount/token');
  const untrusted = await said(`{ url: "https://127.0.0.1:${api.port}" }`, 'token_file: token');
  expect(untrusted).toMatch(/certificate/);
  expect(api.received).toEqual([]);
});

test.each([
  ['{ url: "https://a/?x" }', files, 'targets_from.k.kubernetes.url: expected the address of an API server'],
  ['{ kinds: [pod] }', files, 'targets_from.k.kubernetes.kinds'],
  ['{ namespaces: [a/../b] }', files, 'targets_from.k.kubernetes.namespaces: expected names of namespaces'],
  ['{}', 'headers: { a: b }', 'targets_from.k.ask.headers: is for url only'],
  ['{}', 'server: 127.0.0.1', 'targets_from.k.ask.server: is for srv only'],
])('%s with %s is refused', async (kubernetes, ask, message) => {
  expect(await said(kubernetes, ask)).toContain(message);
});

test('what is no list, and what is too long, is no list of targets', async () => {
  api.objects.set(paths.service, [{ metadata: { name: 5 } } as unknown as ApiObject]);
  expect(await said('{ kinds: [service] }')).toContain(`its answer to ${paths.service} is no list of Kubernetes' API`);
  api.objects.set(paths.service, [annotated('big', { x: 'x'.repeat(17 * 1_048_576) })]);
  expect(await said('{ kinds: [service] }')).toContain('its answer has more than 16777216 bytes');
});

test('the daemon follows changes and renewed tokens, and keeps the last list while the API server refuses', async () => {
  const clock = new FakeClock();
  const { log, lines } = memoryLog();
  using opened = openConfigSource({ path: await put('{ kinds: [service] }'), env: pod(), clock, log });
  const names = async () => (await opened.load()).targets.map(({ name }) => name);
  async function minute(): Promise<void> {
    const { failures = 0, hadAt = null } = opened.lists()[0] ?? {};
    await clock.advance(60_000);
    await opened.fingerprint();
    await eventually(30_000, () => expect(opened.lists()[0]).not.toMatchObject({ failures, hadAt }));
  }
  expect(await names()).toEqual(['k-db-shop-svc-5432']);
  const before = await opened.fingerprint();
  api.token = 'renewed';
  await minute();
  expect(lines.map(({ msg }) => msg)).toContain('cannot fetch target list; keeping the last one');
  expect(await names()).toEqual(['k-db-shop-svc-5432']);
  await writeFile(join(folder, 'token'), 'renewed');
  expect(await opened.fingerprint()).toBe(before);
  api.objects.set(paths.service, [annotated('cache', { 'watchpost.host': '{host}:6379' })]);
  await minute();
  expect(lines.map(({ msg }) => msg)).toContain('target list is available again');
  expect(await names()).toEqual(['k-cache-shop-svc-6379']);
  expect(JSON.stringify(lines)).not.toMatch(/secret-token|renewed/);
});

test('an API server that does not answer has ten seconds', async () => {
  api.refuse = () => 'hang';
  const clock = new FakeClock();
  using opened = openConfigSource({ path: await put('{ kinds: [service] }'), env: pod(), clock, log: memoryLog().log });
  const loading = opened.load();
  await eventually(30_000, () => expect(api.received).toHaveLength(1));
  await clock.advance(10_000);
  expect((await loading).lists).toMatchObject([
    { shown: `Kubernetes at https://127.0.0.1:${api.port}`, targets: 0, trouble: 'no answer within 10 s' },
  ]);
});
