import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { CheckSpec } from '#checks/index.ts';
import { loadConfig } from '#config/load.ts';
import { withFiles } from '#config/shape/spec-files.ts';

const folder = await mkdtemp(join(tmpdir(), 'watchpost-spec-files-'));
afterAll(async () => rm(folder, { recursive: true }));
const path = join(folder, 'watchpost.yaml');

const configured = (oauth2: string) => `
defaults:
  http: { proxy: { url: "http://proxy.example:3128", username: wp, password_file: proxy } }
targets:
  shop: { check: http, hosts: [https://a.example, https://b.example], oauth2: ${oauth2} }
`;

async function load(oauth2: string) {
  await writeFile(path, configured(oauth2));
  const files: string[] = [];
  const config = await loadConfig({ path, env: {}, onFile: (file) => void files.push(file) });
  return { specs: config.targets.map(({ spec }) => spec), files };
}

test('the secrets of targets come from files, beside the configuration, also by defaults and for several hosts', async () => {
  await writeFile(join(folder, 'client'), 'geheim\n', { mode: 0o600 });
  await writeFile(join(folder, 'proxy'), 'auch\r\n', { mode: 0o600 });
  const { specs, files } = await load(
    '{ token_url: "https://login.example", client_id: wp, client_secret_file: client }',
  );
  expect(specs).toHaveLength(2);
  for (const spec of specs) {
    expect(spec).toMatchObject({ oauth2: { client_secret: 'geheim' }, proxy: { username: 'wp', password: 'auch' } });
    expect(JSON.stringify(spec)).not.toContain('_file');
  }
  expect(new Set(files)).toEqual(new Set([join(folder, 'client'), join(folder, 'proxy')]));
});

test('a file that is not there, or holds no secret, is an error where it is named', async () => {
  await writeFile(join(folder, 'proxy'), 'auch', { mode: 0o600 });
  await writeFile(join(folder, 'odd'), 'ä\n', { mode: 0o600 });
  const named = (file: string) => `{ token_url: "https://login.example", client_id: wp, client_secret_file: ${file} }`;
  await expect(load(named('gone'))).rejects.toThrow(/oauth2\.client_secret_file: cannot read .*gone/);
  await expect(load(named('odd'))).rejects.toThrow(/client_secret holds something else: must not contain/);
});

test.each([
  {
    type: 'tcp',
    host: 'a.example:1',
    proxy: { url: 'http://p.example:3128', username: 'wp', password_file: 'a file' },
  },
  { type: 'postgres', host: 'a.example', username: 'wp', password_file: 'a file' },
])('a file that $type names is read', async (written) => {
  const read: string[] = [];
  const spec = await withFiles(CheckSpec.parse(written), async (option, file) => {
    read.push(`${option.join('.')}: ${file}`);
    return 'secret\n';
  });
  const path = written.proxy === undefined ? 'password_file' : 'proxy.password_file';
  expect(read).toEqual([`${path}: a file`]);
  expect(spec).toMatchObject(written.proxy === undefined ? { password: 'secret' } : { proxy: { password: 'secret' } });
});

test('a spec that names no file is not encoded', async () => {
  const spec = CheckSpec.parse({ type: 'http', host: 'https://a.example' });
  // No option that names a file is below this one.
  Object.defineProperty(spec, 'method', {
    enumerable: true,
    get() {
      throw new Error('it was read');
    },
  });
  expect(await withFiles(spec, async () => 'secret')).toBe(spec);
});
