import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { createGunzip } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { html } from '#web/pages/markup.ts';
import { overviewEvents } from '#web/live/events.ts';
import { createBoard } from '#web/state/board.ts';
import { createStream } from '#web/streams.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { up } from '../../support/store.ts';
import { serveWeb } from '../../support/web.ts';
import { vote } from '../../support/store.ts';
import { watchedShop } from '../../support/watched.ts';

// What a viewer of the overview receives, with 1,000 targets on three nodes of which 50 are checked each second.

const names = Array.from({ length: 1_000 }, (_, index) => `target-${String(index).padStart(4, '0')}`);
const nodes = ['de1', 'us1', 'jp1'];
const perSecond = 50;

async function serve() {
  const clock = new FakeClock();
  const random = seededRandom(1);
  const board = createBoard({
    clock,
    watched: () => names.map((name) => ({ ...watchedShop, name, everyMs: 20_000, holdsMs: 120_000 })),
    openIncidents: () => [],
  });
  const days = Array.from({ length: 90 }, () => 'up' as const);
  const past = { days, downMs: [], uptime: 0.99931, since: null, knownMs: null, budgetLeft: 0.3 };
  const events = overviewEvents({
    board,
    past: { of: () => past },
    map: () => html`<div data-part="map"></div>`,
    reload: () => null,
    overload: () => ({ isOfHub: false, nodes: [] }),
    clock,
  });
  const stream = createStream({
    clock,
    version: () => board.version,
    since: events.since,
    onChange: (listener) => board.onChange(listener),
  });
  const server = await serveWeb({
    plugins: [
      async (app) => {
        app.get('/live', (request, reply) =>
          stream.open(request, reply, new URL(request.url, 'http://a').search.slice(1)),
        );
        app.addHook('preClose', async () => stream[Symbol.dispose]());
      },
    ],
  });
  onTestFinished(async () => server.close());
  let next = 0;
  /** Checks 50 targets a second, each in a millisecond of its own. */
  async function play(seconds: number): Promise<void> {
    for (let check = 0; check < seconds * perSecond; check += 1) {
      const name = names[next++ % names.length] ?? '';
      const votes = nodes.map((node) => vote(node, up(0.02 + random.next() * 0.02)));
      board.roundDone(name, { dueAt: clock.now(), votes, verdict: { status: 'up' }, inMaintenance: false });
      await clock.advance(1_000 / perSecond);
    }
  }
  return {
    board,
    clock,
    play,
    load: async () => events.remember(board.targets(), () => true),
    url: `http://127.0.0.1:${server.addr().port}/live`,
  };
}

async function openStream(url: string, headers: Readonly<Record<string, string>> = { 'accept-encoding': 'gzip' }) {
  const request = get(url, { headers, agent: false });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  let bytes = 0;
  let text = '';
  response.on('data', (chunk: Buffer) => void (bytes += chunk.length));
  const source = response.headers['content-encoding'] === 'gzip' ? response.pipe(createGunzip()) : response;
  source.on('data', (chunk: Buffer) => void (text += chunk.toString()));
  onTestFinished(() => void response.destroy());
  return { response, over: once(source, 'end'), bytes: () => bytes, text: () => text };
}

test.each([
  { name: 'after the rounds that a row shows', warmUp: 820 },
  { name: 'soon after the start', warmUp: 60 },
])('a viewer receives less than 2 kB a second of 50 checks a second: $name', async ({ warmUp }) => {
  const { play, load, url } = await serve();
  await play(warmUp);
  await load();
  const { bytes } = await openStream(url);
  await play(10);
  const before = bytes();
  await play(30);
  const each = (bytes() - before) / 30;
  expect(each).toBeGreaterThan(100);
  expect(each).toBeLessThan(2_000);
});

test('a packed stream is one whole gzip file, whoever came when', async () => {
  const { play, load, clock, board, url } = await serve();
  await play(60);
  await load();
  const [packed, plain] = [await openStream(url), await openStream(url, {})];
  await play(5);
  const late = await openStream(`${url}?since=${board.version - 20}`);
  expect(late.response.headers['content-encoding']).toBe('gzip');
  await play(40);
  await clock.advance(10_000);
  await Promise.all([packed, plain, late].map(async ({ over }) => over));
  expect(packed.text()).toBe(plain.text());
  const rows = JSON.parse(/^data: (.*)$/m.exec(late.text())?.[1] ?? '') as { items: readonly object[]; ticks?: object };
  // Who comes later gets whole rows of what changed, and then goes on as the others do.
  expect([rows.items.length, rows.ticks]).toEqual([20, undefined]);
  expect(late.text()).toContain('"ticks":[["target-');
});
