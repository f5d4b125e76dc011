import { truncateSync } from 'node:fs';
import { expect, test } from 'vitest';
import { commandHere } from '../support/command.ts';
import { expectGoodInBoth, expectToLookGoodInBoth, openBrowser, openTab, type Tab } from '../support/browser.ts';
import { devices } from '../support/chromium.ts';
import { startHttpTarget } from '../support/http-target.ts';
import { createProgram } from '../support/program.ts';
import { closedPort } from '../support/tcp-servers.ts';

const heading = ({ page }: Tab, name: RegExp) =>
  page.getByRole('heading', { level: 1, name }).waitFor({ timeout: 60_000 });

const hostile = '<script>alert(1)</script>"\'\u202eesrever';

const small = [devices.desktop, devices.phone];

test('with a thousand targets of which nothing is known yet the pages are good, and one screen shows all', async (context) => {
  const browser = await openBrowser(context);
  await using program = await createProgram();
  const names = Array.from({ length: 1_000 }, (_, index) =>
    index === 7 ? 'target-7' : `shop-front-end-of-production-${index}`,
  );
  const { url } = await program.start(`
data: watchpost.db
http: { listen: 127.0.0.1:0 }
service: {}
pages: { status: { targets: { target-7: Seven } } }
targets:
${names.map((name, index) => `  ${name}: { check: tcp, host: "127.0.0.1:9", every: 30d, labels: { team: team${index % 7} } }`).join('\n')}
`);
  const paths = ['/', '/?group=team&label=team:team3', '/?view=wall', '/targets/target-7', '/incidents', '/status'];
  for (const device of small) {
    await using tab = await openTab(browser, url, device);
    for (const path of paths) {
      await tab.page.goto(path);
      await heading(tab, /./);
      await expectGoodInBoth(tab);
    }
  }
  await using desk = await openTab(browser, url, devices.desktop);
  await desk.page.goto('/');
  const heights = await desk.page
    .locator('[data-order]')
    .evaluateAll((rows) => rows.map((row) => row.getBoundingClientRect().height));
  expect(Math.max(...heights)).toBeLessThanOrEqual(32);
  await using wall = await openTab(browser, url, devices.wall);
  await wall.page.goto('/?view=wall');
  const hidden = await wall.page.locator('.tile').evaluateAll(
    (tiles) =>
      tiles.filter((tile) => {
        // The end of a name tells targets apart.
        const range = tile.ownerDocument.createRange();
        range.selectNode(tile.lastChild ?? tile);
        const { right, width } = range.getBoundingClientRect();
        return width === 0 || right > tile.getBoundingClientRect().right;
      }).length,
  );
  expect(hidden).toBe(0);
  expect(await wall.page.evaluate('document.querySelectorAll("*").length')).toBeLessThan(3_000);
  expect(await wall.page.locator('.tile').count()).toBe(1_000);
  expect(await wall.page.locator('.tile').last().boundingBox()).toMatchObject({ height: expect.any(Number) });
  const last = await wall.page.locator('.tile').last().boundingBox();
  expect((last?.y ?? Number.NaN) + (last?.height ?? 0)).toBeLessThan(devices.wall.viewport.height);
});

test('names and words of others stay words, whatever is in them', async (context) => {
  const browser = await openBrowser(context);
  await using target = await startHttpTarget();
  await using program = await createProgram();
  const port = await closedPort();
  const long = 'x'.repeat(100);
  const { url } = await program.start(`
data: watchpost.db
http: { listen: "127.0.0.1:${port}" }
nodes: { de1234: { location: [de, "<i>Germany</i>", ${JSON.stringify(hostile)}] } }
defaults: { every: 1s }
targets:
  t${'a'.repeat(60)}: { check: http, host: "${target.url}/%3Cscript%3E${'y'.repeat(200)}", timeout: 900ms, labels: { team: ${JSON.stringify(hostile)} } }
pages:
  status: { title: ${JSON.stringify(hostile)}, targets: { t${'a'.repeat(60)}: ${long} } }
`);
  const posted = await commandHere(
    `status|post|${hostile} ${'z'.repeat(200)}|--config|${program.folder}/watchpost.yaml`.split('|'),
  );
  expect(posted).toMatchObject({ code: 0, err: '' });
  const paths = ['/', '/?group=team', '/?view=wall', `/targets/t${'a'.repeat(60)}`, '/nodes', '/status', '/status/<b>'];
  for (const device of small) {
    await using tab = await openTab(browser, url, device);
    for (const path of paths) {
      await tab.page.goto(path);
      await heading(tab, /./);
      if (path.includes('<')) tab.complaints.length = 0;
      await expectGoodInBoth(tab);
    }
    expect(await tab.page.locator('main script, main i:not([class])').count()).toBe(0);
  }
});

test('while the program is away a page stays, and it goes on when the program is back', async (context) => {
  const browser = await openBrowser(context);
  await using target = await startHttpTarget();
  await using program = await createProgram();
  const config = `
data: watchpost.db
http: { listen: "127.0.0.1:${await closedPort()}" }
defaults: { every: 1s }
targets: { shop: { check: http, host: "${target.url}", timeout: 900ms } }
`;
  const first = await program.start(config);
  await using tab = await openTab(browser, first.url);
  await tab.page.goto('/?view=wall');
  await heading(tab, /The target is up\./);
  await tab.page.locator('.wall > .tile.up').waitFor();
  await tab.page.evaluate('window.mark = 1');
  await first.end('SIGTERM');
  await target.stop();
  await heading(tab, /The target is up\./);
  await expectToLookGoodInBoth(tab.page);
  await tab.page.setViewportSize(devices.phone.viewport);
  await expectToLookGoodInBoth(tab.page);
  await program.start(config);
  await heading(tab, /0 of 1 target is up\. shop/);
  await tab.page.locator('.wall > .tile.down').waitFor();
  expect(await tab.page.evaluate('window.mark')).toBe(1);
  // A browser notes each request that nobody answered; of the page itself there is nothing.
  expect(tab.complaints.filter((one) => !/ERR_|Failed to load/.test(one))).toEqual([]);
});

test('while the database is damaged the status page says how things are, and what was said on it', async (context) => {
  const browser = await openBrowser(context);
  await using target = await startHttpTarget();
  await using program = await createProgram();
  const { url } = await program.start(`
data: watchpost.db
http: { listen: "127.0.0.1:${await closedPort()}" }
defaults: { every: 1s }
targets: { shop: { check: http, host: "${target.url}", timeout: 900ms } }
pages: { status: { targets: { shop: Web shop } } }
`);
  await commandHere(['status', 'post', 'We move.', '--config', `${program.folder}/watchpost.yaml`]);
  await using tab = await openTab(browser, url, devices.phone);
  await tab.page.goto('/status');
  await tab.page.getByText('We move.').waitFor();
  for (const file of ['', '-wal']) truncateSync(`${program.database}${file}`, 0);
  await target.stop();
  await expect
    .poll(async () => (await fetch(`${url}/status.json`)).json(), { timeout: 60_000 })
    .toMatchObject({ status: 'down', notes: [{ words: 'We move.' }] });
  await using desk = await openTab(browser, url, devices.desktop);
  for (const one of [tab, desk]) {
    await one.page.goto('/status?');
    await one.page.getByText('We move.').waitFor();
    await expectGoodInBoth(one);
    await one.page.goto('/');
    await heading(one, /shop/);
    await expectGoodInBoth(one);
  }
});
