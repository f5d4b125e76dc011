import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '#kernel/clock.ts';
import { loadAssets } from '#web/assets/assets.ts';
import { noOverload } from '#web/pages/overload.ts';
import { createSite } from '#web/pages/site.ts';
import { monitorRoutes } from '#web/pages/monitor-routes.ts';
import { createBoard } from '#web/state/board.ts';
import { openAccess, serveWeb } from '../../support/web.ts';
import { watchedShop } from '../../support/watched.ts';

const count = 1_000;
const names = Array.from({ length: count }, (_, index) => `target-${String(index).padStart(4, '0')}`);

async function serve() {
  const board = createBoard({
    clock: systemClock,
    watched: () => names.map((name) => ({ ...watchedShop, name, everyMs: 1_000, holdsMs: 60_000 })),
    openIncidents: () => [],
  });
  const access = openAccess();
  const assets = await loadAssets();
  const site = createSite({ assets, places: ['overview'], service: null });
  const wanted: (readonly string[])[] = [];
  const remembered = Promise.withResolvers<void>();
  const past = {
    of: () => null,
    want: async (targets: readonly string[]) => void wanted.push(targets),
  };
  const stream = { version: 1, viewers: 0, [Symbol.dispose]: () => {} };
  const pages = {
    site,
    assets,
    board,
    access,
    clock: systemClock,
    past,
    nodes: () => [],
    reloads: () => [],
    overload: () => noOverload,
    edits: null,
    devices: { recipients: () => [] },
    overviewStream: stream,
    changeStream: stream,
    // As on a machine that is starved.
    rememberRows: async () => remembered.promise,
  };
  const server = await serveWeb({
    problemPage: (problem) => site.problem(problem),
    plugins: [monitorRoutes(pages as never)],
  });
  onTestFinished(async () => {
    remembered.resolve();
    await server.close();
  });
  return {
    wanted,
    page: async (query = '') => (await fetch(`http://127.0.0.1:${server.addr().port}/${query}`)).text(),
  };
}

test('the overview does not wait until all rows are remembered for its viewers', async () => {
  const { page } = await serve();
  const text = await page();
  expect(text).toContain('</html>');
  expect(text.match(/<tr data-part="t-/g)).toHaveLength(100);
});

test('how targets were is looked up first of those whose rows it has', async () => {
  const { wanted, page } = await serve();
  await page('?sort=name&q=target-05');
  expect(wanted[0]?.slice(0, 100)).toEqual(names.slice(500, 600));
  expect(wanted[0]?.toSorted()).toEqual(names);
});

test('for the wall, which does not show it, nothing is looked up', async () => {
  const { wanted, page } = await serve();
  expect(await page('?view=wall')).toContain('class="wall"');
  expect(wanted).toEqual([[]]);
});
