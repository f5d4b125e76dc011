import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadConfig } from '#config/load.ts';
import { withOwnLanguages } from '#languages/languages.ts';

let folder = '';

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'watchpost-languages-'));
  await mkdir(join(folder, 'languages'));
});
afterEach(async () => rm(folder, { recursive: true }));

async function load(files: Readonly<Record<string, unknown>>, languages = 'languages') {
  const path = join(folder, 'watchpost.yaml');
  await writeFile(path, `languages: ${languages}\ntargets: { shop: { check: tcp, host: "127.0.0.1:80" } }\n`);
  for (const [name, content] of Object.entries(files))
    await writeFile(join(folder, 'languages', name), typeof content === 'string' ? content : JSON.stringify(content));
  return loadConfig({ path, env: {} });
}

const dutch = { name: 'Nederlands', locale: 'nl-NL', texts: { up: 'Alle diensten werken.' } };

test('a language of a file is one of those of status pages, and texts that it lacks are English', async () => {
  const { languages } = await load({ 'nl.json': dutch, 'notes.txt': 'no language' });
  const all = withOwnLanguages(languages);
  expect([...all.keys()]).toEqual(['en', 'de', 'es', 'fr', 'ja', 'nl']);
  expect(all.get('nl')?.say('up')).toBe('Alle diensten werken.');
  expect(all.get('nl')?.say('unknown')).toBe(all.get('en')?.say('unknown'));
  expect(all.get('nl')?.percent(0.99912)).toBe('99,912%');
  expect(withOwnLanguages(languages)).toBe(all);
});

test('a file for a language that comes with the program replaces only the texts in it', async () => {
  const { languages } = await load({ 'de.json': { name: 'Deutsch', locale: 'de-AT', texts: { up: 'Ois rennt.' } } });
  const german = withOwnLanguages(languages).get('de');
  expect(german?.say('up')).toBe('Ois rennt.');
  expect(german?.say('archive')).toBe(withOwnLanguages({}).get('de')?.say('archive'));
});

test.each([
  ['a name that is no code', { 'Dutch.json': dutch }, /Dutch\.json: expected the code of a language as its name/],
  ['no JSON', { 'nl.json': '{' }, /nl\.json: .*JSON/],
  ['another shape', { 'nl.json': { name: 'x' } }, /nl\.json: locale: .*; texts: /],
  ['a text that there is not', { 'nl.json': { ...dutch, texts: { upp: 'x' } } }, /nl\.json: texts\.upp: is not a text/],
  [
    'a placeholder that there is not',
    { 'nl.json': { ...dutch, texts: { isDown: '{dienst} werkt niet' } } },
    /texts\.isDown: \{dienst\} stands for nothing; known here: \{service\}/,
  ],
  ['a plural without the usual form', { 'nl.json': { ...dutch, texts: { down: { one: 'x' } } } }, /texts\.down\.other/],
  ['a locale that is not known', { 'xx.json': { ...dutch, locale: 'xx-XX' } }, /locale: "xx-XX" is not known/],
  ['a file that is too large', { 'nl.json': `"${'x'.repeat(300_000)}"` }, /nl\.json is larger than 256 KiB/],
  ['no file', {}, /has no file of a language, such as nl\.json/],
])('%s is named with its place', async (_, files, message) => {
  const error = await load(files).catch((reason: unknown) => reason);
  expect(String(error)).toMatch(/watchpost\.yaml:1:12: languages: /);
  expect(String(error)).toMatch(message);
});

test('a folder that is not there is named', async () => {
  await expect(load({}, 'nowhere')).rejects.toThrow(/watchpost\.yaml:1:12: languages: cannot read .*nowhere/);
});
