import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import Fastify from 'fastify';
import { expect, test } from 'vitest';
import { checkOf, type CheckTypeName, failed, failure, interfaceTypeNames, type Outcome } from '#checks/index.ts';
import { toWire } from '#protocol/wire.ts';
import { checkService } from '#service/http/routes.ts';
import { openApiDocument } from '#service/http/openapi.ts';
import {
  domain,
  fakeNodes,
  places,
  startService,
  type TestService,
  type TestServiceOptions,
} from '../../support/check-service.ts';
import { quiet } from '../../support/store.ts';
import { notUp } from '../../support/votes.ts';

type Json = Readonly<Record<string, unknown>>;
type Document = ReturnType<typeof openApiDocument>;

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: { readonly content: Json };
  readonly responses: Readonly<Record<string, { readonly headers?: Json; readonly content?: Json | undefined }>>;
}

const app = 'https://app.example.com';
const origins = [app];
const documents = [
  ...[false, true].map((compatible) => openApiDocument({ compatible, access: { origins: [] } })),
  openApiDocument({ compatible: false, access: { origins } }),
];
const operationsOf = (document: Document) =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods as Readonly<Record<string, Operation>>).map(([method, operation]) => ({
      path,
      method,
      operation,
    })),
  );

test('the document is valid OpenAPI 3.1', async () => {
  for (const document of documents) {
    const { valid, errors } = await new Validator().validate(JSON.parse(JSON.stringify(document)) as Json);
    expect({ valid, errors }).toEqual({ valid: true, errors: undefined });
  }
});

