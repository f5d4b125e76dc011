import type { Browser, BrowserContextOptions } from 'playwright-core';
import { expect, test } from 'vitest';
import { expectGood, expectGoodInBoth, openBrowser, openTab } from '../support/browser.ts';
import { devices } from '../support/chromium.ts';
import { serveHttp } from '../support/http-servers.ts';
import { createProgram, eventually, query } from '../support/program.ts';

const long = 'x'.repeat(250);

test('the evidence of an incident is good in every look, and its folds stay as they are when more comes', async (context) => {
  const browser = await openBrowser(context);
  let isBroken = false;
  await using server = await serveHttp((_, response) => {
    response.writeHead(isBroken ? 503 : 200, { 'x-long': long });
    response.end(isBroken ? `<title>Down</title>${long}${long}` : 'fine');
  });
  await using program = await createProgram();
  const { url } = await program.start(`
data: watchpost.db
http: { listen: 127.0.0.1:0 }
nodes: { de1: {}, us1: {} }
defaults: { every: 1s }
targets: { shop: { check: http, host: "http://127.0.0.1:${server.port}/", timeout: 900ms } }
notify: { ops: { email: { to: [ops@example.com] } } }
`);
  const count = (table: string) => query(program.database, `SELECT * FROM ${table}`).length;
  await eventually(60_000, () => expect(count('good_evidence')).toBe(2));
  isBroken = true;
  await eventually(60_000, () => expect(count('evidence')).toBeGreaterThanOrEqual(1));
  const [row] = query(program.database, 'SELECT id FROM incidents');
  const path = `/incidents/${String(row?.['id'])}`;
  for (const device of [devices.desktop, devices.phone]) await lookAt(browser, url, path, device);

  await using tab = await openTab(browser, url);
  const { page } = tab;
  await page.goto(path);
  const folds = page.locator('[data-part="evidence"] details');
  await page.getByText('The server answers 503').first().waitFor();
  const states = async () => folds.evaluateAll((all) => all.map((one) => one.hasAttribute('open')));
  expect(await states()).toEqual([true, true]);
  await folds.nth(1).locator('summary').click();
  expect(await states()).toEqual([true, false]);
  await page.evaluate('window.mark = 1');
  const headers = { 'content-type': 'application/json' };
  const asked = await fetch(`${url}/-/evidence`, { method: 'POST', headers, body: JSON.stringify({ target: 'shop' }) });
  expect(await asked.json()).toMatchObject({ ok: 1 });
  // The newest stands first, open; the others are as they were.
  await expect.poll(states, { timeout: 60_000 }).toEqual([true, true, true, false]);
  expect(await page.evaluate('window.mark')).toBe(1);
  await expectGood(tab);
});

async function lookAt(browser: Browser, url: string, path: string, device: BrowserContextOptions) {
  await using tab = await openTab(browser, url, device);
  const { page } = tab;
  await page.goto(path);
  await page.getByRole('heading', { name: 'Evidence' }).waitFor({ timeout: 60_000 });
  for (const fold of await page.locator('[data-part="evidence"] details:not([open]) summary').all()) await fold.click();
  await expectGoodInBoth(tab);
}
