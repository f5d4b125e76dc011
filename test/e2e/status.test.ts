import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startHttpTarget } from '../support/http-target.ts';
import { createProgram, eventually } from '../support/program.ts';

const config = (host: string) => `
data: watchpost.db
http: { listen: 127.0.0.1:0, public_url: https://status.example.com, users: { ann: { password_hash: "$scrypt$ln=15,r=8,p=1$4IFO6htCCsDcshWEfk4TWw$PeH29v+ClnWs6q4gRQQ7fIB0L7aqn5PJ3iY+zP64NUU" } } }
defaults: { every: 1s }
targets:
  shop: { check: tcp, host: "${host}", timeout: 900ms }
  secret: { check: tcp, host: "${host}", timeout: 900ms }
pages:
  status:
    title: Example Inc.
    targets: { shop: "<b>Web shop" }
    groups: { "<i>Shop": [shop] }
    logo_file: logo.svg
    color: "#aa0000"
    links: { Help: "https://example.com/help" }
  inside: { targets: { secret: Inside } }
`;

const logo = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><rect width="1" height="1"/></svg>';

test('a status page, its JSON, feed and badges tell strangers of its own targets, and of nothing else', async () => {
  await using target = await startHttpTarget();
  await using program = await createProgram();
  await writeFile(join(program.folder, 'logo.svg'), logo);
  const { url } = await program.start(config(new URL(target.url).host));
  const get = async (path: string) => fetch(`${url}${path}`, { redirect: 'manual' });
  const json = async () => (await (await get('/status.json')).json()) as { status: string; services: object[] };

  await eventually(30_000, async () => expect(await json()).toMatchObject({ status: 'up' }));
  expect((await json()).services).toMatchObject([{ name: '<b>Web shop', status: 'up' }]);
  const known = { uptime_90d: 1, uptime_since: expect.stringMatching(/^\d{4}-/) };
  await eventually(30_000, async () => expect((await json()).services).toMatchObject([known]));
  const uptime = await (await get('/badge/status/shop/uptime.svg')).text();
  expect(uptime).toMatch(/aria-label="&lt;b&gt;Web shop: 100 % in \d+ (?:s|min)"/);
  const page = await get('/status');
  expect(page.headers.get('cache-control')).toBe('public, max-age=10');
  const text = await page.text();
  expect(text).toContain('All services are working.');
  expect(text).toContain('&lt;b&gt;Web shop');
  expect(text).not.toContain('secret');
  // It leads to its own links and files, and to no page that visitors may not see.
  expect(text).toContain('<h2>&lt;i&gt;Shop</h2>');
  expect(text).toContain('<a href="https://example.com/help">Help</a>');
  expect(text).toContain('<meta property="og:description" content="All services are working.">');
  expect(text).not.toMatch(/href="\/(?:nodes|incidents|check|)"/);
  const [, image = ''] = /<img src="(\/brand\/status\/logo-[^"]+)"/.exec(text) ?? [];
  expect(await (await get(image)).text()).toBe(logo);
  const [, sheet = ''] = /href="(\/brand\/status\/color-[^"]+)"/.exec(text) ?? [];
  expect(await (await get(sheet)).text()).toContain('--accent:light-dark(#aa0000');
  expect(await (await get('/status.ics')).text()).toMatch(/^BEGIN:VCALENDAR\r\n/);
  expect(await (await get('/status/status/history?month=2025-01')).text()).toContain('No incidents in this month.');
  expect((await get('/status/nothing/history')).status).toBe(404);
  expect(await (await get('/status/inside')).text()).toContain('Inside');
  expect((await get('/status/nothing')).status).toBe(404);
  expect((await get('/')).status).toBe(403);

  // Visitors get their language, by their browser or by choice; what they have chosen is remembered without knowing them.
  const as = async (path: string, headers: Record<string, string>) => fetch(`${url}${path}`, { headers });
  const german = await as('/status', { 'accept-language': 'de-AT,en;q=0.5' });
  expect(german.headers.get('vary')).toMatch(/accept-language, cookie/);
  expect(german.headers.get('set-cookie')).toBeNull();
  const inGerman = await german.text();
  expect(inGerman).toContain('<html lang="de">');
  expect(inGerman).toContain('Alle Dienste funktionieren.');
  const chosen = await as('/status?lang=ja', { 'accept-language': 'de' });
  const cookie = chosen.headers.get('set-cookie') ?? '';
  expect(cookie).toMatch(/^watchpost_language=ja; Path=\/;/);
  expect(await chosen.text()).toContain('すべてのサービスは正常に稼働しています。');
  const remembered = { cookie: cookie.split(';')[0] ?? '', 'accept-language': 'de' };
  expect(await (await as('/status', remembered)).text()).toContain('<html lang="ja">');
  expect(await (await as('/status/status/history', remembered)).text()).toContain('この月に障害は発生していません。');
  for (const asked of ['xx', 'constructor', '', 'x'.repeat(3_000)])
    expect((await as(`/status?lang=${asked}`, { 'accept-language': 'fr' })).headers.get('set-cookie')).toBeNull();
  const none = await as('/status/nothing', { 'accept-language': 'es' });
  expect([none.status, await none.text()]).toEqual([404, expect.stringContaining('Esta página de estado no existe.')]);

  await target.stop();
  await eventually(30_000, async () => expect(await json()).toMatchObject({ status: 'down' }));
  await eventually(90_000, async () =>
    expect(await (await get('/status/status/history')).text()).toContain('is not working'),
  );
  const feed = await (await get('/status.atom')).text();
  expect(feed).toContain('<id>https://status.example.com/status</id>');
  expect(feed).toContain('<title>&lt;b&gt;Web shop: not working</title>');
  expect(feed).not.toContain('#shop');
  const badge = await get('/badge/status/shop/state.svg');
  expect(badge.headers.get('content-type')).toBe('image/svg+xml');
  expect(await badge.text()).toContain('aria-label="&lt;b&gt;Web shop: down"');
  for (const path of ['/badge/status/secret/state.svg', '/badge/inside/shop/state.svg', '/badge/status/shop/x.svg']) {
    expect([path, (await get(path)).status]).toEqual([path, 404]);
  }

  // The stream of a page shows what stands on the page, and begins with what changed since the page was drawn.
  expect((await get('/live/status/nothing')).status).toBe(404);
  expect(text).toContain('data-live="/live/status?lang=en"');
  const since = /data-since="(\d+)"/.exec(text)?.[1] ?? '';
  let heard = '';
  const stream = await get(`/live/status?since=${since}`);
  expect(stream.headers.get('content-type')).toMatch(/^text\/event-stream/);
  for await (const piece of stream.body ?? []) {
    heard += Buffer.from(piece).toString();
    if (heard.includes('event: beat')) break;
  }
  expect(heard).toContain('Web shop is not working.');
  // What follows a German page is German, whatever the browser prefers.
  expect(inGerman).toContain('data-live="/live/status?lang=de"');
  let heardInGerman = '';
  const germanStream = await as(`/live/status?lang=de&since=${since}`, { 'accept-language': 'en' });
  for await (const piece of germanStream.body ?? []) {
    heardInGerman += Buffer.from(piece).toString();
    if (heardInGerman.includes('event: beat')) break;
  }
  expect(heardInGerman).toContain('Web shop ist gestört.');
  expect(heardInGerman).not.toContain('working');
  expect(heard).not.toMatch(/secret|Inside|127\.0\.0\.1/);
});
