import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { commandHere } from '../../support/command.ts';

const fixtures = new URL('../../fixtures/import/', import.meta.url).pathname;
const env = { TOKEN: 't0ken' };
let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'watchpost-import-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

/** Imports, and checks what came out with `config check`. */
async function imported(source: string, files: readonly string[], name: string) {
  const to = join(folder, name, 'watchpost.yaml');
  const { code, out, err } = await commandHere(['import', source, ...files, '--to', to], { env });
  const checked = await commandHere(['config', 'check', '--config', to], { env });
  expect(checked.err).toBe('');
  expect({ code, err, checked: checked.code }).toEqual({ code: 0, err: '', checked: 0 });
  return { to, text: await readFile(to, 'utf8'), list: out.replaceAll(fixtures, '').replaceAll(`${folder}/`, '') };
}

async function fromText(source: string, name: string, text: string) {
  const file = join(folder, `${name}.in`);
  await writeFile(file, text);
  return imported(source, [file], name);
}

test.each([{ source: 'gatus', files: ['gatus'] }])(
  'what $source watches becomes the expected configuration, with the expected list',
  async ({ source, files }) => {
    const { text, list } = await imported(
      source,
      files.map((file) => join(fixtures, file)),
      source,
    );
    expect(text).toBe(readFileSync(join(fixtures, `${source}.yaml`), 'utf8'));
    expect(list).toBe(readFileSync(join(fixtures, `${source}.txt`), 'utf8'));
  },
);

test('what is written can be read by its owner only, and nothing is overwritten', async () => {
  const { to } = await imported('gatus', [join(fixtures, 'gatus')], 'modes');
  const secret = join(to, '../secrets/smtp-password');
  expect(await readFile(secret, 'utf8')).toBe('pa$word');
  for (const path of [to, secret]) expect((await stat(path)).mode & 0o777).toBe(0o600);
  const again = await commandHere(['import', 'gatus', join(fixtures, 'gatus'), '--to', to], { env });
  expect(again.code).toBe(2);
  expect(again.err).toMatch(/watchpost\.yaml cannot be written: it is there already; name another file with --to\n$/);
});

test('a file that is not there, or is no YAML, is named', async () => {
  const gone = await commandHere(['import', 'gatus', join(folder, 'nowhere.yaml'), '--to', join(folder, 'x.yaml')]);
  expect(gone).toMatchObject({
    code: 2,
    err: expect.stringContaining('nowhere.yaml: cannot be read: there is no such file'),
  });
  const broken = join(folder, 'broken.yaml');
  await writeFile(broken, 'endpoints:\n\t- a');
  const ended = await commandHere(['import', 'gatus', broken, '--to', join(folder, 'x.yaml')]);
  expect(ended).toMatchObject({ code: 2, err: expect.stringContaining('broken.yaml:2:1: ') });
});

test('a target that config check would refuse is left out with its reason, and the others stay', async () => {
  const { text, list } = await fromText(
    'gatus',
    'odd',
    `endpoints:
  - { name: good, url: "tcp://127.0.0.1:1", conditions: ["[CONNECTED] == true"] }
  - { name: odd, url: "tcp://127.0.0.1:99999", conditions: ["[CONNECTED] == true"] }
`,
  );
  expect(text).not.toContain('odd:');
  expect(list).toMatch(/^odd\.in:3:5: left out: odd: host: .+$/m);
});

test.each([
  { condition: '[STATUS] != 500', expected: { status: ['100-499', '501-999'] } },
  { condition: '200 == [STATUS]', expected: { status: 200 } },
  { condition: '300 > [STATUS]', expected: { status: '100-299' } },
  { condition: '[BODY].items[2].some-key == true', json: { path: '$.items[2]["some-key"]', equals: true } },
  { condition: '[BODY].name != pat(j?hn*)', json: { path: '$[?!match($.name, "j.hn.*")]' } },
  { condition: 'len([BODY].data) < 5', json: { path: '$[?length($.data) < 5]' } },
  { condition: '[BODY].user == any(a, b)', json: { path: '$[?($.user == "a" || $.user == "b")]' } },
  { condition: '[BODY] == a.b', body: { regex: String.raw`^\s*(?:a\.b)\s*$` } },
  { condition: 'len([BODY]) > 0', body: { regex: String.raw`\S` } },
  { condition: '[CERTIFICATE_EXPIRATION] > 240h', expected: { certificate: { valid_for: '10d' } } },
])('the condition $condition is expected as it was meant', async ({ condition, json, body, expected }) => {
  const name = `condition-${condition.replaceAll(/\W+/g, '-')}`;
  const yaml = `endpoints: [{ name: x, url: "http://127.0.0.1/", conditions: [${JSON.stringify(condition)}] }]\n`;
  const wanted = json === undefined ? body : { json };
  expect(parse((await fromText('gatus', name, yaml)).text)).toMatchObject({
    targets: { x: { expect: { ...(wanted === undefined ? {} : { body: wanted }), ...expected } } },
  });
});
