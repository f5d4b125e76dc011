import { expect, test } from 'vitest';
import { openBrowser, openTab } from '../support/browser.ts';
import { startHttpTarget } from '../support/http-target.ts';
import { createProgram } from '../support/program.ts';

// In how many of ten parts of the plot's width something coloured is drawn: neither the background nor the grid is.
const coloured = `(() => {
  const canvas = document.querySelector('.u-wrap canvas');
  const over = document.querySelector('.u-over').getBoundingClientRect();
  const wrap = canvas.getBoundingClientRect();
  const [left, top, width, height] = [over.left - wrap.left, over.top - wrap.top, over.width, over.height].map(
    (length) => length * devicePixelRatio,
  );
  const part = width / 10;
  const isColoured = ([red, green, blue, alpha]) => alpha > 0 && Math.max(red, green, blue) - Math.min(red, green, blue) > 60;
  return Array.from({ length: 10 }, (_, index) => {
    const { data } = canvas.getContext('2d').getImageData(left + index * part + part / 4, top, part / 2, height + 2 * devicePixelRatio);
    return Array.from({ length: data.length / 4 }, (_, at) => data.slice(at * 4, at * 4 + 4)).some(isColoured);
  });
})()`;

test('a gap stays a gap in the chart that scripts draw', async (context) => {
  const browser = await openBrowser(context);
  await using target = await startHttpTarget();
  await using program = await createProgram();
  const { url } = await program.start(`
data: watchpost.db
http: { listen: 127.0.0.1:0 }
defaults: { every: 1s, notify: [] }
targets: { shop: { check: http, host: "${target.url}" } }
`);
  await using tab = await openTab(browser, url);
  const { page } = tab;
  const end = Math.floor(Date.now() / 1_000);
  const at = Array.from({ length: 101 }, (_, index) => end - 600 + index * 6);
  const times = at.map((_, index) => (index > 35 && index < 65 ? null : 0.1));
  const failed = at.map(() => 0);
  const line = { name: 'local', p50: times, p95: times, min: times, failed, unknown: failed };
  await page.route('**/series?*', async (route) =>
    route.fulfill({
      json: { from: end - 600, to: end, step: 6, label: 'Latency', at, lines: [line], events: [], bands: null },
    }),
  );
  await page.goto('/targets/shop?span=10m');
  await page.getByRole('application', { name: 'Latency' }).waitFor();
  const [yes, no] = [true, false];
  await expect.poll(() => page.evaluate(coloured)).toEqual([yes, yes, yes, yes, no, no, yes, yes, yes, yes]);
});
