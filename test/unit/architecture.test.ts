import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { expect, test } from 'vitest';

const root = new URL('../../src/', import.meta.url).pathname;

// Who may import whom: a folder, a file, or `folder/file`. Within a folder everything is allowed.
const table: Record<string, readonly string[]> = {
  kernel: [],
  checks: ['kernel'],
  protocol: ['kernel', 'checks/index.ts'],
  service: ['kernel', 'protocol', 'checks/index.ts'],
  node: ['kernel', 'protocol', 'checks/index.ts'],
  monitor: ['kernel', 'checks/index.ts'],
  config: ['kernel', 'checks/index.ts', 'channels/index.ts', 'monitor/rule.ts'],
  transport: ['kernel', 'protocol', 'service/ports.ts', 'node/ports.ts'],
  client: ['kernel', 'protocol', 'checks/index.ts', 'monitor/ports.ts'],
  channels: ['kernel', 'monitor/ports.ts'],
  store: ['kernel', 'checks/index.ts', 'monitor/ports.ts', 'service/ports.ts'],
  metrics: ['kernel', 'monitor/ports.ts', 'service/ports.ts'],
  web: ['kernel', 'protocol', 'monitor/ports.ts', 'service/ports.ts'],
};

interface Import {
  readonly from: string;
  readonly to: string;
}

const files = globSync('**/*.ts', { cwd: root }).sort();

function importsOf(file: string): readonly Import[] {
  const text = readFileSync(join(root, file), 'utf8');
  const specifiers = text.matchAll(/(?:from|import|import\()\s*'([^']+)'|new URL\('([^']+)', import\.meta\.url\)/g);
  return [...specifiers].flatMap(([, imported, located]) => {
    const specifier = imported ?? located ?? '';
    if (specifier.startsWith('#')) return [{ from: file, to: specifier.slice(1) }];
    if (!specifier.startsWith('.')) return [];
    return [{ from: file, to: normalize(relative(root, join(root, dirname(file), specifier))) }];
  });
}

const folderOf = (path: string) => (path.includes('/') ? path.slice(0, path.indexOf('/')) : path);

function allowed({ from, to }: Import): boolean {
  const rights = table[folderOf(from)];
  if (rights === undefined || folderOf(from) === folderOf(to)) return true;
  return rights.some((right) => to === right || folderOf(to) === right);
}

test('every folder imports only what the table allows', () => {
  const imports = files.flatMap(importsOf);
  expect(imports.length).toBeGreaterThan(20);
  expect(imports.filter((one) => !allowed(one))).toEqual([]);
});

test('every folder of the program stands in the table', () => {
  const free = ['main.ts', 'compose.ts', 'compose', 'watchpost.js', 'worker.ts', 'cli'];
  const folders = new Set(files.map(folderOf));
  expect([...folders].filter((folder) => !free.includes(folder) && !(folder in table))).toEqual([]);
});

test('a type import across folders goes through a # import', () => {
  const crossing = files.flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(/from '(\.\.?\/[^']+)'/g)]
      .map(([, specifier]) => ({ from: file, to: normalize(join(dirname(file), specifier ?? '')) }))
      .filter(({ from, to }) => folderOf(from) !== folderOf(to) && from.includes('/')),
  );
  expect(crossing).toEqual([]);
});

test('THE list of check types equals the folders', () => {
  const folders = new Set(globSync('checks/*/index.ts', { cwd: root }).map((path) => path.split('/')[1]));
  const listed = /export const checks = \[([^\]]*)\]/.exec(readFileSync(join(root, 'checks/index.ts'), 'utf8'))?.[1];
  expect(new Set(listed?.split(',').map((name) => name.trim()))).toEqual(folders);
});

test('shared code never asks which type a check is', () => {
  const asking = files.filter(
    (file) =>
      !file.startsWith('checks/') &&
      /(?:switch \(\w*spec\.type|(?:spec|check)\.type === ')/.test(readFileSync(join(root, file), 'utf8')),
  );
  expect(asking).toEqual([]);
});