test('every reference of the document leads somewhere, and every operation has a name of its own', () => {
  const text = documents.map((document) => JSON.stringify(document)).join();
  const names = documents.flatMap((document) => Object.keys(document.components.schemas));
  const used = [...text.matchAll(/#\/components\/schemas\/(\w+)/g)].map(([, name]) => name ?? '');
  expect(new Set([...used, 'CheckResult', 'CheckResultExtended'])).toEqual(new Set(names));
  for (const document of documents) {
    const ids = [...JSON.stringify(document).matchAll(/"operationId":"(\w+)"/g)].map(([, name]) => name);
    expect(new Set(ids).size).toBe(ids.length);
    for (const type of interfaceTypeNames) expect(document.paths).toHaveProperty([`/check-${type}`]);
  }
});

test.each([
  { name: 'without origins', index: 0, origins: [] },
  { name: 'with named origins', index: 2, origins },
])('every route that is served stands in the document, and nothing else does: $name', async ({ index, ...access }) => {
  const server = Fastify();
  const routes = new Set<string>();
  server.addHook('onRoute', ({ method, url }) => {
    for (const one of [method].flat()) routes.add(`${one.toLowerCase()} ${url.replace(':id', '{id}')}`);
  });
  const options = { nodeDomain: domain, maxNodes: 1, publicUrl: null, compatible: false, log: quiet };
  await server.register(
    checkService({ ...options, checks: {}, limits: {}, destinations: {}, access, clock: {} } as never),
  );
  await server.ready();
  const missing = ['/check-result', '/check-result-extended', '/check-report'].flatMap((path) => [
    `get ${path}`,
    `head ${path}`,
    `post ${path}`,
    `options ${path}`,
  ]);
  const served = [...routes]
    .filter((route) => !missing.includes(route))
    .flatMap((route) =>
      route.includes(':type') ? interfaceTypeNames.map((type) => route.replace(':type', type)) : [route],
    );
  const written = operationsOf(documents[index]!).map(({ path, method }) => `${method} ${path}`);
  expect(new Set(written)).toEqual(new Set(served));
});

/** What a client does beside the plain call that the document describes. */
interface Way {
  readonly name: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly id?: string;
  readonly body?: string | FormData;
}

const ways: readonly Way[] = [
  { name: 'plain' },
  { name: 'as a browser', headers: { accept: 'text/html' } },
  { name: 'with a version', headers: { 'if-none-match': '*' } },
  { name: 'with all events heard', headers: { 'last-event-id': 'done' } },
  { name: 'of nothing', query: { host: '' }, id: '01234567890123456789' },
  {
    name: 'of nothing, as a browser',
    headers: { accept: 'text/html' },
    query: { host: '' },
    id: '01234567890123456789',
  },
  { name: 'of an identifier without end', id: 'x'.repeat(2_049) },
  { name: 'of a forbidden target', query: { host: '224.0.0.1' } },
  { name: 'on an unknown node', query: { node: 'fr1' } },
  { name: 'on a node that is none', query: { node: '!' } },
  { name: 'with a wrong token', headers: { authorization: 'Bearer wrong' } },
  { name: 'for another site', headers: { origin: 'https://evil.example' } },
  { name: 'with a broken body', headers: { 'content-type': 'application/json' }, body: '{' },
  { name: 'with too large a body', headers: { 'content-type': 'text/plain' }, body: 'x'.repeat(100_000) },
  { name: 'with a form', headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: 'max_nodes=1' },
  { name: 'with headers without end', headers: { 'x-long': 'x'.repeat(20_000) } },
];

const plain = ways.slice(0, 1);

const tcpDown = (): Outcome => failed(failure('target', 'refused', 'connection refused'), { address: '127.0.0.1' });

/** Asks for everything in the document in every way, and gives what answered with which status. */
async function askEverything(
  service: TestService,
  document: Document,
  chosen: readonly Way[] = ways,
): Promise<ReadonlySet<string>> {
  const fitting = validators(document);
  const started = await fetch(`${service.url}/check-tcp?host=127.0.0.1`);
  const { request_id: own = 'none' } = (await started.json()) as { request_id?: string };
  const seen = new Set<string>();
  for (const { path, method, operation } of operationsOf(document)) {
    for (const way of chosen) {
      if (way.body !== undefined && method !== 'post') continue;
      const asked = `${method} ${path} ${way.name}`;
      const answer = await fetch(urlOf(service.url + path.replace('{id}', way.id ?? own), operation, way), {
        method,
        redirect: 'manual',
        headers: {
          ...way.headers,
          ...(path.startsWith('/api') && way.body === undefined && method === 'post' ? json : {}),
        },
        ...bodyOf(path, method, way),
      });
      const { status } = answer;
      const described = operation.responses[status];
      expect(described, `${asked}: ${status} ${await answer.clone().text()}`).toBeDefined();
      seen.add(`${method} ${path} ${status}`);
      expect(missingHeaders(answer, described?.headers ?? {}), asked).toEqual([]);
      const type = (answer.headers.get('content-type') ?? '').split(';')[0] ?? '';
      const text = await answer.text();
      if (described?.content === undefined) {
        expect(text, asked).toBe('');
        continue;
      }
      const content = described.content[type] as { schema: object } | undefined;
      expect(content, `${asked}: ${status} as ${type}`).toBeDefined();
      if (type !== 'application/json') continue;
      const fits = fitting(content?.schema ?? {});
      expect(fits(JSON.parse(text)), `${asked}: ${text} ${JSON.stringify(fits.errors)}`).toBe(true);
    }
  }
  return seen;
}

/** A check of answers against a schema of the document. Each is compiled once, with what it refers to. */
function validators({ components }: Document) {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, inlineRefs: false });
  ajv.addSchema({ $id: 'document', components });
  const compiled = new Map<string, ValidateFunction>();
  return (schema: object): ValidateFunction => {
    const key = JSON.stringify(schema).replaceAll('"#/components/', '"document#/components/');
    const known = compiled.get(key) ?? ajv.compile(JSON.parse(key) as object);
    compiled.set(key, known);
    return known;
  };
}

const json = { 'content-type': 'application/json' };

function urlOf(base: string, { parameters = [] }: Operation, { query = {} }: Way): string {
  const all: Readonly<Record<string, string>> = { host: '127.0.0.1', ...query };
  const known = Object.entries(all).filter(([name]) =>
    parameters.some((one) => one.in === 'query' && one.name === name),
  );
  return `${base}?${new URLSearchParams(known).toString()}`;
}

