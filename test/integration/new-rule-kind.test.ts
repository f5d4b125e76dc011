import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { command } from '../support/command.ts';
import { createProgram, eventually } from '../support/program.ts';
import { tcpServer } from '../support/tcp-servers.ts';

// A copy of the program with one kind of rule more, made by the steps of docs/development.md.
const root = new URL('../../', import.meta.url).pathname;
let house = '';

beforeAll(async () => {
  house = await mkdtemp(join(tmpdir(), 'watchpost-house-'));
  for (const part of ['src', 'migrations', 'package.json'])
    await cp(join(root, part), join(house, part), { recursive: true });
  await symlink(join(root, 'node_modules'), join(house, 'node_modules'));
  const rules = join(house, 'src/monitor/judge/rules');
  await cp(join(root, 'test/fixtures/rule/connecting.ts'), join(rules, 'connecting.ts'));
  const index = join(rules, 'index.ts');
  const text = await readFile(index, 'utf8');
  const changed = text.replace('const ruleKinds = [', 'const ruleKinds = [connecting, ');
  expect(changed).not.toBe(text);
  await writeFile(index, `import { connecting } from './connecting.ts';\n${changed}`);
});

afterAll(async () => rm(house, { recursive: true, force: true }));

const config = (host: string, rule: string) => `
data: watchpost.db
http: { listen: 127.0.0.1:0 }
targets: { shop: { check: ${rule.startsWith('ping') ? 'ping' : 'tcp'}, host: "${host}", every: 1s, rules: [far] } }
rules: { far: { ${rule.replace('ping ', '')}, rounds: 1 } }
notify: { ops: { email: { to: [ops@example.com] }, group_wait: 0s } }
`;

test('a kind of rule that is one file and one line in the list is configured, with its mistakes reported', async () => {
  const check = async (host: string, rule: string) => {
    await writeFile(join(house, 'rule.yaml'), config(host, rule));
    return command(['config', 'check', '--config', 'rule.yaml'], house);
  };
  expect(await check('127.0.0.1:9', 'connecting: { above_ms: 5 }')).toMatchObject({ code: 0 });
  const mistaken = await check('127.0.0.1:9', 'connecting: { above: 5 }');
  expect(mistaken.err).toContain('rules.far.connecting.above: unknown key (did you mean "above_ms"?)');
  const unfit = await check('127.0.0.1', 'ping connecting: { above_ms: 5 }');
  expect(unfit.err).toContain('a check of the type ping does not connect');
});

test('it opens an incident, in its own words', async () => {
  await using target = await tcpServer(() => {});
  await using program = await createProgram({ house });
  const { logged, end } = await program.start(config(target.host, 'connecting: { above_ms: 0 }'));
  const { folder } = await logged(/^smtp is not configured/);
  const mails = async () => (await readdir(String(folder))).filter((name) => name.endsWith('.eml'));
  await eventually(60_000, async () => expect(await mails()).toHaveLength(1));
  const [name = ''] = await mails();
  const text = await readFile(join(String(folder), name), 'utf8');
  expect(text).toMatch(/^Subject: \[FAR\] shop/m);
  expect(text).toContain('more than 0 ms to connect');
  await end('SIGTERM');
});
