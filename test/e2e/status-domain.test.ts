import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { startHttpTarget } from '../support/http-target.ts';
import { createProgram, eventually } from '../support/program.ts';

const config = (host: string, publicUrl: string) => `
data: watchpost.db
http: { listen: 127.0.0.1:0, ${publicUrl} trust_proxy: [127.0.0.2] }
defaults: { every: 1s }
targets:
  shop: { check: tcp, host: "${host}", timeout: 900ms }
pages:
  status: { targets: { shop: Main shop } }
  shop:
    title: Shop Inc.
    targets: { shop: Web shop }
    domain: Status.Shop.example
`;

interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

async function ask(base: string, path: string, headers: Record<string, string>, more: object = {}): Promise<Answer> {
  const asked = request(`${base}${path}`, { headers, ...more });
  asked.end();
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the event gives
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  return { status: response.statusCode ?? 0, headers: response.headers, body: await textOf(response) };
}

test('the domain of a page has that page at / and nothing else of the program, with links to that domain', async () => {
  await using target = await startHttpTarget();
  await using program = await createProgram();
  const targetHost = new URL(target.url).host;
  const { url } = await program.start(config(targetHost, 'public_url: https://hub.example,'));
  const get = async (path: string, host = 'status.shop.example') => ask(url, path, { host });

  await eventually(30_000, async () =>
    expect(JSON.parse((await get('/status.json')).body)).toMatchObject({ status: 'up' }),
  );
  for (const host of ['status.shop.example', 'STATUS.shop.example:8443', 'status.shop.example.']) {
    const page = await get('/', host);
    expect([host, page.status]).toEqual([host, 200]);
    expect(page.body).toContain('Web shop');
    expect(page.body).not.toContain('Main shop');
    expect(page.body).toContain('<link rel="canonical" href="https://status.shop.example/">');
    expect(page.body).toContain('<meta property="og:url" content="https://status.shop.example/">');
  }
  const { body } = await get('/');
  const [, card = ''] =
    /<meta property="og:image" content="https:\/\/status\.shop\.example(\/card\/[^"]+)">/.exec(body) ?? [];
  const picture = await get(card);
  expect([picture.status, picture.headers['content-type']]).toEqual([200, 'image/png']);
  expect(picture.headers['cross-origin-resource-policy']).toBe('cross-origin');
  expect((await get('/card/status/x.png')).status).toBe(404);
  // Whatever it leads to is there.
  const paths = [...body.matchAll(/(?:href|src|data-live)="(\/[^"]*)"/g)].map(([, path = '']) => path);
  expect(paths).toEqual(
    expect.arrayContaining(['/', '/status.atom?lang=en', '/status.ics', '/history', '/live?lang=en']),
  );
  for (const path of paths.filter((one) => !one.startsWith('/live')))
    expect([path, (await get(path)).status]).toEqual([path, 200]);
  expect((await get('/favicon.ico')).status).toBe(302);
  expect((await get('/status.atom')).body).toContain('<id>https://status.shop.example/</id>');
  expect((await get('/status.atom')).body).toContain('href="https://status.shop.example/status.atom?lang=en"');
  expect((await get('/badge/shop/shop/state.svg')).body).toContain('Web shop');

  const others = [
    '/status',
    '/status/shop',
    '/status/status',
    '/metrics',
    '/healthz',
    '/readyz',
    '/nodes',
    '/login',
    '/check',
  ];
  const more = [
    '/targets/shop',
    '/incidents',
    '/api/v1/status',
    '/-/notes',
    '/badge/status/shop/state.svg',
    '/brand/status/x',
    '//',
    '/%2e%2e/metrics',
  ];
  for (const path of [...others, ...more]) {
    const { status, body: answer } = await get(path);
    expect([path, status]).toEqual([path, 404]);
    expect(answer).not.toMatch(/Main shop|\/incidents"/);
  }
  // What goes wrong there leads nowhere else either, and is in the visitor's language.
  const browser = { host: 'status.shop.example', accept: 'text/html', 'accept-language': 'de' };
  const broken = await ask(url, '/confirm/%zz', browser);
  expect(broken.status).toBe(400);
  expect(broken.body).toContain('Es ist ein Fehler aufgetreten');
  expect(broken.body).not.toContain('href="/nodes"');
  // Elsewhere everything is as before, and what leads away leads to the domain.
  expect((await get('/status', 'hub.example')).body).toContain('Main shop');
  expect((await get('/healthz', 'hub.example')).status).toBe(200);
  const among = (await get('/status/shop', 'hub.example')).body;
  expect(among).toContain('<link rel="canonical" href="https://status.shop.example/">');
  expect(among).toContain('data-live="/live/status/shop?lang=en"');

  // A proxy says which host was asked only if it is trusted.
  const forwarded = { host: 'hub.example', 'x-forwarded-host': 'status.shop.example' };
  expect((await ask(url, '/', forwarded)).body).not.toContain('Web shop</h2>');
  const proxied = await ask(url, '/', forwarded, { localAddress: '127.0.0.2' });
  expect(proxied.body).toContain('<h2>Web shop</h2>');

  // The stream of the page is at the domain too.
  const stream = request(`${url}/live?lang=fr&since=1`, { headers: { host: 'status.shop.example' } });
  stream.end();
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as above
  const [events] = (await once(stream, 'response')) as [IncomingMessage];
  let heard = '';
  for await (const piece of events) {
    heard += String(piece);
    if (heard.includes('event: beat')) break;
  }
  expect(heard).toContain('Tous les services sont opérationnels.');

  // A reload gives the domain to another page.
  const moved = config(targetHost, 'public_url: https://hub.example,').replace('Status.Shop.example', 'other.example');
  await writeFile(join(program.folder, 'watchpost.yaml'), moved);
  await eventually(30_000, async () => expect((await get('/', 'other.example')).body).toContain('<h2>Web shop</h2>'));
  expect((await get('/nodes')).status).toBe(200);
});