function bodyOf(path: string, method: string, { body, query = {} }: Way): { readonly body?: string | FormData } {
  if (method !== 'post') return {};
  if (body !== undefined) return { body };
  return path.startsWith('/api') ? { body: JSON.stringify({ type: 'tcp', host: '127.0.0.1', ...query }) } : {};
}

// A 503 says when to come back, but for a service that is stopping; all others always do.
const missingHeaders = (answer: Response, described: Json) =>
  Object.entries(described as Readonly<Record<string, { readonly required?: boolean }>>)
    .filter(([name, { required }]) => required !== false && answer.headers.get(name) === null)
    .map(([name]) => name);

const start = async (more: Partial<TestServiceOptions>) =>
  startService({ transport: fakeNodes(places, tcpDown), ...more });

test('whatever is asked of what the document has, the answer is one that it describes', async () => {
  const never = { count: 1, perMs: 1_000_000_000 };
  const absent = fakeNodes(places);
  for (const { name } of places) absent.offline.add(name);
  const seen = new Set<string>();
  for (const [more, chosen] of [
    [{}, ways],
    [{ rates: { per_client: never } }, plain],
    [{ transport: absent }, plain],
  ] as const) {
    await using service = await start(more);
    for (const found of await askEverything(service, documents[0]!, chosen)) seen.add(found);
  }
  // What a client can bring about has been; a request that takes too long and a fault of ours are told elsewhere.
  const documented = operationsOf(documents[0]!).flatMap(({ path, method, operation }) =>
    Object.keys(operation.responses).map((status) => `${method} ${path} ${status}`),
  );
  const elsewhere =
    / (?:408|500)$|^(?:get|head) .* 413$|^(?:get|head) \/api\S* 400$|^\w+ \/(?!check-(?!re)|api)\S* 400$/;
  const unseen = documented.filter((one) => !seen.has(one) && !elsewhere.test(one));
  expect(unseen).toEqual([]);
});

test('so it is with pages of named origins, whose browsers ask beforehand', async () => {
  await using service = await start({ access: { open: true, origins } });
  const served = (await (await fetch(`${service.url}/openapi.json`)).json()) as Document;
  expect(served).toEqual(JSON.parse(JSON.stringify(documents[2])));
  const own = { ...plain[0]!, headers: { origin: app } };
  const seen = await askEverything(service, served, [own, ...ways.filter(({ body }) => body === undefined)]);
  const asked = operationsOf(served).filter(({ method }) => method === 'options');
  expect(asked.length).toBe(Object.keys(served.paths).length);
  for (const { path, operation } of asked)
    for (const status of Object.keys(operation.responses).filter((one) => !/400|408|413|500/.test(one)))
      expect(seen).toContain(`options ${path} ${status}`);
});

test('so it is with the ways of the public service, whose document says so', async () => {
  await using service = await start({ compatible: true, rates: { per_client: { count: 1, perMs: 1_000_000_000 } } });
  const served = (await (await fetch(`${service.url}/openapi.json`)).json()) as Document;
  expect(served).toEqual(JSON.parse(JSON.stringify(documents[1])));
  const seen = await askEverything(service, served, plain);
  // The public service has no other paths.
  expect([...seen].filter((one) => one.endsWith(' 429'))).toEqual(['post /api/v1/checks 429']);
});

const unresolved = failed(failure('target', 'name_not_found', 'the name does not exist'));

