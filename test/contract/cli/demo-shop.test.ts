import { expect, test } from 'vitest';
import { openDemoShop } from '#cli/demo/demo-shop.ts';
import { systemClock } from '#kernel/clock.ts';

test('the shop of the demo fails with its database, recovers, and its search is slow afterwards', async () => {
  const times = { outageAfterMs: 300, outageForMs: 300, slowAfterMs: 300, slowForMs: 60_000 };
  await using shop = await openDemoShop(systemClock, times);
  const { status } = await fetch(`http://127.0.0.1:${shop.shopPort}/health`);
  expect(status).toBe(200);
  const statusNow = async () => (await fetch(`http://127.0.0.1:${shop.shopPort}/health`)).status;
  const patience = { timeout: 20_000, interval: 20 };
  await expect.poll(statusNow, patience).toBe(503);
  await expect.poll(statusNow, patience).toBe(200);
  // Slow answers come too, several at once, and one that nobody waits for stops nothing.
  const isSlow = async () => {
    const limit = AbortSignal.timeout(200);
    return fetch(`http://127.0.0.1:${shop.searchPort}/`, { signal: limit }).then(
      () => false,
      () => limit.aborted,
    );
  };
  await expect.poll(isSlow, patience).toBe(true);
  const answers = [1, 2].map(async () => (await fetch(`http://127.0.0.1:${shop.searchPort}/`)).text());
  expect(await Promise.all(answers)).toEqual(['found 3 things\n', 'found 3 things\n']);
});
