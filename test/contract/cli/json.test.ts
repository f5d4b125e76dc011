import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { shapesOf } from '#cli/shared/commands.ts';
import { createProgram } from '#cli/program.ts';
import { commandHere } from '../../support/command.ts';
import { silentContext } from '../../support/silent-context.ts';

const shapes = shapesOf(createProgram(silentContext(), () => {}));

// The only ones that print something and have no --json, with the reason.
const without: Readonly<Record<string, string>> = {
  'beat run': 'its output is that of the command that it runs',
  demo: 'it runs on, and prints for people',
  node: 'it runs on, and its log is JSON where no person looks',
  completion: 'it prints a script',
  man: 'it prints a page for man',
  'config schema': 'it prints JSON anyway',
};

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'watchpost-json-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const json = async (args: readonly string[], input = '') => {
  const { code, out, err } = await commandHere([...args, '--json'], { cwd: folder, readLine: async () => input });
  expect({ args, code, err }).toEqual({ args, code: 0, err: '' });
  return JSON.parse(out) as unknown;
};

test('every command has --json, but for a few with their reasons', () => {
  const silent = shapes.filter(
    ({ below, options }) => below.length === 0 && !options.some(({ names }) => names.includes('--json')),
  );
  expect(silent.map(({ path }) => path).toSorted()).toEqual(Object.keys(without).toSorted());
});

test('the node inside one of several hubs is enrolled with its place, and its key is where the hub finds it', async () => {
  const inside = join(folder, 'inside');
  mkdirSync(inside);
  const config = join(inside, 'watchpost.yaml');
  const text = (hubs: string) =>
    'nats: { servers: ["nats://127.0.0.1:4222"] }\nnodes: { de1: { location: [de, Germany, Berlin], asn: AS64500 } }\n' +
    `targets: { a: { check: ping, host: a, nodes: [de1] } }\n${hubs}`;
  writeFileSync(config, text(''));
  const at = ['--config', config];
  await json(['nodes', 'init', ...at]);
  const refused = await commandHere(['nodes', 'add', 'de1', ...at]);
  expect([refused.code, refused.err]).toEqual([2, `${config} has a node "de1" of its own\n`]);

  writeFileSync(config, text('hubs: { name: a }\n'));
  const seedFile = join(inside, 'de1.nk');
  expect(await json(['nodes', 'add', 'de1', ...at])).toMatchObject({ name: 'de1', seed_file: seedFile });
  expect(readFileSync(seedFile, 'utf8')).toMatch(/^SU/);
  expect(JSON.parse(readFileSync(join(inside, 'nodes/nodes.json'), 'utf8'))).toMatchObject({
    nodes: { de1: { location: ['de', 'Germany', 'Berlin'], asn: 'AS64500' } },
  });
  expect((await commandHere(['config', 'check', ...at])).code).toBe(0);
});

test('nodes are enrolled, renamed and revoked by programs', async () => {
  const config = join(folder, 'watchpost.yaml');
  writeFileSync(
    config,
    'nats: { servers: ["nats://127.0.0.1:4222"] }\ntargets: { a: { check: ping, host: a, nodes: [us1, de1] } }\n',
  );
  const at = ['--config', config];
  const hub = { seed_file: join(folder, 'hub.nk'), include: join(folder, 'nodes/nodes.conf'), server_told: false };
  expect(await json(['nodes', 'init', ...at])).toEqual({ made: true, ...hub });
  expect(await json(['nodes', 'init', ...at])).toEqual({ made: false, ...hub });
  const servers = ['nats://127.0.0.1:4222'];
  const us1 = { name: 'us1', servers, seed: expect.stringMatching(/^SU[A-Z2-7]{56}$/), server_told: true };
  expect(await json(['nodes', 'add', 'us1', '--reload-command', 'true', ...at])).toEqual(us1);
  const seedFile = join(folder, 'de1.nk');
  const de1 = { name: 'de1', servers, seed_file: seedFile, server_told: false };
  expect(await json(['nodes', 'add', 'de1', '--write-seed', seedFile, ...at])).toEqual(de1);
  expect(await json(['nodes', 'rename', 'us1', 'us2', ...at])).toMatchObject({ from: 'us1', to: 'us2' });
  expect(await json(['nodes', 'revoke', 'de1', ...at])).toMatchObject({ revoked: 'de1' });
  expect(readFileSync(join(folder, 'nodes/nodes.json'), 'utf8')).toContain('us2');
});

