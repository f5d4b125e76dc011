import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkTypeNames } from '#checks/index.ts';
import { loadConfig } from '#config/load.ts';
import { configJsonSchema } from '#config/shape/schema.ts';

const page = readFileSync(new URL('../../../docs/configuration.md', import.meta.url), 'utf8');
const blocks = (language: string) =>
  [...page.matchAll(new RegExp(`\`\`\`${language}\n([^\`]*)\`\`\``, 'g'))].map(([, text]) => text ?? '');
const [smallest = '', fuller = '', broken = ''] = blocks('yaml');
let path = '';

beforeAll(async () => {
  path = join(await mkdtemp(join(tmpdir(), 'watchpost-docs-')), 'watchpost.yaml');
});

afterAll(async () => {
  await rm(join(path, '..'), { recursive: true });
});

async function load(text: string) {
  await writeFile(path, text);
  return loadConfig({ path, env: {} });
}

test('the examples of docs/configuration.md are accepted', async () => {
  await writeFile(join(path, '..', 'smtp'), 'secret\n');
  expect((await load(smallest)).targets).toHaveLength(1);
  expect((await load(fuller.replace('/run/secrets/smtp', 'smtp'))).targets).toHaveLength(2);
});

test('the errors that docs/configuration.md shows are real', async () => {
  await expect(load(broken)).rejects.toMatchObject({
    message: blocks('text')[0]
      ?.trimEnd()
      .replaceAll(/^/gm, join(path, '..') + '/'),
  });
});

test('docs/configuration.md names every key outside the check types', () => {
  const { properties } = configJsonSchema() as {
    properties: Record<string, { properties?: object; additionalProperties?: unknown }>;
  };
  const keysOf = (schema: unknown): readonly string[] => {
    if (typeof schema !== 'object' || schema === null || !('properties' in schema)) return [];
    return Object.keys(schema.properties ?? {});
  };
  const keys = Object.entries(properties).flatMap(([section, schema]) => [
    section,
    ...keysOf(schema),
    ...keysOf(schema.additionalProperties),
  ]);
  expect(keys.length).toBeGreaterThan(25);
  // Under `defaults` each check type has a section of its own name.
  const own = keys.filter((key) => !checkTypeNames.some((name) => name === key));
  expect(own.filter((key) => !page.includes(`\`${key}`))).toEqual([]);
});
