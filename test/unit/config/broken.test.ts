import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { checkTypeNames } from '#checks/index.ts';
import { loadConfig } from '#config/load.ts';
import { alternatives } from '#kernel/wording.ts';
import { WatchpostError } from '#kernel/errors.ts';

const folder = new URL('../../fixtures/config/broken/', import.meta.url).pathname;
const cases = globSync('*', { cwd: folder }).filter((name) => !name.endsWith('.txt'));
const env = { SMTP_HOST: 'mail.example.com', PORT: '443', EVERY: '30' };

async function complaintsAbout(path: string): Promise<readonly string[]> {
  const error: unknown = await loadConfig({ path, env }).then(
    () => new Error('the configuration was accepted'),
    (reason: unknown) => reason,
  );
  if (!(error instanceof WatchpostError)) throw error;
  expect(error).toMatchObject({ code: 'config_invalid', exitCode: 2 });
  return error.message.split('\n').map((line) => line.replaceAll(folder, ''));
}

// What belongs to a check type is left open: `<check types>` stands for the names of all, `...` for the rest of a line.
function matching(line: string): unknown {
  const full = line.replace('<check types>', alternatives(checkTypeNames));
  if (!full.endsWith('...')) return full;
  const start = full.slice(0, -3).replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
  return expect.stringMatching(new RegExp(`^${start}`));
}

test('there are enough of them', () => {
  expect(cases.length).toBeGreaterThan(35);
  const lonely = globSync('*.txt', { cwd: folder }).filter(
    (name) => !existsSync(join(folder, basename(name, '.txt'))) && !cases.includes(name.replace(/txt$/, 'yaml')),
  );
  expect(lonely).toEqual([]);
});

test.each(cases)('every mistake of %s is named at its place', async (name) => {
  const expected = readFileSync(join(folder, name.replace(/(?:\.yaml)?$/, '.txt')), 'utf8');
  const lines = await complaintsAbout(join(folder, name));
  expect(lines).toEqual(expected.trimEnd().split('\n').map(matching));
});

test('every line has the form file:line:column: what', () => {
  for (const name of cases) {
    const expected = readFileSync(join(folder, name.replace(/(?:\.yaml)?$/, '.txt')), 'utf8');
    for (const line of expected.trimEnd().split('\n')) expect(line).toMatch(/^[\w/-]+\.ya?ml:\d+:\d+: \S/);
    expect(expected).not.toMatch(/undefined|NaN|zod|Invalid input|\[object/);
    expect(expected).not.toContain('hidden');
  }
});

test('a file that is not there is named', async () => {
  expect(await complaintsAbout(join(folder, 'nowhere.yaml'))).toEqual([
    'nowhere.yaml: cannot be read: there is no such file',
  ]);
});
