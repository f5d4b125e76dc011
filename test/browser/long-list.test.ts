import { expect, test } from 'vitest';
import { expectGoodInBoth, openBrowser, openTab } from '../support/browser.ts';
import { startHttpTarget } from '../support/http-target.ts';
import { createProgram } from '../support/program.ts';
import { closedPort, tcpServer } from '../support/tcp-servers.ts';

const count = 300;
const nameOf = (index: number) => `t${String(index).padStart(3, '0')}`;
const waitMs = 60_000;

test('a long list begins with some rows, and has the others when they are looked for', async (context) => {
  const browser = await openBrowser(context);
  await using steady = await tcpServer((socket) => socket.end());
  await using weak = await startHttpTarget();
  await using program = await createProgram();
  const others = Array.from(
    { length: count - 1 },
    (_, index) =>
      `  ${nameOf(index)}: { check: tcp, host: "127.0.0.1:${steady.port}", labels: { half: h${index % 2} } }`,
  );
  const { url } = await program.start(`
data: watchpost.db
http: { listen: "127.0.0.1:${await closedPort()}" }
defaults: { every: 10s }
targets:
${others.join('\n')}
  weak: { check: http, host: "${weak.url}", every: 1s, timeout: 900ms, labels: { half: h1 } }
rules: { down: { rounds: 1, recover: 1 } }
`);
  await using stack = new AsyncDisposableStack();
  const open = async (path: string) => {
    const tab = stack.use(await openTab(browser, url));
    await tab.page.goto(path);
    await tab.page.getByRole('heading', { name: `All ${count} targets are up.` }).waitFor({ timeout: waitMs });
    return tab;
  };
  const list = await open('/');
  const { page } = list;
  const rows = page.locator('[data-list] > [data-order]');
  await page.reload();
  // Not a row of the others, whatever they do.
  expect(await rows.count()).toBe(100);
  expect(await page.evaluate<number>('document.querySelectorAll("*").length')).toBeLessThan(3_000);
  await page.evaluate('window.mark = 1');

  const found = await open('/');
  await found.page.getByLabel('Name or host').fill(nameOf(250));
  const left = found.page.locator('[data-list] > [data-order]').filter({ visible: true });
  await expect
    .poll(async () => left.allTextContents(), { timeout: waitMs })
    .toEqual([expect.stringContaining(nameOf(250))]);
  // Rows that are drawn anew stay hidden.
  const roundOf = async () => found.page.locator(`[data-part="t-${nameOf(0)}"]`).getAttribute('data-round');
  const before = await roundOf();
  await expect.poll(roundOf, { timeout: waitMs }).not.toBe(before);
  expect(await left.allTextContents()).toEqual([expect.stringContaining(nameOf(250))]);

  const grouped = await open('/?group=half');
  expect(await grouped.page.locator('[data-list] > [data-order]').count()).toBe(100);
  await grouped.page.locator('body').press('Control+f');
  await expect
    .poll(async () => grouped.page.locator('[data-list="h0"] > [data-order]').count(), { timeout: waitMs })
    .toBe(150);
  expect(grouped.page.url()).toBe(`${url}/?group=half&rows=all`);

  // What fails comes from beyond the end of the list to its beginning.
  await weak.stop();
  await expect.poll(async () => rows.first().getAttribute('data-part'), { timeout: waitMs }).toBe('t-weak');
  expect(await rows.count()).toBe(101);
  await page.getByRole('link', { name: `Show all ${count} targets` }).scrollIntoViewIfNeeded();
  await expect.poll(async () => rows.count(), { timeout: waitMs }).toBe(count);
  expect(await rows.evaluateAll((all) => all.map((one) => one.getAttribute('data-part')))).toEqual(
    ['weak', ...Array.from({ length: count - 1 }, (_, index) => nameOf(index))].map((name) => `t-${name}`),
  );
  expect(await page.locator('[data-rest]').count()).toBe(0);
  expect(await page.evaluate<number>('window.mark')).toBe(1);
  // Rows that came later are followed as the others, and go where they belong.
  await weak.start();
  await expect.poll(async () => rows.last().getAttribute('data-part'), { timeout: waitMs }).toBe('t-weak');
  await page.reload();
  expect(await rows.count()).toBe(count);
  await expectGoodInBoth(list);
});

test('without JavaScript a link leads to all rows', async (context) => {
  const browser = await openBrowser(context);
  await using steady = await tcpServer((socket) => socket.end());
  await using program = await createProgram();
  const all = Array.from(
    { length: 200 },
    (_, index) => `  ${nameOf(index)}: { check: tcp, host: "127.0.0.1:${steady.port}" }`,
  );
  const { url } = await program.start(`
data: watchpost.db
http: { listen: "127.0.0.1:${await closedPort()}" }
defaults: { every: 30s }
targets:
${all.join('\n')}
`);
  const page = await browser.newPage({ javaScriptEnabled: false, baseURL: url });
  await page.goto('/?sort=name');
  const rows = page.locator('[data-order]');
  expect(await rows.count()).toBe(100);
  await page.getByRole('link', { name: 'Show all 200 targets' }).click();
  // A click waits until the page comes in, not until all of it has.
  await page.waitForURL(`${url}/?sort=name&rows=all`);
  expect(await rows.count()).toBe(200);
  await page.close();
});
