import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { focused, openBrowser, openTab, type Tab } from '../support/browser.ts';
import { startHttpTarget } from '../support/http-target.ts';
import { createProgram, eventually } from '../support/program.ts';

const config = (target: string) => `
data: watchpost.db
http: { listen: 127.0.0.1:0 }
service: {}
nodes: { de1: { location: [de, Germany, Frankfurt] }, us1: { location: [us, USA, Boston] } }
defaults: { every: 1s }
targets:
  shop: { check: http, host: "${target}", timeout: 900ms, labels: { team: web } }
  port: { check: tcp, host: "${new URL(target).host}", timeout: 900ms }
  other: { check: tcp, host: "${new URL(target).host}", timeout: 900ms }
  last: { check: tcp, host: "${new URL(target).host}", timeout: 900ms }
rules: { down: { rounds: 2, recover: 2 } }
notify: { phones: { push: {} } }
pages: { status: { targets: { shop: Web shop } } }
`;

const heading = ({ page }: Tab, name: RegExp) =>
  page.getByRole('heading', { level: 1, name }).waitFor({ timeout: 60_000 });

// Where the focus may come to, in the order of the document; which of them has it, and whether one sees that.
const look = `(() => {
  const all = [...document.querySelectorAll('a[href], button, input:not([type=hidden]), select, summary, [tabindex="0"]')].filter((one) => one.checkVisibility());
  const focused = document.activeElement;
  const { outlineStyle, outlineWidth } = getComputedStyle(focused);
  const { right, left } = focused.getBoundingClientRect();
  const seen = outlineStyle !== 'none' && parseFloat(outlineWidth) > 0 && right > 0 && left < innerWidth;
  return { at: all.indexOf(focused), all: all.length, seen, what: focused.outerHTML.slice(0, 120) };
})()`;

interface Focus {
  readonly at: number;
  readonly all: number;
  readonly seen: boolean;
  readonly what: string;
}

/** Goes once through the page, and says what is wrong with the way. */
async function walk(page: Page): Promise<readonly string[]> {
  const wrong: string[] = [];
  const { all } = await page.evaluate<Focus>(look);
  const seen = new Set<number>();
  let before: number | null = null;
  // Once round: between the last and the first the focus is on no element.
  for (let step = 0; step <= all + 1 && seen.size < all; step += 1) {
    await page.keyboard.press('Tab');
    const focus: Focus = await page.evaluate<Focus>(look);
    if (focus.at === -1) continue;
    if (before !== null && focus.at !== (before + 1) % all) wrong.push(`${before} to ${focus.at}: ${focus.what}`);
    if (!focus.seen) wrong.push(`the focus is not seen: ${focus.what}`);
    seen.add(focus.at);
    before = focus.at;
  }
  if (seen.size < all) wrong.push(`${seen.size} of ${all} were reached`);
  return wrong;
}

/** The page is walked as it should be, at a time in which nothing in it is drawn anew. */
const expectGoodWalk = async (page: Page) =>
  eventually(60_000, async () => expect([page.url(), await walk(page)]).toEqual([page.url(), []]));

async function tabTo(page: Page, selector: string): Promise<void> {
  for (let step = 0; step < 200; step += 1) {
    await page.keyboard.press('Tab');
    if (await page.evaluate(`document.activeElement.matches(${JSON.stringify(selector)})`)) return;
  }
  throw new Error(`${selector} is not reached by Tab`);
}

test('every page is walked and used by keyboard alone', async (context) => {
  const browser = await openBrowser(context);
  await using target = await startHttpTarget();
  await using program = await createProgram();
  const { url } = await program.start(config(target.url));
  await using tab = await openTab(browser, url);
  const { page } = tab;
  await page.goto('/');
  await heading(tab, /All 4 targets are up\./);
  for (const path of [
    '/',
    '/?view=wall',
    '/targets/shop',
    '/incidents',
    '/check',
    '/nodes',
    '/devices',
    '/changes',
    '/docs',
    '/docs/pages',
    '/status',
    '/nothing',
  ]) {
    await page.goto(path);
    await heading(tab, /./);
    await expectGoodWalk(page);
  }
  tab.complaints.length = 0;

  await page.goto('/');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await tabTo(page, '#q');
  await page.keyboard.type('sho');
  await page.keyboard.press('Enter');
  await page.waitForURL(/[?&]q=sho/);
  await tabTo(page, '[data-part="t-shop"] a');
  // Rows are drawn anew every second; whoever stands on one stays there.
  await page.evaluate('window.row = document.activeElement');
  await expect.poll(() => page.evaluate('window.row.isConnected'), { timeout: 60_000 }).toBe(false);
  expect(await page.evaluate('document.activeElement.textContent')).toBe('shop');
  await page.keyboard.press('Enter');
  await heading(tab, /shop is up/);

  await page.getByRole('application').waitFor();
  await tabTo(page, '.stage');
  await page.keyboard.press('-');
  await page.waitForURL(/from=/);
  await page.keyboard.press('Escape');
  await expect.poll(() => new URL(page.url()).search).toBe('');
  await page.keyboard.press('Tab');
  expect(await page.evaluate(`document.activeElement.matches('.stage')`)).toBe(false);
  await tabTo(page, 'summary');
  await page.keyboard.press('Enter');
  await page.locator('details[open]').first().waitFor();

  await page.goto('/check');
  await focused(page, '#host');
  await page.keyboard.type(new URL(target.url).host);
  await tabTo(page, 'button[value=tcp]');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/check-report/*');
  await heading(tab, /all 2 nodes connected/);
  await expectGoodWalk(page);

  await target.stop();
  await page.goto('/');
  await page.locator('[data-part="incidents"] a').first().waitFor({ timeout: 60_000 });
  await tabTo(page, '[data-part="incidents"] a');
  await page.keyboard.press('Enter');
  await heading(tab, /has been down for/);
  await expectGoodWalk(page);
  await tabTo(page, '#why');
  await page.keyboard.type('the cable');
  await page.keyboard.press('Enter');
  await page.getByText('the cable').first().waitFor();
  expect(tab.complaints).toEqual([]);
});
