import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { interfaceTypeNames } from '#checks/index.ts';
import { openApiDocument } from '#service/http/openapi.ts';
import { fakeNodes, places, startService } from '../../support/check-service.ts';
import { notUp } from '../../support/votes.ts';

type Json = Readonly<Record<string, unknown>>;

test('the document is valid OpenAPI 3.1', async () => {
  const { valid, errors } = await new Validator().validate(JSON.parse(JSON.stringify(openApiDocument())) as Json);
  expect({ valid, errors }).toEqual({ valid: true, errors: undefined });
});

test('every reference of the document leads somewhere, and every operation has a name of its own', () => {
  const document = openApiDocument();
  const text = JSON.stringify(document);
  const names = Object.keys(document.components.schemas);
  const used = [...text.matchAll(/#\/components\/schemas\/(\w+)/g)].map(([, name]) => name ?? '');
  expect(new Set(used)).toEqual(new Set(names));
  const operations = [...text.matchAll(/"operationId":"(\w+)"/g)].map(([, name]) => name);
  expect(new Set(operations).size).toBe(operations.length);
  for (const type of interfaceTypeNames) expect(document.paths).toHaveProperty([`/check-${type}`]);
});

test('every path of the document is served, and every answer fits its schema', async () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  await using service = await startService({ transport: fakeNodes(places, () => notUp('busy', 'node')) });
  const document = (await (await fetch(`${service.url}/openapi.json`)).json()) as ReturnType<typeof openApiDocument>;
  const started = (await (await fetch(`${service.url}/check-dns?host=127.0.0.1`)).json()) as { request_id: string };
  let answers = 0;
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods) as [string, Json][]) {
      const body = path.startsWith('/api/v1/checks') && method === 'post' ? { type: 'tcp', host: '127.0.0.1' } : null;
      const url = `${service.url}${path.replace('{id}', started.request_id)}${path.startsWith('/check-') ? '?host=127.0.0.1' : ''}`;
      const answer = await fetch(url, {
        method,
        ...(body === null ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
      });
      const described = (operation['responses'] as Json)[answer.status] as { content: Json } | undefined;
      expect(described, `${method} ${path}: ${answer.status}`).toBeDefined();
      const content = described?.content['application/json'] as { schema: { $ref: string } } | undefined;
      if (content === undefined) {
        await answer.body?.cancel();
        continue;
      }
      const fits = ajv.compile({ $ref: content.schema.$ref, components: document.components });
      const value: unknown = await answer.json();
      expect(fits(value), `${method} ${path}: ${JSON.stringify(fits.errors)}`).toBe(true);
      answers += 1;
    }
  }
  expect(answers).toBeGreaterThan(12);
});
