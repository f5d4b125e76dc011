import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { checkOf, checkTypeNames } from '#checks/index.ts';
import { configJsonSchema } from '#config/shape/schema.ts';

const committed = new URL('../../../config/watchpost.schema.json', import.meta.url).pathname;

test('config/watchpost.schema.json is current', () => {
  const message = 'config/watchpost.schema.json is out of date: run `npm run schema` and commit the result';
  expect(JSON.parse(readFileSync(committed, 'utf8')), message).toEqual(configJsonSchema());
});

interface Described {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Described>>;
  readonly additionalProperties?: boolean | Described;
  readonly oneOf?: readonly Described[];
}

function undescribed(schema: Described, path: string): readonly string[] {
  const open = typeof schema.additionalProperties === 'object' ? [schema.additionalProperties] : [];
  return [
    ...Object.entries(schema.properties ?? {}).flatMap(([key, property]) => [
      ...(property.description === undefined ? [`${path}.${key}`] : []),
      ...undescribed(property, `${path}.${key}`),
    ]),
    ...[...open, ...(schema.oneOf ?? [])].flatMap((form) => undescribed(form, `${path}.*`)),
  ];
}

test('every option outside the check types is described', () => {
  const options = new Set(checkTypeNames.flatMap((name) => Object.keys(checkOf(name).Spec.shape)));
  const schema = configJsonSchema() as Described;
  const missing = undescribed(schema, '').filter((path) => !options.has(path.split('.').at(-1) ?? ''));
  expect(missing).toEqual([]);
});

test('defaults are shown as people write them', () => {
  const { defaults, http } = configJsonSchema()['properties'] as Record<
    string,
    { properties: Record<string, unknown> }
  >;
  expect(defaults?.properties['every']).toMatchObject({ type: 'string', default: '1m' });
  expect(http?.properties['listen']).toMatchObject({ type: 'string', default: '127.0.0.1:8080' });
});
