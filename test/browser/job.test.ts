import { expect, test } from 'vitest';
import { sha256 } from '#kernel/hash.ts';
import { expectGoodInBoth, openBrowser, openTab } from '../support/browser.ts';
import { createProgram } from '../support/program.ts';

const secret = 'Zk3vTq9wPb7xLm2cJr5nYd8s';
const other = 'Hd6sWm4tKx8vRj3nBq7yLc2p';

test('a job has a page of its own with runs, output and the next expected call, and no nodes', async (context) => {
  const browser = await openBrowser(context);
  await using program = await createProgram();
  const { url } = await program.start(`
data: watchpost.db
http: { listen: 127.0.0.1:0 }
targets:
  backup: { check: heartbeat, host: db1, every: 1d, secret_hash: ${sha256(secret)} }
  quick: { check: heartbeat, host: db1, every: 2s, grace: 1s, secret_hash: ${sha256(other)} }
`);
  const call = async (path: string, body = '') => {
    const { status } = await fetch(`${url}/beat/${secret}${path}`, { method: 'POST', body });
    expect(status).toBe(200);
  };
  await using tab = await openTab(browser, url);
  const { page } = tab;
  await page.goto('/targets/backup');
  await page.getByText('No run in the last 7 days.').waitFor();
  await call('/start?rid=1');
  await call('?rid=1', 'copied 10 files\n<b>done</b>');
  const runs = page.getByRole('region', { name: 'Runs' }).getByRole('row');
  await runs.filter({ hasText: /ended well\s*[\d.]+ (?:ms|s)/ }).waitFor({ timeout: 30_000 });
  await page.getByText('<b>done</b>').waitFor();
  const next = page.locator('.glance div', { hasText: 'Next expected' }).locator('time');
  const due = Date.parse((await next.getAttribute('datetime')) ?? '');
  expect(Math.round((due - Date.now()) / 3_600_000)).toBe(24);
  await call('/3', 'disk full');
  await runs.filter({ hasText: 'ended with exit code 3: disk full' }).waitFor({ timeout: 30_000 });
  const text = (await page.locator('main').textContent()) ?? '';
  expect(text).not.toMatch(/zz0|Watchpost|Latency|from \d+ of \d+ node/);
  await expectGoodInBoth(tab);
  await page.setViewportSize({ width: 400, height: 800 });
  await expectGoodInBoth(tab);

  expect((await fetch(`${url}/beat/${other}`, { method: 'POST' })).status).toBe(200);
  await page.goto('/targets/quick');
  await runs.filter({ hasText: 'no ping' }).first().waitFor({ timeout: 30_000 });
  await page.locator('.glance').getByText('overdue for').waitFor({ timeout: 30_000 });
  await expectGoodInBoth(tab);
});
