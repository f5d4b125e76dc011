import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { command } from '../support/command.ts';
import { startSink } from '../support/http-sink.ts';

const root = new URL('../../', import.meta.url).pathname;
let house: string;

// The steps of docs/development.md, done on a copy of the program.
beforeAll(() => {
  house = mkdtempSync(join(tmpdir(), 'watchpost-house-'));
  for (const part of ['src', 'migrations', 'package.json'])
    cpSync(join(root, part), join(house, part), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(house, 'node_modules'));
  cpSync(join(root, 'test/fixtures/channel/doorbell.ts'), join(house, 'src/channels/doorbell.ts'));
  const index = join(house, 'src/channels/index.ts');
  const list = readFileSync(index, 'utf8').replace('const channels = [', 'const channels = [doorbell, ');
  writeFileSync(index, `import { doorbell } from './doorbell.ts';\n${list}`);
});
afterAll(() => rmSync(house, { recursive: true }));

async function run(notify: string, ...args: readonly string[]) {
  const path = join(house, 'watchpost.yaml');
  writeFileSync(path, `targets: { shop: { check: tcp, host: "127.0.0.1:1" } }\nnotify: ${notify}\n`);
  return command([...args, '--config', path], house);
}

describe('a channel that is one file and one line in the list', () => {
  test('is in the schema', async () => {
    const { out } = await command(['config', 'schema'], house);
    const { properties } = JSON.parse(out).properties.notify.additionalProperties;
    expect(properties.doorbell).toMatchObject({ description: 'Rings a bell.', required: ['url'] });
    expect(Object.keys(properties)).toContain('email');
  });

  test('is configured, with its mistakes reported', async () => {
    expect(await run('{ home: { doorbell: { url: "https://bell.example.com" } } }', 'config', 'check')).toMatchObject({
      code: 0,
    });
    const { code, err } = await run('{ home: { doorbell: { uri: "x" } }, none: {} }', 'config', 'check');
    expect(code).toBe(2);
    expect(err).toMatch(/notify\.home\.doorbell\.uri: unknown key \(did you mean "url"\?\)/);
    expect(err).toMatch(/notify\.none: has no channel: add .*doorbell/);
  });

  test('delivers', async () => {
    await using bell = await startSink();
    const notify = `{ home: { doorbell: { url: "${bell.origin}/ring" } } }`;
    const { code, out } = await run(notify, 'alert', 'test', 'home', '--kind', 'opened');
    expect({ code, out }).toEqual({ code: 0, out: 'home  doorbell home  opened  accepted: 200 OK\n' });
    expect(bell.received).toMatchObject([{ method: 'POST', path: '/ring', body: expect.stringMatching(/^\[TEST\]/) }]);
  });
});
