import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { commandHere } from '../support/command.ts';
import { expectGoodInBoth, focused, openBrowser, openTab, type Tab } from '../support/browser.ts';
import { startHttpTarget } from '../support/http-target.ts';
import { createProgram, eventually } from '../support/program.ts';
import { closedPort } from '../support/tcp-servers.ts';

const heading = ({ page }: Tab, name: RegExp) =>
  page.getByRole('heading', { level: 1, name }).waitFor({ timeout: 60_000 });

const names = async (page: Page, selector = '[data-order]') =>
  page.locator(selector).evaluateAll((all) => all.map((one) => one.getAttribute('data-part')?.slice(2)));
const become = async (page: Page, wanted: readonly string[]) =>
  expect.poll(() => names(page), { timeout: 60_000 }).toEqual(wanted);

/** The rows that had rounds since the page was loaded, and are as the server draws them at the same round. */
const grownRows = async (page: Page) =>
  page.evaluate<string[]>(`(async () => {
    const next = new DOMParser().parseFromString(await (await fetch('/')).text(), 'text/html');
    const latency = (row) => row?.querySelector('.latency').outerHTML;
    return [...document.querySelectorAll('tr[data-round]')].flatMap(({ dataset: { part, round } }) => {
      const fresh = next.querySelector('[data-part="' + part + '"]');
      const row = document.querySelector('[data-part="' + part + '"]');
      return Number(round) > 5 && fresh?.dataset.round === round && latency(fresh) === latency(row) ? [part.slice(2)] : [];
    });
  })()`);

test('rows and tiles appear, vanish and move within the filter of their page', async (context) => {
  const browser = await openBrowser(context);
  await using steady = await startHttpTarget();
  await using weak = await startHttpTarget();
  await using program = await createProgram();
  const { url } = await program.start(`
data: watchpost.db
http: { listen: "127.0.0.1:${await closedPort()}" }
defaults: { every: 1s }
targets:
  alpha: { check: http, host: "${steady.url}", timeout: 900ms, labels: { team: web } }
  beta: { check: http, host: "${steady.url}", timeout: 900ms, labels: { team: net } }
  weak: { check: http, host: "${weak.url}", timeout: 900ms, labels: { team: web } }
  wide: { check: http, host: "${steady.url}", timeout: 900ms, labels: { team: web } }
rules: { down: { rounds: 1, recover: 1 } }
pages: { status: { targets: { weak: Weak, alpha: Alpha } }, other: { targets: { beta: Beta } } }
`);
  await using stack = new AsyncDisposableStack();
  const open = async (path: string) => {
    const tab = stack.use(await openTab(browser, url));
    await tab.page.goto(path);
    return tab;
  };
  const list = await open('/');
  await heading(list, /All 4 targets are up\./);
  const down = await open('/?state=down');
  const up = await open('/?state=up&label=team:web');
  const wall = await open('/?view=wall');
  const groups = await open('/?group=team');
  const status = await open('/status');
  const nodes = await open('/nodes');
  await nodes.page.waitForResponse((response) => response.url().endsWith('/nodes'));
  const tabs = [list, down, up, wall, groups, status, nodes];
  for (const { page } of tabs) await page.evaluate('window.mark = 1');
  expect(await names(list.page)).toEqual(['alpha', 'beta', 'weak', 'wide']);
  await list.page.getByLabel('Name or host').fill('BET');
  await expect.poll(async () => list.page.locator('[data-list] > [data-order]:visible').count()).toBe(1);
  await list.page.getByLabel('Name or host').fill('');
  await down.page.getByText('No target matches.').waitFor();
  await groups.page.getByText('3 of 3 up').waitFor();
  await status.page.getByRole('heading', { name: 'All services are working.' }).waitFor();
  await expect.poll(async () => grownRows(list.page), { timeout: 60_000 }).toEqual(['alpha', 'beta', 'weak', 'wide']);
  await list.page.locator('[data-part="t-weak"] a').focus();

  // A folded group stays so while its members change, and after the page is loaded again.
  const fold = groups.page.getByRole('button', { name: 'web' });
  const unfolded = groups.page.locator('[data-order]').filter({ visible: true });
  await fold.click();
  expect(await unfolded.count()).toBe(1);
  const byName = stack.use(await openTab(browser, url));
  await byName.page.goto('/?label=team:web');
  await byName.page.getByRole('link', { name: 'Target', exact: true }).click();
  await byName.page.waitForURL('**/?label=team%3Aweb&sort=name');

  await weak.stop();
  await become(down.page, ['weak']);
  await become(list.page, ['weak', 'alpha', 'beta', 'wide']);
  await focused(list.page, '[data-part="t-weak"] a');
  await become(up.page, ['alpha', 'wide']);
  await become(wall.page, ['weak', 'alpha', 'beta', 'wide']);
  await become(groups.page, ['beta', 'weak', 'alpha', 'wide']);
  await groups.page.getByText('2 of 3 up').waitFor();
  await focused(groups.page, 'button.fold[aria-expanded="false"]');
  expect(await unfolded.count()).toBe(1);
  await byName.page.locator('[data-part="t-weak"] .state.down').waitFor({ timeout: 60_000 });
  expect(await names(byName.page)).toEqual(['alpha', 'weak', 'wide']);
  expect(await byName.page.locator('th[aria-sort="ascending"]').textContent()).toBe('Target');
  await byName.page.goto('/?group=team');
  const folds = byName.page.locator('button.fold');
  await folds.last().click();
  await byName.page.reload();
  await byName.page.locator('button.fold[aria-expanded="false"]').waitFor();
  expect(await folds.evaluateAll((all) => all.map((one) => one.getAttribute('aria-expanded')))).toEqual([
    'true',
    'false',
  ]);
  await expectGoodInBoth(byName);
  await heading(status, /Weak is not working\./);
  expect(await status.page.title()).toMatch(/Weak is not working\./);

  // An age with the exact time on hover, and the offset of the viewer's zone.
  const began = list.page.locator('[data-part="incidents"] time');
  expect(await began.textContent()).toMatch(/^(?:just now|\d+ min ago)$/);
  const exact = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \(UTC(?:[+-][\d:]+)?\)$/;
  expect(await began.getAttribute('title')).toMatch(exact);
  expect(await list.page.locator('.foot > :first-child').textContent()).toMatch(
    /^Times are in .*UTC(?:[+-][\d:]+\))?\.$/,
  );
  // On paper nothing counts on from now.
  await list.page.emulateMedia({ media: 'print' });
  expect(await list.page.locator('nav, form').filter({ visible: true }).count()).toBe(0);
  const printed = `getComputedStyle(document.querySelector('[data-part="incidents"] time'), '::after').content`;
  expect(await list.page.evaluate<string>(printed)).toBe(`" (${await began.getAttribute('title')})"`);
  await list.page.emulateMedia({ media: 'screen' });

  await weak.start();
  await become(list.page, ['alpha', 'beta', 'weak', 'wide']);
  // What has changed is marked for a moment, at rest: whatever moves has the page drawn again and again.
  const shadow = `[...document.querySelectorAll('tr.new')].map((row) => getComputedStyle(row).boxShadow)[0] ?? 'none'`;
  await expect.poll(async () => list.page.evaluate(shadow)).toMatch(/inset/);
  expect(await list.page.evaluate('document.getAnimations().length')).toBe(0);
  const markedHeads = async () => list.page.locator('[data-part="head"].new').count();
  await expect.poll(markedHeads, { timeout: 20_000 }).toBe(0);
  await become(up.page, ['alpha', 'weak', 'wide']);
  await become(down.page, []);
  await down.page.getByText('No target matches.').waitFor();
  await groups.page.getByText('3 of 3 up').waitFor();
  await heading(status, /All services are working\./);
  const posted = await commandHere(['status', 'post', 'We move.', '--config', `${program.folder}/watchpost.yaml`]);
  expect(posted).toMatchObject({ code: 0, err: '' });
  await status.page.getByText('We move.').waitFor({ timeout: 60_000 });

  // A day tells of itself to the mouse and to keys.
  const service = status.page.locator('section', { has: status.page.getByRole('heading', { name: 'Weak' }) });
  const bars = service.locator('.days');
  const told = service.locator('[data-readout]');
  // The row is drawn anew now and then.
  const box = await eventually(10_000, async () => {
    const seen = await bars.boundingBox();
    if (seen === null) throw new Error('the bars are not seen');
    return seen;
  });
  await expect.poll(async () => told.textContent(), { timeout: 60_000 }).toMatch(/^\d+(?:\.\d+)?% since \d\d:\d\d \(/);
  const tellsAt = async (x: number, words: RegExp) => {
    await bars.hover({ position: { x, y: box.height / 2 } });
    await expect.poll(async () => told.textContent(), { timeout: 60_000 }).toMatch(words);
  };
  await tellsAt(box.width - 2, /^\d+ \w+ \d{4}: down for \d+ seconds?$/);
  await tellsAt(2, /^\d+ \w+ \d{4}: not watched$/);
  await status.page.mouse.move(0, 0);
  await expect.poll(async () => told.textContent()).toMatch(/ since /);
  const target = await open('/targets/weak');
  await heading(target, /weak is up/);
  const days = target.page.locator('.days');
  await days.focus();
  const line = target.page.locator('[data-part="days"] [data-readout]');
  await expect.poll(async () => line.textContent()).toMatch(/: down for \d+s$/);
  const [day = ''] = (await line.textContent())?.split(':') ?? [];
  await days.press('Enter');
  await target.page.waitForURL((url) => url.searchParams.get('from') === `${day}T00:00:00Z`);
  for (const { page, complaints } of tabs) {
    expect([page.url(), await page.evaluate('window.mark'), complaints]).toEqual([page.url(), 1, []]);
  }
});

