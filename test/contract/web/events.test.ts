import { get, type IncomingMessage } from 'node:http';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '#kernel/clock.ts';
import type { Incident } from '#monitor/judge/incident.ts';
import { loadAssets } from '#web/assets/assets.ts';
import { historyDocument } from '#web/history-document.ts';
import { createBoard } from '#web/state/board.ts';
import { stateEvents } from '#web/live/events.ts';
import { createStream } from '#web/streams.ts';
import { monitorRoutes } from '#web/pages/monitor-routes.ts';
import { createSite } from '#web/pages/site.ts';
import { openAccess, serveWeb } from '../../support/web.ts';
import { down, incident, vote } from '../../support/store.ts';
import { watchedShop } from '../../support/watched.ts';

const document = historyDocument();
const operation = document.paths['/api/v1/events'].get;
const ajv = new Ajv2020({ strict: false, validateFormats: false });
const fits = {
  state: ajv.compile({ ...document.components.schemas['StateEvent'] }),
  incident: ajv.compile({ ...document.components.schemas['IncidentEvent'] }),
  beat: ajv.compile({ ...document.components.schemas['BeatEvent'] }),
};

async function serve(mostViewers = 100) {
  const open: Incident[] = [];
  const board = createBoard({
    clock: systemClock,
    watched: () => [{ ...watchedShop, everyMs: 1_000, holdsMs: 60_000 }],
    openIncidents: () => open,
  });
  const stream = createStream({
    clock: systemClock,
    version: () => board.version,
    since: stateEvents(board),
    onChange: (listener) => board.onChange(listener),
    beatMs: 20,
    mostViewers,
  });
  const access = openAccess();
  const assets = await loadAssets();
  const site = createSite({ assets, places: ['overview'], service: null });
  const routes = new Set<string>();
  const server = await serveWeb({
    problemPage: (problem) => site.problem(problem),
    plugins: [
      async (app) => {
        app.addHook('onRoute', ({ url }) => void (url.startsWith('/api/') && routes.add(url)));
        await app.register(
          monitorRoutes({
            site,
            assets,
            board,
            access,
            edits: null,
            overviewStream: stream,
            changeStream: stream,
          } as never),
        );
      },
    ],
  });
  onTestFinished(async () => server.close());
  return { url: `http://127.0.0.1:${server.addr().port}/api/v1/events`, board, open, routes };
}

async function ask(url: string, headers: Readonly<Record<string, string>> = {}): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  get(url, { headers, agent: false }, resolve).on('error', reject);
  return promise;
}

/** Reads as many events as are wanted, and goes. */
async function hear(response: IncomingMessage, wanted: number, isWanted = (event: string) => event !== 'beat') {
  const heard: { event: keyof typeof fits; id: string; data: unknown }[] = [];
  let [event, id] = ['', ''];
  for await (const line of createInterface({ input: response })) {
    if (line.startsWith('event: ')) event = line.slice(7);
    if (line.startsWith('id: ')) id = line.slice(4);
    if (line.startsWith('data: ') && isWanted(event))
      heard.push({ event: event as 'state', id, data: JSON.parse(line.slice(6)) });
    if (heard.length === wanted) break;
  }
  response.destroy();
  return heard;
}

test('the stream of changes stands in the document, and every event is as the document says', async () => {
  const { url, board, open, routes } = await serve();
  expect([...routes]).toEqual(['/api/v1/events']);
  const stream = await ask(url);
  expect([stream.statusCode, stream.headers['content-type']]).toEqual([200, 'text/event-stream; charset=utf-8']);
  const now = systemClock.now();
  const verdict = { status: 'down' as const };
  board.roundDone('shop', { dueAt: now, votes: [vote('de1', down())], verdict, inMaintenance: false });
  open.push(incident('shop', now));
  board.incidentsChanged(open);
  const heard = await hear(stream, 2);
  expect(heard).toMatchObject([
    { event: 'state', data: { target: 'shop', status: 'down', votes: { de1: 'down' } } },
    { event: 'incident', data: { target: 'shop', ended_at: null } },
  ]);
  for (const { event, data } of heard) expect([fits[event](data), fits[event].errors]).toEqual([true, null]);

  // Who heard all of it hears nothing twice; who heard less hears what changed since.
  const last = Number(heard.at(-1)?.id);
  board.roundDone('shop', {
    dueAt: now + 1_000,
    votes: [vote('de1')],
    verdict: { status: 'up' },
    inMaintenance: false,
  });
  const again = await hear(await ask(url, { 'last-event-id': String(last) }), 1);
  expect(again).toMatchObject([{ event: 'state', data: { status: 'up', votes: { de1: 'up' } } }]);
  expect(Number(again[0]?.id)).toBeGreaterThan(last);
  const byAddress = await hear(await ask(`${url}?since=${last}`), 1);
  expect(byAddress).toEqual(again);
});

