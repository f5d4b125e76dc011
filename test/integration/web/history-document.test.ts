import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import Fastify from 'fastify';
import { expect, test } from 'vitest';
import { historyRoutes } from '#web/history.ts';
import { historyDocument } from '#web/history-document.ts';
import { serveHistory } from '../../support/history-server.ts';

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly responses: Readonly<
    Record<
      string,
      { readonly headers?: object; readonly content?: Readonly<Record<string, { readonly schema: object }>> }
    >
  >;
}

const document = historyDocument();
// What operators call, and what goes on for long, is asked in tests of their own.
const operations = Object.entries(document.paths)
  .filter(([path]) => path.startsWith('/api/v1/') && path !== '/api/v1/events')
  .map(([path, item]) => ({ path, operation: (item as { get: Operation }).get }));
const spans = { from: '2020-01-01T00:00:00Z', to: '2030-01-01T00:00:00Z' };

/** What a caller does beside the plain call. A query has only what the operation knows; `wrong` goes in any case. */
interface Way {
  readonly name: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly wrong?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly of?: string;
}

const ways: readonly Way[] = [
  { name: 'plain' },
  { name: 'of years', query: spans },
  { name: 'of one page', query: { limit: '1' } },
  { name: 'of the page after', query: { limit: '1', after: 'mail' } },
  { name: 'of one node', query: { ...spans, node: 'de1' } },
  { name: 'of a label', query: { label: 'team:web' } },
  { name: 'in steps', query: { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z', step: '1h' } },
  { name: 'with points', query: { points: '5' } },
  { name: 'of what is over', query: { open: 'false', target: 'mail' } },
  { name: 'with a version', headers: { 'if-none-match': '*' } },
  { name: 'with an unknown key', wrong: 'nonsense=1' },
  { name: 'through a proxy', headers: { 'x-forwarded-for': '192.0.2.1' } },
  { name: 'of nobody', of: 'nobody' },
  { name: 'with headers without end', headers: { 'x-long': 'x'.repeat(20_000) } },
];

// A fault of ours is told elsewhere; the document and one incident have no query, and a series of nobody is an empty one.
const elsewhere = / 500$|^get(?:HistoryDocument|Incident) 400$|^getSeries 404$/;

test('the document is valid OpenAPI 3.1', async () => {
  const { valid, errors } = await new Validator().validate(
    JSON.parse(JSON.stringify(document)) as Record<string, unknown>,
  );
  expect({ valid, errors }).toEqual({ valid: true, errors: undefined });
});

test('every route of the history stands in the document, and nothing else does', async () => {
  const app = Fastify();
  const served = new Set<string>();
  app.addHook('onRoute', ({ method, url }) => {
    if ([method].flat().includes('GET')) served.add(url.replace(':name', '{name}').replace('*', '{id}'));
  });
  await app.register(historyRoutes({ history: {}, clock: {} } as never));
  await app.ready();
  expect(served).toEqual(new Set(operations.map(({ path }) => path)));
});

test('whatever is asked of what the document has, the answer is one that it describes', async () => {
  const base = await serveHistory();
  const incidents = await ask(`${base}/api/v1/incidents`);
  const [{ id }] = (JSON.parse(incidents.text) as { incidents: [{ id: string }] }).incidents;
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  const seen = new Set<string>();
  for (const { path, operation } of operations) {
    for (const way of ways) {
      const known = new Set(operation.parameters?.filter((one) => one.in === 'query').map((one) => one.name));
      const query = Object.entries(way.query ?? {}).filter(([key]) => known.has(key));
      const url = base + path.replace('{name}', way.of ?? 'shop').replace('{id}', way.of ?? id);
      const sent = [new URLSearchParams(query).toString(), way.wrong].filter(Boolean).join('&');
      const answer = await ask(`${url}?${sent}`, way.headers);
      const asked = `${operation.operationId} ${way.name}: ${answer.status} ${answer.text.slice(0, 300)}`;
      const described = operation.responses[answer.status];
      expect(described, asked).toBeDefined();
      seen.add(`${operation.operationId} ${answer.status}`);
      for (const header of Object.keys(described?.headers ?? {}))
        expect(answer.headers, asked).toHaveProperty([header]);
      const content = described?.content?.['application/json'];
      if (content === undefined) {
        expect(answer.text, asked).toBe('');
        continue;
      }
      expect(answer.headers['content-type'], asked).toMatch(/^application\/json/);
      const fits = ajv.compile({ ...content.schema, components: document.components });
      expect(fits(JSON.parse(answer.text)), `${asked} ${JSON.stringify(fits.errors)}`).toBe(true);
    }
  }
  const documented = operations.flatMap(({ operation }) =>
    Object.keys(operation.responses).map((status) => `${operation.operationId} ${status}`),
  );
  expect(documented.filter((one) => !seen.has(one) && !elsewhere.test(one))).toEqual([]);
});

async function ask(url: string, headers: Readonly<Record<string, string>> = {}) {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  request(url, { headers }, resolve).on('error', reject).end();
  const response = await promise;
  return { status: response.statusCode ?? 0, headers: response.headers, text: await text(response) };
}
