import type { BrowserContextOptions } from 'playwright-core';
import type { Outcome } from '#checks/index.ts';
import { failed, failure } from '#checks/index.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectGood, focused, openBrowser, openTab } from '../support/browser.ts';
import { devices } from '../support/chromium.ts';
import { fakeNodes, places, startService, type TestService, threadNodes } from '../support/check-service.ts';
import { startHttpTarget } from '../support/http-target.ts';

const hostile = '<script>alert(1)</script>"\'\u202eesrever ' + 'x'.repeat(200);

// Three threads load what a node needs: that takes longer than most tests here, and none of them changes the service.
let service: TestService;
beforeAll(async () => {
  service = await startService({ transport: await threadNodes() });
});
afterAll(async () => service[Symbol.asyncDispose]());

test('the form starts a check of every type, and its report fills while one looks', async (context) => {
  const browser = await openBrowser(context);
  await using target = await startHttpTarget();
  for (const type of ['http', 'tcp', 'dns', 'udp']) {
    await using tab = await openTab(browser, service.url);
    await tab.page.goto('/check');
    await tab.page.getByLabel('Host or address').fill(type === 'dns' ? '127.0.0.1' : target.url);
    await tab.page.getByRole('button', { name: type, exact: true }).click();
    await tab.page.waitForURL('**/check-report/*');
    await tab.page
      .getByRole('heading', { level: 1, name: new RegExp(`${type} .*: (?!.*have answered).*of 3|all 3`) })
      .waitFor();
    expect(await tab.page.locator('tbody tr:first-child th').allTextContents()).toEqual(['de1', 'de2', 'us1']);
    await expectGood(tab);
  }
});

test('results come in one by one, without a reload and without moving what was opened', async (context) => {
  const browser = await openBrowser(context);
  const settle = new Map<string, (outcome: Outcome) => void>();
  const transport = fakeNodes(places, async (node) => new Promise((resolve) => settle.set(node, resolve)));
  await using answering = await startService({ transport });
  const run = await answering.checks.start({
    spec: { type: 'tcp', host: '127.0.0.1:80', timeout: 3_000, tls: false } as never,
    nodes: places,
    policy: 'private',
  });
  await using tab = await openTab(browser, answering.url);
  await tab.page.goto(`/check-report/${run.id}`);
  await tab.page.evaluate('window.mark = 1');
  settle.get('de2')?.(failed(failure('target', 'refused', hostile)));
  await tab.page.getByRole('heading', { level: 1, name: /1 of 3 nodes have answered/ }).waitFor();
  await tab.page.getByText('by the target').waitFor();
  for (const node of ['de1', 'us1']) settle.get(node)?.(failed(failure('node', 'gone', 'the node went away')));
  await tab.page
    .getByRole('heading', { level: 1, name: /0 of 3 nodes connected; 1 did not, 2 could not check/ })
    .waitFor();
  expect(await tab.page.evaluate('window.mark')).toBe(1);
  expect(await tab.page.locator('meta[http-equiv]').count()).toBe(0);
  await expectGood(tab);
});

test.for<[string, BrowserContextOptions]>([
  ['desktop, light', { ...devices.desktop, colorScheme: 'light' }],
  ['desktop, dark', { ...devices.desktop, colorScheme: 'dark' }],
  ['phone, light', { ...devices.phone, colorScheme: 'light' }],
  ['phone, dark', { ...devices.phone, colorScheme: 'dark' }],
  ['wall, dark', { ...devices.wall, colorScheme: 'dark' }],
])('the form, the nodes, a report and an error are good on a %s', async ([, options], context) => {
  const browser = await openBrowser(context);
  await using target = await startHttpTarget();
  await using tab = await openTab(browser, service.url, options);
  for (const path of ['/check', '/nodes', `/check-http?host=${encodeURIComponent(target.url)}`]) {
    await tab.page.goto(path);
    if (path.startsWith('/check-')) await tab.page.getByRole('heading', { name: /all 3 nodes/ }).waitFor();
    await expectGood(tab);
  }
  const response = await tab.page.goto('/check-http?host=%3Cscript%3Ealert(1)%3C/script%3E');
  expect(response?.status()).toBe(400);
  expect(tab.complaints.splice(0)).toHaveLength(1);
  await expectGood(tab);
});

test('without scripts the form works, and a report is whole after it loaded itself again', async (context) => {
  const browser = await openBrowser(context);
  await using target = await startHttpTarget();
  await using tab = await openTab(browser, service.url, { javaScriptEnabled: false });
  await tab.page.goto('/check');
  await focused(tab.page, '#host');
  await tab.page.keyboard.type(target.url);
  await tab.page.keyboard.press('Enter');
  await tab.page.waitForURL('**/check-report/*');
  await tab.page.getByRole('heading', { name: /all 3 nodes got a good answer/ }).waitFor({ timeout: 20_000 });
  await tab.page.getByText('Details').first().click();
  await tab.page.getByText('status       200').first().waitFor();
  expect(tab.complaints).toEqual([]);
});
