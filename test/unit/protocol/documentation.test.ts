import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { checkOf, interfaceTypeNames, probedTypeNames } from '#checks/index.ts';
import { apiErrors } from '#protocol/errors.ts';
import { openApiDocument } from '#service/http/openapi.ts';

const page = readFileSync(new URL('../../../docs/api.md', import.meta.url), 'utf8');

test('docs/api.md has the table of errors as the program has it', () => {
  const rows = [...page.matchAll(/^\| (\d{3}) \| `(\w+)` \| (.*) \|$/gm)].map(([, status, code, meaning]) => [
    code,
    { status: Number(status), meaning },
  ]);
  expect(Object.fromEntries(rows)).toEqual(apiErrors);
});

test('docs/api.md names every path and check type', () => {
  const paths = Object.keys(openApiDocument({ compatible: false, access: { origins: [] } }).paths).map((path) =>
    path.replace(/\{.*\}.*/, '').replace(/^\/check-(?!result|report).*/, '/check-'),
  );
  expect(paths.filter((path) => !page.includes(path))).toEqual([]);
  expect(interfaceTypeNames.filter((type) => !page.includes(`| ${type} |`))).toEqual([]);
});

test('docs/api.md names every option that a check type takes over the API', () => {
  const rows = [...page.matchAll(/^\| `(\w+)` \| (`\w+`.*) \|$/gm)].map(([, type = '', cell = '']) => [
    type,
    [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name),
  ]);
  expect(Object.fromEntries(rows)).toEqual(
    Object.fromEntries(
      probedTypeNames
        .map((type) => [type, Object.keys(checkOf(type).apiOptions.shape)] as const)
        .filter(([, names]) => names.length > 0),
    ),
  );
});
