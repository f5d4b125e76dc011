import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { hashPassword } from '#kernel/password.ts';
import { startHttpTarget } from '../support/http-target.ts';
import { createProgram, eventually, query } from '../support/program.ts';

test.concurrent('who may do what, the address and the service change while it runs, and nothing is lost over it', async () => {
  await using target = await startHttpTarget();
  await using program = await createProgram();
  const config = (http: string, more = '') => `
data: watchpost.db
http: { listen: 127.0.0.1:0${http} }
targets: { shop: { check: http, host: "${target.url}", every: 1s, timeout: 900ms } }
${more}`;
  const { url, log, logged, end } = await program.start(config(''));
  const reload = async (text: string) => {
    await writeFile(join(program.folder, 'watchpost.yaml'), text);
    const answer = await fetch(`${url}/-/reload`, { method: 'POST' });
    return answer.json();
  };
  const page = async (headers: Record<string, string> = {}) =>
    (await fetch(`${url}/`, { headers, redirect: 'manual' })).status;
  const start = async (headers: Record<string, string> = {}) => {
    const asked = `${url}/check-http?host=${encodeURIComponent(target.url)}`;
    const answer = await fetch(asked, { headers: { accept: 'application/json', ...headers } });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };
  expect(await page()).toBe(200);
  expect((await start()).status).toBe(404);

  const password = await hashPassword('correct horse');
  const users = (hash: string) => `, users: { ops: { password_hash: "${hash}" } }`;
  await reload(config(users(password)));
  expect(await page()).not.toBe(200);
  const signedIn = await fetch(`${url}/login`, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' },
    body: 'user=ops&password=correct+horse',
  });
  const cookie = signedIn.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  expect(await page({ cookie })).toBe(200);

  const service = (limits: string) => `service: { limits: { per_client: ${limits} } }`;
  const address = ', public_url: "https://status.example.com"';
  await reload(config(users(password) + address, service('2/d')));
  // Who has signed in stays so.
  expect(await page({ cookie })).toBe(200);
  const { status, body } = await start();
  expect(status).toBe(200);
  expect(body['permanent_link']).toMatch(/^https:\/\/status\.example\.com\/check-report\//);
  await start();
  expect((await start()).status).toBe(429);
  await reload(config(users(password), service('2/d')));
  expect((await start()).status).toBe(429);
  await reload(config(users(password), service('3/d')));
  expect((await start()).status).toBe(200);
  const result = await fetch(`${url}/check-result/${String(body['request_id'])}`);
  expect(result.status).toBe(200);

  // Another password ends the sessions of the old one.
  await reload(config(users(await hashPassword('battery staple'))));
  expect(await page({ cookie })).not.toBe(200);
  expect((await start()).status).toBe(404);
  expect(await reload(config(', public_url: 5'))).toMatchObject({ problems: [expect.stringContaining('public_url')] });
  expect(await page()).not.toBe(200);
  expect(await reload(config('').replace('127.0.0.1:0', '127.0.0.1:1'))).toMatchObject({
    needsRestart: ['http.listen'],
  });
  expect(await page()).toBe(200);
  await logged(/^some changes take effect after a restart/);
  await eventually(10_000, () => expect(target.requests).toBeGreaterThan(4));
  // Each was asked for: none came because a file had changed meanwhile.
  expect(log.filter(({ cause }) => cause === 'the files changed')).toEqual([]);
  expect(await end('SIGTERM')).toEqual({ code: 0, signal: null });
});