test.each(interfaceTypeNames)(
  'every row of %s fits the shape that the document has of it, and no other does',
  (type) => {
    const ajv = new Ajv2020({ strict: false });
    const { components } = documents[0]!;
    const shape = `#/components/schemas/${type.charAt(0).toUpperCase()}${type.slice(1)}Row`;
    const fits = ajv.compile({ $ref: shape, components });
    const isFault = ajv.compile({ $ref: '#/components/schemas/NodeFault', components });
    for (const dialect of ['interface', 'check-host.net'] as const) {
      expect(outcomes).toHaveProperty(type);
      for (const outcome of [unresolved, ...(outcomes[type] ?? [])]) {
        const row = toWire(outcome, type, dialect);
        expect(fits(row), `${JSON.stringify(row)} ${JSON.stringify(fits.errors)}`).toBe(true);
        expect(isFault(row)).toBe(false);
        expect(checkOf(type).row?.shape.safeParse(row).success).toBe(true);
      }
      expect(isFault(toWire(notUp('busy', 'node'), type, dialect))).toBe(true);
    }
    for (const wrong of [null, {}, [], [[]], [{}], [null, { message: 'a' }], 'a'])
      expect(fits(wrong), JSON.stringify(wrong)).toBe(false);
  },
);

const read = (type: CheckTypeName, ...rows: readonly unknown[]) =>
  rows.flatMap((row) => checkOf(type).row?.fromRow(row) ?? []);

const outcomes: Readonly<Partial<Record<CheckTypeName, readonly Outcome[]>>> = {
  ping: read(
    'ping',
    [
      [
        ['OK', 0.1, '192.0.2.1'],
        ['TIMEOUT', 3],
      ],
    ],
    [
      [
        ['TIMEOUT', 3],
        ['DEST_UNREACH', 0.1],
      ],
    ],
    [[['MALFORMED', 1]]],
  ),
  http: read(
    'http',
    [[1, 0.1, 'OK', '200', '192.0.2.1']],
    [[0, 0.1, 'Not Found', '404', null]],
    [[0, 1, 'refused', null, null]],
  ),
  tcp: read('tcp', [{ time: 0.1, address: '192.0.2.1' }], [{ error: 'connection refused', address: '192.0.2.1' }]),
  dns: read('dns', [{ A: ['192.0.2.1'], AAAA: [], TTL: 60 }], [{ A: [], AAAA: [], TTL: null, PTR: ['a.example'] }]),
  udp: read(
    'udp',
    [{ address: '192.0.2.1', time: 0.1, timeout: 0 }],
    [{ address: '192.0.2.1', timeout: 1 }],
    [{ error: 'refused', address: '192.0.2.1' }],
  ),
};

test.each(['check-result', 'check-result-extended', 'check-report'])(
  '/%s of a check that only /api/v1/checks starts is as the document says',
  async (path) => {
    await using service = await start({});
    const body = JSON.stringify({ type: 'tls', host: '127.0.0.1' });
    const started = await fetch(`${service.url}/api/v1/checks`, { method: 'POST', headers: json, body });
    const { id } = (await started.json()) as { id: string };
    const answer: unknown = await (await fetch(`${service.url}/${path}/${id}?wait=5`)).json();
    const shape = path === 'check-result' ? 'CheckResult' : 'CheckResultExtended';
    const fits = validators(documents[0]!)({ $ref: `#/components/schemas/${shape}` });
    expect(fits(answer), JSON.stringify(fits.errors)).toBe(true);
    expect(JSON.stringify(answer)).toContain('results of the type tls are at /api/v1/checks/<request_id>');
  },
);

test('a form that starts a check has the same keys as its JSON', () => {
  const { schemas } = documents[0]!.components;
  type Properties = { readonly properties?: Json; readonly anyOf?: readonly Properties[] };
  const keysOf = ({ properties = {}, anyOf = [] }: Properties): readonly string[] =>
    [...Object.keys(properties), ...anyOf.slice(0, 1).flatMap(keysOf)].toSorted();
  const operation = operationsOf(documents[0]!).find(({ path }) => path === '/api/v1/checks')?.operation;
  const form = operation?.requestBody?.content['application/x-www-form-urlencoded'];
  const [, typed] = (form as { schema: { allOf: readonly Properties[] } }).schema.allOf;
  const all = [...keysOf(schemas['StartParameters'] as Properties), ...keysOf(typed ?? {})].toSorted();
  expect(all).toEqual(keysOf(schemas['ApiCheckRequest'] as Properties));
});
