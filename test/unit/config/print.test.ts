import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import type { Config } from '#config/config.ts';
import { loadConfig, loadWhole } from '#config/load.ts';
import { spelledConfig } from '#config/print.ts';
import { commandHere } from '../../support/command.ts';

const fixtures = new URL('../../fixtures/config/good', import.meta.url).pathname;
const env = { SMTP_HOST: 'mail.example.com', TOKEN: 'sesame', PAGE: 'health' };
let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'watchpost-print-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const load = (path: string) => loadConfig({ path, env });
const spelled = async (path: string) => spelledConfig((await loadWhole({ path, env })).whole);
const plain = (config: Config): unknown =>
  JSON.parse(JSON.stringify({ ...config, watched: [], lists: [], exposedFiles: [] }));

test.each(['minimal.yaml', 'full.yaml', 'foreign-service.yaml', 'folder'])(
  'what is printed of %s says the same, and printing it changes nothing',
  async (name) => {
    cpSync(fixtures, folder, { recursive: true });
    const path = join(folder, name);
    const original = plain(await load(path));
    const printed = await spelled(path);
    if (name === 'folder') rmSync(path, { recursive: true });
    if (name === 'folder') mkdirSync(path);
    const copy = name === 'folder' ? join(path, 'again.yaml') : join(folder, 'again.yaml');
    const filledIn = stringify(printed).replaceAll('"[secret]"', 'https://hooks.example.com/again');
    writeFileSync(copy, filledIn);
    expect(plain(await load(copy))).toEqual(original);
    expect(await spelled(copy)).toEqual(printed);
  },
);

const everywhere = `
smtp: { url: smtps://mail.example.com, username: alerts, password: hunter2, from: a@example.com }
http: { users: { ops: { password_hash: "$scrypt$ln=15,r=8,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA" } } }
defaults: { http: { headers: { x-api-key: hunter3, accept: text/plain } } }
targets:
  shop:
    check: http
    host: https://shop.example.com/\${PAGE}
    every: 2s
    bearer: \${TOKEN}
    expect: { body: { contains: "a$\${b}" } }
  login: { check: flow, host: https://shop.example.com, values: { word: hunter8 }, steps: [{ url: "/{{word}}" }] }
  pair: { check: tcp, hosts: { a: "a.example.com:1", b: "b.example.com:2" }, labels: { team: web } }
groups: { web: { match: { team: web }, rules: [down, slow], maintenance: [{ cron: 0 3 * * 0, duration: 1h }] } }
rules: { slow: { latency: { above: 800ms } } }
notify: { hook: { webhook: { url: "https://hooks.example.com/hunter4", secret_file: secret, headers: { X-Team: hunter5 } } } }
heartbeat: { url: "\${HC:-https://hc.example.com/hunter6}" }
`;

test('no secret is printed, and a variable by its name', async () => {
  const path = join(folder, 'watchpost.yaml');
  writeFileSync(path, everywhere);
  writeFileSync(join(folder, 'secret'), 'hunter7', { mode: 0o600 });
  const { code, out, err } = await commandHere(['config', 'print', '--config', path], { env });
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out).not.toMatch(/hunter\d|sesame|scrypt/);
  const printed = parse(out) as Record<string, Record<string, unknown>>;
  expect(printed['targets']?.['shop']).toMatchObject({
    host: 'https://shop.example.com/${PAGE}',
    bearer: '${TOKEN}',
    headers: { 'x-api-key': '[secret]', accept: 'text/plain' },
    timeout: '2s',
    rules: ['down'],
    notify: 'all',
    expect: { body: { contains: 'a$${b}' } },
  });
  expect(printed['targets']?.['login']).toMatchObject({ values: { word: '[secret]' } });
  expect(printed['targets']?.['pair-b']).toMatchObject({ host: 'b.example.com:2', rules: ['down', 'slow'] });
  expect(printed['maintenance']).toMatchObject([{ targets: ['pair-a', 'pair-b'], cron: '0 3 * * 0' }]);
  // How many rounds, the check type says where nobody wrote it.
  expect(printed['rules']?.['slow']).toMatchObject({ severity: 'warning' });
  expect(printed['heartbeat']).toEqual({ url: '[secret]', every: '1m' });
  const json = await commandHere(['config', 'print', '--json', '--config', path], { env });
  expect(JSON.parse(json.out)).toEqual(printed);
});