test.concurrent('nodes come and go, and another service takes over and gives back, while everything else goes on', async () => {
  await using target = await startHttpTarget();
  await using program = await createProgram();
  await using other = await createProgram();
  const service = await other.start(`
data: watchpost.db
http: { listen: 127.0.0.1:0 }
nodes: { jp1: {} }
service: { allow_private: true, limits: { per_client: 1000/min, per_target: 1000/min } }
`);
  const config = (nodes: string) => `
data: watchpost.db
http: { listen: 127.0.0.1:0 }
targets: { shop: { check: tcp, host: "127.0.0.1:${target.port}", every: 5s } }
${nodes}`;
  const { url, logged, log, end } = await program.start(config('nodes: { de1: {} }'));
  const seen = (since: number) =>
    query(program.database, `SELECT DISTINCT node, status FROM history WHERE due_at >= ${since} ORDER BY node`).map(
      ({ node, status }) => `${String(node)} ${String(status)}`,
    );
  const sees = async (expected: readonly string[], since = 0) =>
    eventually(60_000, () => expect(seen(since)).toEqual(expected));
  const reload = async (nodes: string) => {
    await writeFile(join(program.folder, 'watchpost.yaml'), config(nodes));
    const answer = await fetch(`${url}/-/reload`, { method: 'POST' });
    expect(await answer.json()).toMatchObject({ ok: 1, needsRestart: [] });
  };
  const replacements = async (count: number) =>
    eventually(60_000, () => expect(log.filter(({ msg }) => /switched to other nodes/.test(msg))).toHaveLength(count));
  await sees(['de1 up']);

  await reload('nodes: { us1: {}, fr1: { location: [fr, France, Paris] } }');
  await replacements(1);
  await sees(['fr1 up', 'us1 up'], Date.now());
  expect(await (await fetch(`${url}/metrics`)).text()).toMatch(/^watchpost_node_up\{[^}]*node="fr1"[^}]*\} 1$/m);

  await reload(`service: { url: "${service.url}", budget: 1000/min }`);
  await replacements(2);
  await sees(['jp1 up'], Date.now());

  await reload('nodes: { us1: {} }');
  await replacements(3);
  await sees(['us1 up'], Date.now());
  // No round of all these was anybody's fault.
  expect(query(program.database, `SELECT * FROM history WHERE status <> 'up'`)).toEqual([]);
  expect(log.filter(({ level }) => level === 'error')).toEqual([]);
  await logged(/^configuration reloaded/);
  expect(await end('SIGTERM')).toEqual({ code: 0, signal: null });
});

test.concurrent('SIGHUP during the start does not end the program: it reads its configuration once more', async () => {
  const hangUp = `import net from 'node:net';
const { listen } = net.Server.prototype;
net.Server.prototype.listen = function (...args) {
  process.kill(process.pid, 'SIGHUP');
  return listen.apply(this, args);
};`;
  const environment = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(hangUp)}` };
  await using program = await createProgram({ environment });
  const { logged, end } = await program.start(`
data: watchpost.db
http: { listen: 127.0.0.1:0 }
targets: { shop: { check: tcp, host: "127.0.0.1:1" } }
`);
  expect(await logged(/^configuration reloaded/)).toMatchObject({ cause: 'SIGHUP' });
  expect(await end('SIGTERM')).toEqual({ code: 0, signal: null });
});

test.concurrent('after a change of a rule alone, rounds go on and an outage is reported', async () => {
  const target = await startHttpTarget();
  await using program = await createProgram();
  const config = (rounds: number) => `
data: watchpost.db
http: { listen: 127.0.0.1:0 }
nodes: { de1: {}, us1: {} }
rules: { down: { failing: majority, rounds: ${rounds} } }
targets: { shop: { check: http, host: "${target.url}", every: 4s } }
`;
  const { url } = await program.start(config(2));
  const results = (since: number) =>
    query(program.database, `SELECT due_at, status, late_at FROM results WHERE due_at > ${since} ORDER BY due_at`);
  const lastDueAt = () => Number(results(0).at(-1)?.['due_at'] ?? 0);
  // A hub that has just started waits for its nodes in any case; and no round is under way when it reloads.
  const from = Date.now() + 15_000;
  await eventually(60_000, () => {
    expect(lastDueAt()).toBeGreaterThan(from);
    const sinceMs = Date.now() - lastDueAt();
    expect(sinceMs > 1_500 && sinceMs < 3_000).toBe(true);
  });
  await writeFile(join(program.folder, 'watchpost.yaml'), config(1));
  await fetch(`${url}/-/reload`, { method: 'POST' });
  const since = lastDueAt();
  await eventually(30_000, () => expect(results(since)).toHaveLength(4));
  expect(results(since).map(({ status, late_at: late }) => [status, late])).toEqual([
    [0, null],
    [0, null],
    [0, null],
    [0, null],
  ]);
  await target[Symbol.asyncDispose]();
  await eventually(30_000, () => expect(query(program.database, 'SELECT * FROM incidents')).toHaveLength(1));
});
