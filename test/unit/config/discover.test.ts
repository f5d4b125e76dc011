import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { fingerprintOf } from '#config/apply/changes.ts';
import { loadConfig } from '#config/load.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'watchpost-discover-'));
  await mkdir(join(folder, 'targets'));
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

async function put(name: string, text: string): Promise<string> {
  await writeFile(join(folder, name), text);
  return join(folder, name);
}

const load = async (text: string) => loadConfig({ path: await put('watchpost.yaml', text), env: {} });

async function complaints(text: string): Promise<readonly string[]> {
  const error: unknown = await load(text).catch((reason: unknown) => reason);
  return error instanceof Error ? error.message.split('\n').map((line) => line.replaceAll(`${folder}/`, '')) : [];
}

test('targets come from files of Prometheus, JSON or YAML, with their labels', async () => {
  await put(
    'targets/a.json',
    '[{ "targets": ["a.example.com:22", "b.example.com:22"], "labels": { "team": "web", "__meta_x": "y" } }]',
  );
  await put('targets/b.yml', '- targets: [c.example.com:22, a.example.com:22]\n- targets: []\n');
  const { targets } = await load(`targets_from:
  ssh: { files: [targets/*.json, targets/b.yml], check: tcp, every: 30s, labels: { kind: ssh } }
targets: { shop: { check: http, host: shop.example.com } }
groups: { web: { match: { team: web }, rules: slow } }
rules: { slow: { latency: { above: 1s } } }
`);
  expect(targets).toMatchObject([
    { name: 'shop' },
    {
      name: 'ssh-a-example-com-22',
      spec: { type: 'tcp' },
      labels: { team: 'web', kind: 'ssh' },
      rules: expect.arrayContaining([expect.objectContaining({ name: 'slow' })]),
    },
    { name: 'ssh-b-example-com-22', spec: { host: 'b.example.com:22' }, schedule: { everyMs: 30_000 } },
    { name: 'ssh-c-example-com-22', labels: { kind: 'ssh' } },
  ]);
  expect(Object.keys(targets[1]?.labels ?? {})).toEqual(['team', 'kind']);
});

test('files that are not there yet give no targets where their name has a star', async () => {
  expect((await load('targets_from: { ssh: { files: targets/*.json, check: tcp } }')).targets).toEqual([]);
});

test('a mistake in such a file is told with its own place', async () => {
  await put('targets/bad.yml', '- targets: [a.example.com:22]\n- labels: { a: b }\n- targets: ["x y"]\n');
  await put('targets/map.json', '{ "targets": [] }');
  await put('targets/broken.json', '[{ "targets": [');
  const from = (file: string, more = '') => `targets_from: { ssh: { files: ${file}, check: tcp${more} } }`;
  expect(await complaints(from('targets/bad.yml'))).toEqual([
    'targets/bad.yml:2:3: expected a group with a list of targets',
    'targets/bad.yml:3:13: targets.ssh-x-y.host: must not contain spaces, control characters or backslashes (found "x y")',
  ]);
  expect(await complaints(from('targets/map.json'))).toEqual([
    'targets/map.json:1:1: expected a list of groups, such as [{ "targets": ["a:1"] }]',
  ]);
  expect(await complaints(from('targets/broken.json'))).toEqual([
    expect.stringMatching(/^targets\/broken\.json:1:\d+: not valid YAML/),
  ]);
  expect(await complaints(from('targets/none.json'))).toEqual([
    'watchpost.yaml:1:31: targets_from.ssh.files: cannot read targets/none.json: there is no such file',
  ]);
  expect(await complaints(from('5'))).toEqual([
    'watchpost.yaml:1:31: targets_from.ssh.files: expected a list of files (found 5)',
  ]);
  await put('targets/bad.yml', '- targets: [a:1, b:1, c:1]\n');
  expect(await complaints(from('targets/bad.yml', ', at_most: 2'))).toEqual([
    'watchpost.yaml:1:69: targets_from.ssh.at_most: there are 3 targets in its files, more than 2',
  ]);
});

test('a change of such a file, and a new one, are changes of the configuration', async () => {
  const file = await put('targets/a.json', '[]');
  const { watched } = await load('targets_from: { ssh: { files: targets/*.json, check: tcp } }');
  const prints = [await fingerprintOf(join(folder, 'watchpost.yaml'), watched)];
  await writeFile(file, '[{ "targets": ["a:1"] }]');
  prints.push(await fingerprintOf(join(folder, 'watchpost.yaml'), watched));
  await put('targets/b.json', '[]');
  prints.push(await fingerprintOf(join(folder, 'watchpost.yaml'), watched));
  expect(new Set(prints).size).toBe(3);
});