test('what waits for its first check and what is only slow do not look down', async (context) => {
  const browser = await openBrowser(context);
  await using target = await startHttpTarget();
  await using program = await createProgram();
  const { url } = await program.start(`
data: watchpost.db
http: { listen: 127.0.0.1:0 }
defaults: { every: 1s }
targets:
  slowly: { check: http, host: "${target.url}", timeout: 900ms, rules: [down, slow] }
  yearly: { check: http, host: "${target.url}", cron: "0 0 1 1 *", timezone: UTC }
rules: { down: { rounds: 1 }, slow: { latency: { above: 1ms, clear: 1ms, window: 1m } } }
pages: { status: { targets: { slowly: Slow, yearly: Rare } } }
`);
  await using tab = await openTab(browser, url);
  const { page } = tab;
  await page.goto('/');
  await heading(tab, /1 of 2 targets is up; 1 waiting for a first check\./);
  await page.getByRole('row', { name: /yearly waiting .* first check at \d{4}-01-01 01:00/ }).waitFor();
  const warning = page.locator('[data-part="t-slowly"] .state.warning');
  await warning.waitFor({ timeout: 120_000 });
  await expectGoodInBoth(tab);
  await page.goto('/targets/slowly');
  await page.locator('[data-part="head"]').getByRole('link', { name: 'SLOW slowly' }).waitFor();
  await expectGoodInBoth(tab);
  await page.goto('/targets/yearly');
  await heading(tab, /^yearly is waiting$/);
  await expectGoodInBoth(tab);
  await page.goto('/status');
  await heading(tab, /All services are working\./);
  await expectGoodInBoth(tab);
});
