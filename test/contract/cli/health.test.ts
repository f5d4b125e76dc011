import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { HealthOptions } from '#web/health.ts';
import { serveWeb } from '../../support/web.ts';
import { commandHere } from '../../support/command.ts';
import { closedPort } from '../../support/tcp-servers.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'watchpost-health-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

async function health(config: string, ...args: readonly string[]) {
  const path = join(folder, 'watchpost.yaml');
  writeFileSync(path, config);
  return commandHere(['health', ...args, '--config', path], { env: { PLACE: '127.0.0.1' } });
}

async function serve(state: Partial<HealthOptions> = {}) {
  return serveWeb({
    health: { pulses: [], notReady: () => [], ...state },
  });
}

test('a daemon whose parts make progress is healthy, wherever the configuration says that it listens', async () => {
  await using web = await serve();
  const { port } = web.addr();
  const says = { code: 0, out: `healthy: http://127.0.0.1:${port}/healthz\n`, err: '' };
  expect(await health(`http: { listen: 127.0.0.1:${port} }`)).toEqual(says);
  expect(await health(`http: { listen: 0.0.0.0:${port} }`)).toEqual(says);
  expect(await health(`http: { listen: "\${PLACE}:${port}" }`)).toEqual(says);
  expect(await health(`http: { listen: 192.0.2.1:1, admin: 127.0.0.1:${port} }`)).toEqual(says);
});

test('a mistake elsewhere in the file, which the daemon has not loaded, does not make it unhealthy', async () => {
  await using web = await serve();
  const broken = `http: { listen: 127.0.0.1:${web.addr().port} }\ntargets: { shop: { chekc: tpc } }\nsmtp: { password_file: nowhere }\n`;
  expect(await health(broken)).toMatchObject({ code: 0 });
});

test('a stuck part is unhealthy, and is named', async () => {
  await using web = await serve({ pulses: [{ name: 'outbox', ageMs: () => 2, limitMs: 1 }] });
  const config = `http: { listen: 127.0.0.1:${web.addr().port} }`;
  expect(await health(config)).toMatchObject({ code: 1, out: '', err: expect.stringContaining('no progress: outbox') });
  const json = await health(config, '--json');
  expect(json.code).toBe(1);
  expect(JSON.parse(json.out)).toMatchObject({ well: false, answer: { stuck: ['outbox'] } });
});

test('--ready asks whether requests are taken', async () => {
  await using web = await serve({ notReady: () => ['no node is online'] });
  const config = `http: { listen: 127.0.0.1:${web.addr().port} }`;
  expect(await health(config)).toMatchObject({ code: 0 });
  expect(await health(config, '--ready')).toMatchObject({
    code: 1,
    err: expect.stringContaining('/readyz: no node is online'),
  });
});

test('nobody there, or somebody else, is not healthy', async () => {
  const nobody = await health(`http: { listen: 127.0.0.1:${await closedPort()} }`);
  expect(nobody).toMatchObject({ code: 1, out: '', err: expect.stringContaining('ECONNREFUSED') });
  const other = createServer((_, answer) => answer.end('hello')).listen(0, '127.0.0.1');
  await new Promise((resolve) => other.once('listening', resolve));
  const { port } = other.address() as AddressInfo;
  expect(await health(`http: { listen: 127.0.0.1:${port} }`)).toMatchObject({
    code: 1,
    err: expect.stringContaining('not from a Watchpost'),
  });
  other.close();
});

test.each([
  { config: 'http: { listen: nowhere }', says: /:1:17: http\.listen: expected an address and a port/ },
  { config: 'http: { listen: "${UNSET}:80" }', says: /http\.listen/ },
  { config: 'http: [', says: /not valid YAML/ },
])('$config is told as the mistake that it is', async ({ config, says }) => {
  const { code, err } = await health(config);
  expect(code).toBe(2);
  expect(err).toMatch(says);
});

test('port 0 is known to nobody', async () => {
  expect(await health('http: { listen: 127.0.0.1:0 }')).toMatchObject({
    code: 1,
    err: expect.stringContaining('port 0'),
  });
});