test('a viewer hears that the stream is alive, and where it would go on, though nothing changes', async () => {
  const { url, board } = await serve();
  const heard = await hear(await ask(url), 3, (event) => event === 'beat');
  for (const { event, data } of heard) expect([fits[event](data), fits[event].errors]).toEqual([true, null]);
  expect(heard.map(({ id, data }) => [id, data])).toEqual(
    Array.from({ length: 3 }, () => [String(board.version), { every_seconds: 0.02, start: board.version }]),
  );
});

test('no more viewers than there may be', async () => {
  const { url } = await serve(1);
  const first = await ask(url);
  const refused = await ask(url);
  expect([refused.statusCode, refused.headers['retry-after']]).toEqual([503, '10']);
  refused.resume();
  first.destroy();
  await expect.poll(async () => (await ask(url)).statusCode).toBe(200);
});

test('who may not see what is watched, and whose head is too large, is told so as the document says', async () => {
  const { url } = await serve();
  const refused = [
    await ask(url, { 'x-forwarded-for': '192.0.2.1' }),
    await ask(url, { 'x-long': 'x'.repeat(20_000) }),
    await ask(`${url}?event=nonsense`),
  ];
  const isError = ajv.compile({ ...document.components.schemas['ErrorBody'] });
  for (const response of refused) {
    expect(response.headers['content-type']).toMatch(/^application\/json/);
    expect(isError(JSON.parse(await text(response)))).toBe(true);
  }
  const page = await ask(url, { 'x-forwarded-for': '192.0.2.1', accept: 'text/html' });
  expect([page.statusCode, page.headers['content-type']]).toEqual([403, 'text/html; charset=utf-8']);
  page.resume();
  const seen = ['200', ...refused.map(({ statusCode }) => String(statusCode))];
  expect(Object.keys(operation.responses).toSorted()).toEqual(seen.toSorted());
});

test('a client hears of one target or of one kind of event alone', async () => {
  const { url, board, open } = await serve();
  const streams = await Promise.all(
    ['target=shop', 'target=blog', 'event=incident'].map(async (one) => ask(`${url}?${one}`)),
  );
  const now = systemClock.now();
  const verdict = { status: 'down' as const };
  board.roundDone('shop', { dueAt: now, votes: [vote('de1', down())], verdict, inMaintenance: false });
  open.push(incident('shop', now), incident('blog', now));
  board.incidentsChanged(open);
  const heard = await Promise.all(streams.map(async (stream, index) => hear(stream, [2, 1, 2][index] ?? 0)));
  expect(heard.map((all) => all.map(({ event, data }) => [event, (data as { target: string }).target]))).toEqual([
    [
      ['state', 'shop'],
      ['incident', 'shop'],
    ],
    [['incident', 'blog']],
    [
      ['incident', 'shop'],
      ['incident', 'blog'],
    ],
  ]);
});

test.each([
  ['event=incidents', 'event: expected "state" or "incident" (did you mean "incident"?)'],
  ['target=shop&target=blog', 'target: expected text'],
])('a filter that cannot be read is refused, and does not give every event: %s', async (query, message) => {
  const { url } = await serve();
  const answer = await fetch(`${url}?${query}`);
  expect([answer.status, await answer.json()]).toEqual([400, { ok: 0, error: 'bad_request', message }]);
});
