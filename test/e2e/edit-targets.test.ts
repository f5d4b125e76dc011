import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { hashPassword } from '#kernel/password.ts';
import { startHttpTarget } from '../support/http-target.ts';
import { createProgram, eventually, query, type Running } from '../support/program.ts';

// Targets that are added, removed and taken back on pages, with the whole program.

const form = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' };

async function post(
  { url }: Running,
  path: string,
  fields: Record<string, string>,
  headers: Record<string, string> = {},
) {
  const body = new URLSearchParams(fields).toString();
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    redirect: 'manual',
    headers: { ...form, ...headers },
    body,
  });
  return {
    status: response.status,
    to: response.headers.get('location'),
    text: await response.text(),
    headers: response.headers,
  };
}

test('a target is tried, added, removed and put back on pages by a user who has signed in', async () => {
  await using target = await startHttpTarget();
  await using program = await createProgram();
  const text = `data: watchpost.db
http: { listen: 127.0.0.1:0, users: { ops: { password_hash: "${await hashPassword('correct horse')}" } } }
config: { writable: true }
service: {}
defaults: { every: 1s }
targets:
  shop: { check: http, host: "${target.url}", timeout: 900ms } # ours
`;
  const running = await program.start(text);
  const file = join(program.folder, 'watchpost.yaml');
  const now = () => readFileSync(file, 'utf8');
  const host = new URL(target.url).host;
  const entered = { host, type: '', name: '', every: '2s' };
  expect((await post(running, '/actions/targets/add', entered)).status).toBe(403);
  const signedIn = await post(running, '/login', { user: 'ops', password: 'correct horse' });
  const cookie = (signedIn.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  const act = async (path: string, fields: Record<string, string>) =>
    post(running, `/actions/targets/${path}`, fields, { cookie });
  const page = async (path: string) =>
    (await fetch(`${running.url}${path}`, { headers: { cookie, accept: 'text/html' } })).text();

  expect(await page('/')).toContain('<a href="/add">Add a target</a>');
  expect(await page('/add')).toContain('placeholder="https://shop.example.com"');
  expect(
    (await post(running, '/actions/targets/add', entered, { cookie, 'sec-fetch-site': 'cross-site' })).status,
  ).toBe(403);
  const tried = await act('try', entered);
  expect(tried.to).toMatch(/^\/add\?host=127\.0\.0\.1%3A\d+&type=tcp&name=127-0-0-1&every=2s&run=/);
  const proposed = await page(tried.to ?? '');
  const [, report = ''] = /href="(\/check-report\/[^"]+)"/.exec(proposed) ?? [];
  await eventually(20_000, async () => {
    const shown = await page(report);
    if (!/1 of 1 node|connect/i.test(shown) || shown.includes('data-live'))
      throw new Error('the report is not complete');
  });
  expect(now()).toBe(text);

  const added = await act('add', entered);
  expect([added.status, added.to]).toEqual([303, '/targets/127-0-0-1']);
  expect(now()).toBe(`${text}  127-0-0-1: { check: tcp, host: ${host}, every: 2s }\n`);
  expect(await page('/targets/127-0-0-1')).toContain('Remove from the configuration');
  await eventually(20_000, () => {
    const found = query(
      program.database,
      "SELECT 1 FROM results JOIN targets ON targets.id = target_id WHERE name = '127-0-0-1'",
    );
    if (found.length === 0) throw new Error('it is not checked yet');
  });

  const again = await act('add', { ...entered, name: '127-0-0-1' });
  expect(again.status).toBe(400);
  expect(again.text).toMatch(/role="alert"[\s\S]*watchpost\.yaml:9:3[\s\S]*value="127-0-0-1"/);
  const bad = await act('add', { ...entered, host: 'a b' });
  expect([bad.status, bad.text]).toEqual([400, expect.stringContaining('must not contain spaces')]);

  const removed = await act('remove', { target: '127-0-0-1' });
  expect([removed.to, now()]).toEqual(['/add?removed=127-0-0-1', text]);
  expect(await page('/add?removed=127-0-0-1')).toContain('127-0-0-1 is removed from the configuration');
  expect((await act('undo', {})).to).toBe('/add?undone=1');
  expect(now()).toContain('127-0-0-1');
  writeFileSync(file, text);
  expect((await act('undo', {})).status).toBe(400);
  expect(now()).toBe(text);
  await running.end('SIGTERM');
});

test('without config.writable nothing of it is there', async () => {
  await using program = await createProgram();
  const text = 'data: watchpost.db\nhttp: { listen: 127.0.0.1:0 }\ntargets: { a: { check: ping, host: 127.0.0.1 } }\n';
  const running = await program.start(text);
  expect((await fetch(`${running.url}/add`)).status).toBe(404);
  expect((await post(running, '/actions/targets/remove', { target: 'a' })).status).toBe(404);
  expect(await (await fetch(`${running.url}/targets/a`)).text()).not.toContain('Remove from');
  await running.end('SIGTERM');
});
