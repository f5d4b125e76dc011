import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { type Firefox, openFirefox } from '../support/firefox.ts';
import { startHttpTarget } from '../support/http-target.ts';
import { createProgram } from '../support/program.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

async function expectGood(firefox: Firefox, path: string): Promise<void> {
  const found = await firefox.evaluate(
    `${axe}; axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => JSON.stringify(violations.map(({ id, help }) => id + ': ' + help)))`,
  );
  const overflow = await firefox.evaluate(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  );
  expect([path, found, overflow, firefox.complaints]).toEqual([path, '[]', 0, []]);
}

const headline = async (firefox: Firefox) =>
  String(await firefox.evaluate("document.querySelector('h1')?.textContent"));

test('every page is good in Firefox, on a desk and a phone, and shows an outage without a reload', async (context) => {
  await using target = await startHttpTarget();
  await using program = await createProgram();
  const { url } = await program.start(`
data: watchpost.db
http: { listen: 127.0.0.1:0 }
service: {}
nodes: { de1: { location: [de, Germany, Frankfurt] }, us1: { location: [us, USA, Boston] } }
defaults: { every: 1s }
targets:
  shop: { check: http, host: "${target.url}", timeout: 900ms, labels: { team: web } }
  port: { check: tcp, host: "${new URL(target.url).host}", timeout: 900ms }
rules: { down: { rounds: 2, recover: 2 } }
pages: { status: { targets: { shop: Shop } } }
`);
  await using firefox = await openFirefox(context, new URL(url).origin);
  await firefox.goto(`${url}/`);
  await expect.poll(() => headline(firefox), { timeout: 60_000 }).toMatch(/2 targets are up/);
  const paths = [
    '/',
    '/?group=team',
    '/?view=wall',
    '/targets/shop?span=10m',
    '/incidents',
    '/nodes',
    '/devices',
    '/changes',
    '/docs',
    '/docs/pages',
    '/check',
    '/status',
  ];
  for (const [width, height] of [
    [1_280, 800],
    [390, 844],
  ] as const) {
    await firefox.setViewport(width, height);
    for (const path of paths) {
      await firefox.goto(`${url}${path}`);
      await expectGood(firefox, `${path} ${width}`);
    }
  }
  await firefox.goto(`${url}/targets/shop?span=10m`);
  await expect
    .poll(() => firefox.evaluate("document.querySelector('.u-over') !== null"), { timeout: 30_000 })
    .toBe(true);

  await firefox.goto(`${url}/`);
  await firefox.evaluate('window.mark = 1; undefined');
  await target.stop();
  await expect.poll(() => headline(firefox), { timeout: 60_000 }).toMatch(/2 of 2 targets are down/);
  expect(await firefox.evaluate('window.mark')).toBe(1);
  const link = async () =>
    firefox.evaluate(`document.querySelector('a[href^="/incidents/shop"]')?.getAttribute('href') ?? ''`);
  await expect.poll(link, { timeout: 30_000 }).toMatch(/^\/incidents\/shop/);
  await firefox.goto(`${url}${String(await link())}`);
  expect(await headline(firefox)).toMatch(/shop has been down/);
  await expectGood(firefox, 'incident');
  await target.start();
  await expect.poll(() => headline(firefox), { timeout: 60_000 }).toMatch(/shop was down for/);
  // What it complains about does arrive here.
  await firefox.evaluate("console.error('as an example'); undefined");
  await expect.poll(() => firefox.complaints, { timeout: 10_000 }).toEqual(['console: as an example']);
});