test('hubs have keys of their own beside the one that they share, and each is revoked by itself', async () => {
  const config = join(folder, 'watchpost.yaml');
  writeFileSync(config, 'nats: { servers: ["nats://127.0.0.1:4222"] }\ntargets: { a: { check: ping, host: a } }\n');
  const at = ['--config', config];
  const users = () =>
    [...readFileSync(join(folder, 'nodes/nodes.conf'), 'utf8').matchAll(/^ {2}# (.*)$/gm)].map(([, who]) => who);
  const fails = async (...args: readonly string[]) => {
    const { code, err } = await commandHere([...args, ...at]);
    expect(code).toBe(2);
    return err;
  };
  await json(['nodes', 'init', ...at]);
  await json(['nodes', 'add', 'us1', ...at]);
  const b = { hub: 'b', seed_file: join(folder, 'hub-b.nk') };
  expect(await json(['nodes', 'init', '--hub', 'a', ...at])).toMatchObject({ made: true, hub: 'a' });
  expect(await json(['nodes', 'init', '--hub', 'b', ...at])).toMatchObject({ made: true, ...b });
  expect(await json(['nodes', 'init', '--hub', 'b', ...at])).toMatchObject({ made: false, ...b });
  expect(users()).toEqual(['the hub', 'hub a', 'hub b', 'us1']);
  // The list has the keys: those who change it need none.
  for (const file of ['hub.nk', 'hub-a.nk']) rmSync(join(folder, file));
  await json(['nodes', 'add', 'us2', ...at]);
  expect(users()).toEqual(['the hub', 'hub a', 'hub b', 'us1', 'us2']);
  expect(await fails('nodes', 'init', '--hub', 'a')).toContain('revoke it first with "watchpost nodes revoke --hub a"');
  expect(await json(['nodes', 'revoke', '--shared-key', ...at])).toMatchObject({ revoked_shared_key: true });
  expect(await json(['nodes', 'revoke', '--hub', 'b', ...at])).toMatchObject({ revoked_hub: 'b' });
  expect(users()).toEqual(['hub a', 'us1', 'us2']);
  expect(await fails('nodes', 'revoke', '--hub', 'a')).toContain('no hub would have a key left');
  expect(await fails('nodes', 'revoke', '--hub', 'constructor')).toContain('no hub "constructor" has a key of its own');
  expect(await fails('nodes', 'revoke', '--shared-key')).toContain('hubs share no key');
  expect(await fails('nodes', 'revoke', 'us1', '--hub', 'a')).toContain('name a node, or a hub with --hub');
  expect(await json(['nodes', 'init', ...at])).toMatchObject({ made: true });
  expect(users()).toEqual(['the hub', 'hub a', 'us1', 'us2']);
});

test('an import tells a program what was written and what is not as it was', async () => {
  writeFileSync(
    join(folder, 'gatus.yaml'),
    'endpoints: [{ name: shop, url: "https://shop.example.com", conditions: ["[STATUS] == 200", "[BODY].x == pat(*y*)"] }]\n',
  );
  const to = join(folder, 'new.yaml');
  expect(await json(['import', 'gatus', join(folder, 'gatus.yaml'), '--to', to])).toEqual({
    written: to,
    targets: 1,
    notes: expect.arrayContaining([
      { place: expect.any(String), kind: expect.stringMatching(/^(left out|lost|differs)$/), text: expect.any(String) },
    ]),
    secrets: [],
    history: null,
  });
});

test('a first configuration, and a hash of a password', async () => {
  expect(await json(['init'])).toEqual({ written: join(folder, 'watchpost.yaml') });
  expect(await json(['users', 'hash'], 'correct horse battery')).toEqual({
    password_hash: expect.stringMatching(/^\$/),
  });
});

test('--json of a report is --format json, and no other format beside it', async () => {
  const { code, err } = await commandHere(['report', '--json', '--format', 'csv'], { cwd: folder });
  expect(code).toBe(2);
  expect(err).toContain("'--json' cannot be used with option '--format <format>'");
});
