import type { Locator, Page } from 'playwright-core';
import { expect, test, type TestContext } from 'vitest';
import { openBrowser, openTab } from '../support/browser.ts';
import { startHttpTarget } from '../support/http-target.ts';
import { createProgram } from '../support/program.ts';

const service = (page: Page) => page.locator('section', { has: page.getByRole('heading', { name: 'Shop' }) });
const says = async (line: Locator, words: RegExp) =>
  expect.poll(async () => line.textContent(), { timeout: 60_000 }).toMatch(words);

/** Does something that has the row drawn anew, and waits for that. */
async function redrawn(page: Page, act: () => Promise<unknown>, state: string): Promise<void> {
  const row = `document.querySelector('[data-part="s-0"]')`;
  await page.evaluate(`${row}.isOld = true`);
  await act();
  await service(page).locator(`.state.${state}`).waitFor({ timeout: 60_000 });
  expect(await page.evaluate(`${row}.isOld === true`)).toBe(false);
}

/** A service that is up, and its row of a status page on a screen that can be touched. */
async function openStatus(context: TestContext, stack: AsyncDisposableStack) {
  const browser = await openBrowser(context);
  const shop = stack.use(await startHttpTarget());
  const program = stack.use(await createProgram());
  const { url } = await program.start(`
data: watchpost.db
http: { listen: 127.0.0.1:0 }
targets:
  shop: { check: http, host: "${shop.url}", every: 1s, timeout: 900ms }
rules: { down: { rounds: 1, recover: 1 } }
pages: { status: { targets: { shop: Shop } } }
`);
  const tab = stack.use(await openTab(browser, url, { hasTouch: true }));
  await tab.page.goto('/status');
  const line = service(tab.page).locator('[data-readout]');
  await says(line, /^100% since /);
  return { shop, tab, page: tab.page, line };
}

test('bars that are drawn anew tell of the same day to the mouse, to a finger and to keys', async (context) => {
  await using stack = new AsyncDisposableStack();
  const { shop, tab, page, line } = await openStatus(context, stack);
  const bars = service(page).locator('.days');
  const { x, y, width, height } = (await bars.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };

  await page.mouse.move(x + width - 2, y + height / 2);
  await says(line, /^\d+ \w+ \d{4}: no downtime$/);
  await redrawn(page, async () => shop.stop(), 'down');
  await says(line, /^\d+ \w+ \d{4}: down for \d+ seconds?$/);
  await page.mouse.move(0, 0);
  await says(line, / since /);

  // Not the last day, of which bars tell that have just got the focus.
  await bars.press('Home');
  await says(line, /: not watched$/);
  const first = await line.textContent();
  await redrawn(page, async () => shop.start(), 'up');
  expect(await line.textContent()).toBe(first);
  await bars.press('ArrowRight');
  await says(line, /: not watched$/);
  expect(await line.textContent()).not.toBe(first);
  await bars.blur();
  await says(line, / since /);

  const finger = await page.context().newCDPSession(page);
  await finger.send('Input.dispatchTouchEvent', {
    type: 'touchStart',
    touchPoints: [{ x: x + 2, y: y + height / 2 }],
  });
  await says(line, /: not watched$/);
  await redrawn(page, async () => shop.stop(), 'down');
  expect(await line.textContent()).toBe(first);
  await finger.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
  expect(tab.complaints).toEqual([]);
});

test('a tap tells of the day below the finger until the next one, and opens that day', async (context) => {
  await using stack = new AsyncDisposableStack();
  const { tab, page, line } = await openStatus(context, stack);
  await service(page)
    .locator('.days')
    .tap({ position: { x: 2, y: 10 } });
  await says(line, /: not watched$/);
  await page.getByRole('heading', { level: 1 }).tap();
  await says(line, /^100% since /);

  await page.goto('/targets/shop');
  await page.locator('[data-part="days"] .days').tap({ position: { x: 2, y: 10 } });
  await page.waitForURL((address) => address.searchParams.has('from'));
  const opened = Date.parse(new URL(page.url()).searchParams.get('from') ?? '');
  expect(Math.round((Date.now() - opened) / 86_400_000)).toBeGreaterThan(80);
  expect(tab.complaints).toEqual([]);
});
