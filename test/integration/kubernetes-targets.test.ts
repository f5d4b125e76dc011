import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startKubernetesApi } from '../support/kubernetes-api.ts';
import { createProgram, eventually } from '../support/program.ts';

const services = '/api/v1/services';

test.concurrent('the daemon watches what the annotations of a cluster name, and keeps it while the API server refuses', async () => {
  await using api = await startKubernetesApi();
  const shop = createServer((_request, response) => response.end('ok'));
  shop.listen(0, '127.0.0.1');
  await once(shop, 'listening');
  const { port } = shop.address() as AddressInfo;
  const named = (name: string) => ({
    metadata: {
      name,
      namespace: 'shop',
      annotations: { 'watchpost.host': `http://127.0.0.1:${port}/{name}`, 'watchpost.label.team': 'web' },
    },
  });
  api.objects.set(services, [named('front')]);
  await using program = await createProgram();
  writeFileSync(join(program.folder, 'token'), api.token);
  writeFileSync(join(program.folder, 'ca.crt'), api.ca);
  const { url, log, logged, end } = await program.start(`
data: watchpost.db
http: { listen: 127.0.0.1:0 }
defaults: { every: 1s, notify: [] }
targets_from:
  found:
    kubernetes: { url: "https://127.0.0.1:${api.port}", kinds: [service] }
    ask: { every: 1s, token_file: token, ca_file: ca.crt }
    check: http
`);
  try {
    const metrics = async () => (await fetch(`${url}/metrics`)).text();
    const isUp = async (name: string) =>
      eventually(60_000, async () =>
        expect(await metrics()).toMatch(new RegExp(`^watchpost_up\\{target="[^"]*${name}",.*\\} 1$`, 'm')),
      );
    await isUp('front');
    api.objects.set(services, [named('front'), named('cart')]);
    await isUp('cart');
    api.refuse = () => ({ status: 403, message: 'forbidden' });
    await logged(/^cannot fetch target list; keeping the last one$/);
    expect(await metrics()).toContain('cart"');
    api.refuse = () => null;
    api.objects.set(services, [named('cart')]);
    await logged(/^target list is available again$/);
    await eventually(60_000, async () => expect(await metrics()).not.toContain('front"'));
    expect(api.received.every((one) => one.startsWith(`GET ${services}?`))).toBe(true);
    expect((await end('SIGTERM')).code).toBe(0);
    expect(log.filter(({ level }) => level === 'error')).toEqual([]);
    expect(JSON.stringify(log)).not.toContain(api.token);
  } finally {
    shop.close();
  }
}, 180_000);

test.concurrent('a change is seen at once, of what names targets alone, and a refused watch leaves the asking', async () => {
  await using api = await startKubernetesApi();
  const plain = (name: string) => ({ metadata: { name, namespace: 'shop' } });
  const host = (name: string, port: number) => ({
    metadata: { name, namespace: 'shop', annotations: { 'watchpost.host': `127.0.0.1:${port}` } },
  });
  api.objects.set(services, [host('front', 9)]);
  await using program = await createProgram();
  writeFileSync(join(program.folder, 'token'), api.token);
  writeFileSync(join(program.folder, 'ca.crt'), api.ca);
  const { url, log, logged } = await program.start(`
data: watchpost.db
http: { listen: 127.0.0.1:0 }
defaults: { every: 1h, notify: [] }
targets_from:
  found:
    kubernetes: { url: "https://127.0.0.1:${api.port}", kinds: [service] }
    ask: { every: 1h, token_file: token, ca_file: ca.crt }
    check: tcp
`);
  const pattern = /^watchpost_target_state\{target="([^"]*)",state="up"/gm;
  const names = async () => {
    const text = await (await fetch(`${url}/metrics`)).text();
    return Array.from(text.matchAll(pattern), ([, name = '']) => name).toSorted();
  };
  const lists = () => api.received.filter((one) => !one.includes('watch=1')).length;
  const isWatched = async () => eventually(30_000, () => expect(api.watchers(services)).toBe(1));
  await isWatched();
  api.change(services, [host('front', 9), host('cart', 10)]);
  await eventually(30_000, async () => expect(await names()).toEqual(['found-127-0-0-1-10', 'found-127-0-0-1-9']));
  await isWatched();
  const before = lists();
  // Neither names a target; a bookmark says only how far one has come.
  api.change(services, [host('front', 9), host('cart', 10), plain('other')]);
  api.say(services, '{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9"}}}');
  await setTimeout(6_500);
  expect(lists()).toBe(before);
  // One that no longer names a target does count.
  api.change(services, [plain('front'), host('cart', 10)]);
  await eventually(30_000, async () => expect(await names()).toEqual(['found-127-0-0-1-10']));
  await isWatched();
  api.refuse = (_path, query) => (query.has('watch') ? { status: 403, message: 'no watch' } : null);
  api.say(services, '{"type":"ADDED","object":');
  await logged(/^cannot watch target list$/);
  const said = log.find(({ msg }) => msg === 'cannot watch target list');
  expect(said?.['trouble']).toBe(
    'the API server answered a watch with status 403 (no watch): add the verb watch to its rules',
  );
  expect(await names()).toEqual(['found-127-0-0-1-10']);
}, 180_000);
