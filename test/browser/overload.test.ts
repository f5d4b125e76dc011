import { expect, onTestFinished, test } from 'vitest';
import { watchOverload } from '#compose/shown-overload.ts';
import { systemClock as clock } from '#kernel/clock.ts';
import { loadAssets } from '#web/assets/assets.ts';
import { overviewEvents } from '#web/live/events.ts';
import { openDocs } from '#web/pages/docs.ts';
import { html } from '#web/pages/markup.ts';
import { overviewRest, overviewSentence, overviewTop } from '#web/pages/overview.ts';
import { filterOf } from '#web/pages/overview-filter.ts';
import { noOverload, type ShownOverload } from '#web/pages/overload.ts';
import { pageRoutes } from '#web/pages/routes.ts';
import { createSite } from '#web/pages/site.ts';
import { createBoard } from '#web/state/board.ts';
import { createStream } from '#web/streams.ts';
import { expectGoodInBoth, expectToFit, openBrowser, openTab } from '../support/browser.ts';
import { watchedShop } from '../support/watched.ts';
import { serveWeb } from '../support/web.ts';

const assets = await loadAssets();

/** The overview of a target that is never checked, and the page of nodes, with an overload of our choice. */
async function serve() {
  let overload: ShownOverload = noOverload;
  const read = () => overload;
  const board = createBoard({ clock, watched: () => [watchedShop], openIncidents: () => [] });
  const watching = watchOverload(read, clock, () => board.touch());
  onTestFinished(() => watching[Symbol.dispose]());
  const site = createSite({ assets, places: ['overview', 'nodes'], service: null, overload: read });
  const map = () => html`<div data-part="map"></div>`;
  const { since } = overviewEvents({ board, past: { of: () => null }, map, reload: () => null, overload: read, clock });
  const stream = createStream({
    clock,
    version: () => board.version,
    since,
    onChange: (changed) => board.onChange(changed),
  });
  const node = { info: { name: 'zz1', city: '', country: '', countryCode: '', asn: '', ip: '' }, online: true };
  const nodes = () => [
    { ...node, reason: null, capabilities: {}, running: 0, queued: 0, lagSeconds: 0, targets: 1, disagreement: null },
  ];
  const overview = () => {
    const value = { now: clock.now(), targets: board.targets(), incidents: [], nodes: nodes(), overload };
    const title = overviewSentence(value);
    const rest = overviewRest({ ...value, shown: value.targets, past: () => null, filter: filterOf({}) }, assets);
    const content = html`${overviewTop(value)}\n${rest}`;
    return site.page({ title, content, place: 'overview', live: '/live/overview?', since: board.version, refresh: 30 });
  };
  const server = await serveWeb({
    plugins: [
      pageRoutes({ site, assets, docs: openDocs(), service: null, nodes, hasMonitor: true, access: null }),
      async (app) => {
        app.get('/overview', (_, reply) => {
          const { headers, body } = overview();
          return reply.headers(headers).send(body);
        });
        app.get('/live/overview', { exposeHeadRoute: false }, (request, reply) => stream.open(request, reply));
        app.addHook('preClose', async () => stream[Symbol.dispose]());
      },
    ],
  });
  onTestFinished(async () => server.close());
  return { url: `http://127.0.0.1:${server.addr().port}`, set: (next: ShownOverload) => void (overload = next) };
}

const hubOverloaded = 'Watchpost is overloaded: it leaves out results';
const nodeOverloaded = 'Node zz1 is overloaded and checks less often than configured.';

test('an open overview says that the hub or a node is overloaded, and no longer when it is over', async (context) => {
  const browser = await openBrowser(context);
  const { url, set } = await serve();
  await using tab = await openTab(browser, url);
  const { page } = tab;
  await page.goto('/overview');
  await page.waitForFunction('document.readyState === "complete"');
  await page.evaluate('window.mark = 1');
  const notice = page.getByRole('status').filter({ has: page.locator('[data-part="overload"]') });
  expect(await notice.textContent()).toBe('');
  set({ isOfHub: true, nodes: ['zz1'] });
  await notice.getByText(hubOverloaded).waitFor({ timeout: 60_000 });
  await notice.getByText(nodeOverloaded).waitFor();
  expect(await page.evaluate('window.mark')).toBe(1);
  await expectGoodInBoth(tab);
  await notice.getByRole('link', { name: 'What to do' }).first().click();
  await page.getByRole('heading', { name: 'The hub is overloaded' }).waitFor();
  await page.goBack();
  set({ isOfHub: false, nodes: ['zz1'] });
  await expect.poll(async () => notice.textContent(), { timeout: 60_000 }).not.toContain(hubOverloaded);
  await page.goto('/nodes');
  await notice.getByText(nodeOverloaded).waitFor();
  await expectGoodInBoth(tab);
  set(noOverload);
  await expect.poll(async () => notice.textContent(), { timeout: 60_000 }).toBe('');
  expect(tab.complaints).toEqual([]);
});

test('it is there without JavaScript, and fits on a phone', async (context) => {
  const browser = await openBrowser(context);
  const { url, set } = await serve();
  set({ isOfHub: true, nodes: ['zz1'] });
  await using tab = await openTab(browser, url, { javaScriptEnabled: false, viewport: { width: 375, height: 812 } });
  await tab.page.goto('/overview');
  await tab.page.getByText(hubOverloaded).waitFor();
  await tab.page.getByText(nodeOverloaded).waitFor();
  await expectToFit(tab);
});
