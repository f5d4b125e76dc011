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

test.concurrent('a target is tried, added, removed and put back on pages by a user who has signed in', async () => {
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
  // Its node may still be starting.
  const tried = await eventually(20_000, async () => {
    const reply = await act('try', entered);
    if (reply.status === 503) {
      expect(reply.text).toMatch(/role="alert"[\s\S]*no node can run this check/);
      throw new Error('there is no node yet');
    }
    return reply;
  });
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
  expect([added.status, added.to]).toEqual([303, '/targets/127-0-0-1?changed=1']);
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
  const secret = await act('add', { ...entered, host: 'https://a.example/${HOME}' });
  expect([secret.status, secret.text]).toEqual([
    400,
    expect.stringContaining('references to variables are added by hand'),
  ]);
  const bad = await act('add', { ...entered, host: 'a b' });
  expect([bad.status, bad.text]).toEqual([400, expect.stringContaining('must not contain spaces')]);

  const removed = await act('remove', { target: '127-0-0-1' });
  expect([removed.to, now()]).toEqual(['/add?removed=127-0-0-1', text]);
  expect(await page('/add?removed=127-0-0-1')).toContain('127-0-0-1 is removed from the configuration');
  expect((await act('undo', {})).to).toBe('/targets/127-0-0-1?undone=1');
  expect(now()).toContain('127-0-0-1');
  writeFileSync(file, text);
  expect((await act('undo', {})).status).toBe(400);
  expect(now()).toBe(text);
  await running.end('SIGTERM');
});

test.concurrent('the lines of a target are edited: errors at their line, the difference, a conflict, a new name, undo', async () => {
  await using target = await startHttpTarget();
  await using program = await createProgram();
  const before = `data: watchpost.db
http: { listen: 127.0.0.1:0, users: { ops: { password_hash: "${await hashPassword('correct horse')}" } } }
config: { writable: true }
service: {}
defaults: { every: 1s }
`;
  const shop = `  # the shop
  shop:
    check: http # as customers do
    host: "${target.url}"
    timeout: 900ms
`;
  const after = '  other: { check: tcp, host: "127.0.0.1:1" }\nrules: { down: { failing: any } }\n';
  const text = `${before}targets:\n${shop}${after}`;
  const running = await program.start(text);
  const file = join(program.folder, 'watchpost.yaml');
  const now = () => readFileSync(file, 'utf8');
  const signedIn = await post(running, '/login', { user: 'ops', password: 'correct horse' });
  const cookie = (signedIn.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  const page = async (path: string, headers: Record<string, string> = { cookie }) =>
    (await fetch(`${running.url}${path}`, { headers: { ...headers, accept: 'text/html' } })).text();
  const own = shop.slice(shop.indexOf('  shop:')).trimEnd();
  // As browsers send them.
  const edit = async (lines: string, step: string, reviewed?: string, seen = own) =>
    post(
      running,
      '/actions/targets/edit',
      {
        target: 'shop',
        lines: lines.replaceAll('\n', '\r\n'),
        seen: JSON.stringify(seen),
        ...(reviewed !== undefined && { reviewed: JSON.stringify(reviewed) }),
        step,
      },
      { cookie },
    );

  expect(await page('/targets/shop')).toContain('href="/targets/shop/edit"');
  expect(await page('/targets/shop/edit')).toContain('check: http # as customers do');
  expect((await post(running, '/actions/targets/edit', { target: 'shop' })).status).toBe(403);

  const wrong = await edit(own.replace('timeout: 900ms', 'timeuot: 900ms'), 'show');
  expect([wrong.status, wrong.text]).toEqual([
    400,
    expect.stringMatching(/role="alert"[\s\S]*Line 4, <code>timeuot: 900ms<\/code>: [\s\S]*did you mean [^<]*timeout/),
  ]);
  const broken = await edit(own.replace('host: "', 'host: "a" "'), 'show');
  expect([broken.status, broken.text]).toEqual([400, expect.stringMatching(/role="alert"[\s\S]*Line 3, /)]);
  for (const [more, why] of [
    [`${own}\n  more: { check: tcp, host: "127.0.0.1:2" }`, 'must be one target, and change nothing else'],
    [own.replace(/timeout.*/, "expect: { body: { contains: '${HOME}' } }"), '\\$\\{HOME\\}: references to files'],
    ['  # nothing', 'must be one target'],
  ] as const) {
    const refused = await edit(more, 'show');
    expect([refused.status, refused.text]).toEqual([
      400,
      expect.stringMatching(new RegExp(`role="alert"[\\s\\S]*${why}`)),
    ]);
  }

  const slower = own.replace('900ms', '800ms');
  const shown = await edit(slower, 'show');
  expect(shown.text).toMatch(/class="removed"[\s\S]*timeout: 900ms[\s\S]*class="added"[\s\S]*timeout: 800ms/);
  const tried = await eventually(20_000, async () => {
    const reply = await edit(slower, 'try');
    if (reply.status === 503) throw new Error('there is no node yet');
    return reply;
  });
  expect(tried.text).toMatch(/href="\/check-report\//);
  // What was not shown is not saved.
  expect((await edit(slower, 'save', own)).text).toContain('Save');
  expect(now()).toBe(text);
  const saved = await edit(slower, 'save', slower);
  expect([saved.status, saved.to, now()]).toEqual([303, '/targets/shop?changed=1', text.replace('900ms', '800ms')]);
  expect(await page('/targets/shop?changed=1')).toContain('The configuration is changed.');
  const changes = await page('/changes');
  expect(changes).toMatch(/a target was changed on a page[\s\S]*<a href="\/targets\/shop">shop<\/a>/);
  expect(await page('/')).toContain('<a href="/changes">1 target changed</a>');

  const late = await edit(own.replace('900ms', '700ms'), 'save');
  expect([late.status, late.text]).toEqual([
    409,
    expect.stringMatching(/was changed in the file meanwhile[\s\S]*800ms[\s\S]*700ms/),
  ]);
  const undone = await post(running, '/actions/targets/undo', {}, { cookie });
  expect([undone.to, now()]).toEqual(['/targets/shop?undone=1', text]);

  const renamed = own.replace('shop:', 'store:');
  expect((await edit(renamed, 'show')).text).toContain('shop becomes store: a new target without a past.');
  expect((await edit(renamed, 'save', renamed)).to).toBe('/targets/store?changed=1');
  expect(await page('/targets/store')).toContain('Remove from the configuration');
  expect((await post(running, '/actions/targets/undo', {}, { cookie })).to).toBe('/targets/shop?undone=1');
  expect(now()).toBe(text);

  // A file that somebody else writes is in the list of changes as well, with what is wrong in it for users only.
  writeFileSync(file, `${text}wrong: 1\n`);
  await eventually(20_000, async () => {
    const list = await page('/changes');
    if (!/the files changed[\s\S]*Invalid: nothing changed[\s\S]*wrong: unknown key/.test(list)) throw new Error(list);
  });
  expect(await page('/')).toContain('The configuration in the files is invalid');
  await running.end('SIGTERM');
});

test.concurrent('without config.writable nothing of it is there', async () => {
  await using program = await createProgram();
  const text = 'data: watchpost.db\nhttp: { listen: 127.0.0.1:0 }\ntargets: { a: { check: ping, host: 127.0.0.1 } }\n';
  const running = await program.start(text);
  expect((await fetch(`${running.url}/add`)).status).toBe(404);
  expect((await post(running, '/actions/targets/remove', { target: 'a' })).status).toBe(404);
  expect(await (await fetch(`${running.url}/targets/a`)).text()).not.toContain('Remove from');
  await running.end('SIGTERM');
});
