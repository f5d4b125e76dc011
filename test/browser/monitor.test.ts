import type { Browser, Response } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectGood, expectGoodInBoth, expectToFit, openBrowser, openTab, type Tab } from '../support/browser.ts';
import { devices } from '../support/chromium.ts';
import { startHttpTarget } from '../support/http-target.ts';
import { createProgram, eventually } from '../support/program.ts';

const config = (target: string, more = '') => `
data: watchpost.db
http: { listen: 127.0.0.1:0 ${more} }
service: {}
nodes: { de1: { location: [de, Germany, Frankfurt] }, us1: { location: [us, USA, Boston] } }
defaults: { every: 1s, notify: [ops] }
targets:
  shop: { check: http, host: "${target}", timeout: 900ms, labels: { team: web } }
  port: { check: tcp, host: "${new URL(target).host}", timeout: 900ms, labels: { team: net } }
  other: { check: tcp, host: "${new URL(target).host}", timeout: 900ms }
  last: { check: tcp, host: "${new URL(target).host}", timeout: 900ms }
rules: { down: { rounds: 2, recover: 2 } }
notify: { ops: { email: { to: [ops@example.com] }, group_wait: 0s } }
`;

const heading = ({ page }: Tab, name: RegExp) =>
  page.getByRole('heading', { level: 1, name }).waitFor({ timeout: 60_000 });

// One program for all tests that leave its targets as they are: to start another takes longer than to look at a page.
const steady = new AsyncDisposableStack();
let url = '';
beforeAll(async () => {
  const target = steady.use(await startHttpTarget());
  const program = steady.use(await createProgram());
  ({ url } = await program.start(config(target.url)));
});
afterAll(async () => steady.disposeAsync());

test('a target that goes down and comes back is seen without a reload, and its incident tells the whole story', async (context) => {
  const browser = await openBrowser(context);
  await using target = await startHttpTarget();
  await using program = await createProgram();
  const { url, end } = await program.start(config(target.url));
  await using tab = await openTab(browser, url);
  const { page } = tab;
  await page.goto('/');
  await heading(tab, /All 4 targets are up\./);
  await page.evaluate('window.mark = 1');
  await expectGood(tab);
  const session = await page.context().newCDPSession(page);
  const { data, errors } = await session.send('Page.getAppManifest');
  expect(errors).toEqual([]);
  expect(JSON.parse(data ?? '')).toMatchObject({ name: 'Watchpost', display: 'standalone' });

  await target.stop();
  await heading(tab, /4 of 4 targets are down/);
  await page.getByRole('link', { name: /DOWN shop/ }).waitFor();
  expect(await page.evaluate('window.mark')).toBe(1);
  await expectGood(tab);

  await page.getByRole('link', { name: /DOWN shop/ }).click();
  await heading(tab, /shop has been down for .*: .* from 2 of 2 nodes\./);
  await page.getByLabel('Acknowledge').fill('<b>the cable</b>');
  await page.keyboard.press('Enter');
  await page.getByText('<b>the cable</b>').first().waitFor();
  await page.getByLabel('Why').fill('we know');
  await page.getByRole('button', { name: 'Silence' }).click();
  await page.getByText(/we know, until /).waitFor();
  await heading(tab, /shop has been down/);
  await expectGood(tab);

  await target.start();
  await heading(tab, /shop was down for/);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByRole('button', { name: 'Copy as post-mortem' }).click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  const copied = await page.evaluate<string>('navigator.clipboard.readText()');
  expect(copied).toMatch(/^# shop was down for /);
  expect(copied).toContain('acknowledged: \\<b\\>the cable\\</b\\>');
  await page.getByRole('link', { name: 'shop', exact: true }).click();
  await heading(tab, /shop is up from 2 of 2 nodes/);
  await page.getByRole('link', { name: '10m' }).click();
  await page.getByRole('application', { name: /Latency over time of de1, us1/ }).waitFor();
  await expectGood(tab);
  await page.goto('/incidents');
  await heading(tab, /No incident is open\.|incidents? (?:is|are) open/);
  await expectGood(tab);
  expect(await end('SIGTERM')).toEqual({ code: 0, signal: null });
});

/** What came as JSON: before all of it is here there is none. */
async function bodyOf(coming: Promise<Response>): Promise<unknown> {
  const response = await coming;
  await response.finished();
  return response.json();
}

async function look(browser: Browser, url: string, paths: readonly string[], headings: readonly RegExp[]) {
  for (const device of [devices.desktop, devices.phone, devices.wall]) {
    await using tab = await openTab(browser, url, device);
    for (const [index, path] of paths.entries()) {
      await tab.page.goto(path);
      await heading(tab, headings[index] ?? /./);
      // On a wall most pages are those of a desktop with more room: what axe finds there it finds on both.
      if (device === devices.wall && !madeForWalls.has(path)) await expectToFit(tab);
      else await expectGoodInBoth(tab);
    }
  }
}

const madeForWalls = new Set(['/', '/?view=wall']);

test('every page about targets is good on phone, desktop and wall, in light and dark', async (context) => {
  const browser = await openBrowser(context);
  await using first = await openTab(browser, url, { javaScriptEnabled: false });
  await first.page.goto('/');
  await heading(first, /target/);
  await look(
    browser,
    url,
    ['/', '/?group=team', '/?view=wall', '/targets/shop?span=10m', '/incidents', '/nodes'],
    [/targets/, /targets/, /targets/, /shop is/, /incident/, /2 nodes are watching\./],
  );
});

test('the pages of devices, changes, documentation and performance data are good on phone, desktop and wall, in light and dark', async (context) => {
  const browser = await openBrowser(context);
  await using program = await createProgram();
  const { url } = await program.start(`
data: watchpost.db
http: { listen: 127.0.0.1:0, public_url: https://hub.example }
nodes: { de1: {} }
plugins: { disk: [/bin/echo, "DISK OK | /=2643MB;5948;5958;0;5968 inodes=4%;@10:20;30 a-label-that-is-longer-than-a-phone-is-wide-and-has-no-room=1"] }
targets: { disk: { check: plugin, plugin: disk, host: 127.0.0.1, every: 1s, timeout: 900ms } }
notify: { ops: { push: {} } }
`);
  {
    await using first = await openTab(browser, url);
    await expect
      .poll(
        async () => {
          await first.page.goto('/targets/disk');
          return first.page.getByRole('heading', { name: 'Values' }).count();
        },
        { timeout: 60_000, interval: 1_000 },
      )
      .toBe(1);
  }
  await look(
    browser,
    url,
    ['/targets/disk', '/devices', '/changes', '/docs', '/docs/checks', '/docs/pages', '/docs/decisions/README'],
    [/disk is up/, /No device/, /Changes/, /Documentation/, /Checks/, /Pages/, /[Dd]ecisions/],
  );
});

test('the chart zooms by mouse, wheel and keys, keeps its span in the address, and draws what the server drew without scripts', async (context) => {
  const browser = await openBrowser(context);
  await using tab = await openTab(browser, url);
  const { page } = tab;
  await page.goto('/targets/shop?span=10m');
  const chart = page.getByRole('application', { name: /Latency over time of de1, us1/ });
  await chart.waitFor();
  const lengthOf = () => {
    const query = new URL(page.url()).searchParams;
    return (Date.parse(query.get('to') ?? '') - Date.parse(query.get('from') ?? '')) / 1_000;
  };
  await page.goto('/targets/shop?span=6h');
  await chart.waitFor();
  const asked = page.waitForResponse((response) => response.url().includes('/series?from='));
  const plot = page.locator('.u-over');
  const box = await plot.boundingBox();
  if (box === null) throw new Error('the plot is not seen');
  const middle = box.y + box.height / 2;
  await page.mouse.move(box.x + box.width / 2, middle);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width, middle, { steps: 4 });
  await page.mouse.up();
  await page.waitForURL(/from=.*to=/);
  expect(Math.round(lengthOf() / 600)).toBe(18);
  const series = (await bodyOf(asked)) as { step: number; lines: { name: string; p50: unknown[] }[] };
  expect(series).toMatchObject({ step: 60, lines: [{ name: 'de1' }, { name: 'us1' }] });

  await chart.focus();
  await page.keyboard.press('+');
  await expect.poll(() => Math.round(lengthOf() / 60)).toBe(90);
  for (let presses = 0; presses < 6; presses += 1) await page.keyboard.press('+');
  await expect.poll(() => Math.round(lengthOf())).toBe(600);
  await page.mouse.move(box.x + box.width / 2, middle);
  await page.mouse.wheel(0, 100);
  await expect.poll(() => Math.round(lengthOf())).toBeGreaterThan(600);
  for (let presses = 0; presses < 20; presses += 1) await page.keyboard.press('-');
  await expect.poll(() => Math.round(lengthOf() / 86_400)).toBe(730);
  await page.locator('.u-axis').first().waitFor();
  await expectGood(tab);
  await page.keyboard.press('Escape');
  await expect.poll(() => new URL(page.url()).search).toBe('');

  // A page that gets a part that it did not have is exchanged as a whole, but for its chart.
  await page.locator('[data-part="rounds"]').evaluate((part) => part.remove());
  await page.locator('[data-part="rounds"]').waitFor();
  await chart.focus();
  await page.keyboard.press('-');
  await page.waitForURL(/from=.*to=/);

  await using plain = await openTab(browser, url, { javaScriptEnabled: false });
  await plain.page.goto('/targets/shop?from=2026-01-01T00:00:00Z&to=2026-01-01T06:00:00Z');
  await plain.page.getByText('No times were measured in this span.').waitFor();
  await plain.page.goto('/targets/shop?span=10m');
  await plain.page.getByRole('img', { name: /Latency over time of de1, us1/ }).waitFor();
  expect([tab.complaints, plain.complaints]).toEqual([[], []]);
});

test('a step that is taken while an answer is on its way stays taken', async (context) => {
  await using tab = await openTab(await openBrowser(context), url);
  const { page } = tab;
  await page.goto('/targets/shop?span=6h');
  const chart = page.getByRole('application', { name: /Latency over time of de1, us1/ });
  await chart.focus();
  const hours = () => {
    const query = new URL(page.url()).searchParams;
    return Math.round((Date.parse(query.get('to') ?? '') - Date.parse(query.get('from') ?? '')) / 3_600_000);
  };
  let answer = () => {};
  await page.route('**/series?*', async (route) => {
    await new Promise<void>((resolve) => (answer = resolve));
    // It may not be wanted any more.
    await route.continue().catch(() => {});
  });
  for (const expected of [12, 48, 192]) {
    const asked = page.waitForRequest('**/series?*');
    await page.keyboard.press('-');
    await asked;
    expect(hours()).toBe(expected);
    await page.keyboard.press('-');
    answer();
    await page.waitForTimeout(150);
  }
  expect(hours()).toBe(384);
});

test('the chart shows one node, a log scale and what each node saw, and Back undoes each step', async (context) => {
  const browser = await openBrowser(context);
  await using tab = await openTab(browser, url);
  const { page } = tab;
  await page.goto('/targets/shop?span=10m');
  const chart = page.getByRole('application', { name: /Latency over time of de1, us1/ });
  await chart.waitFor();
  const query = () => Object.fromEntries(new URL(page.url()).searchParams);
  const pressed = (name: string) => page.getByRole('button', { name, exact: true, pressed: true }).waitFor();
  // Both numbers are the server's: on a busy machine a check in time may be late.
  const stripOf = (node: string) => page.getByRole('img', { name: new RegExp(`^${node}: failed in`) });
  for (const node of ['de1', 'us1']) {
    await eventually(30_000, async () => {
      const { lines } = (await (await fetch(`${url}/targets/shop/series?span=10m`)).json()) as {
        lines: { name: string; failed: (number | null)[] }[];
      };
      const steps = (lines.find(({ name }) => name === node)?.failed ?? []).filter((one) => one !== null);
      const bad = steps.filter((one) => one > 0).length;
      expect(bad).toBeLessThan(steps.length);
      expect(await stripOf(node).getAttribute('aria-label')).toBe(`${node}: failed in ${bad} of ${steps.length} steps`);
    });
  }
  const [plot, strip] = await Promise.all([
    page.locator('.u-over').boundingBox(),
    page.locator('.strips svg').first().boundingBox(),
  ]);
  expect([strip?.x, strip?.width].map((one) => Math.round(one ?? 0))).toEqual(
    [plot?.x, plot?.width].map((one) => Math.round(one ?? 0)),
  );

  await page.getByRole('button', { name: 'us1', exact: true }).focus();
  await page.keyboard.press('Enter');
  await pressed('us1');
  await page.getByRole('button', { name: 'Log scale' }).click();
  await pressed('Log scale');
  expect(query()).toEqual({ span: '10m', node: 'us1', scale: 'log' });
  await chart.focus();
  await page.keyboard.press('-');
  await page.keyboard.press('-');
  await page.waitForURL(/from=/);
  await page.getByRole('link', { name: '1h', exact: true }).and(page.locator('[href*="node=us1&scale=log"]')).waitFor();
  await expectGoodInBoth(tab);
  await page.goBack();
  await expect.poll(query).toEqual({ span: '10m', node: 'us1', scale: 'log' });
  await page.goBack();
  await page.goBack();
  await expect.poll(query).toEqual({ span: '10m' });
  await page.getByRole('button', { name: 'us1', exact: true, pressed: false }).waitFor();
  await page.getByRole('button', { name: 'us1', exact: true }).click();
  await pressed('us1');
  await page.getByRole('button', { name: 'us1', exact: true }).click();
  await expect.poll(query).toEqual({ span: '10m' });
  expect(tab.complaints).toEqual([]);

  const asked = page.waitForResponse((response) => /series.*view=smoke/.test(response.url()));
  await page.getByRole('button', { name: 'Smoke' }).click();
  await page.getByText('The colour of the median is the share of failed checks').waitFor();
  const { bands } = (await bodyOf(asked)) as { bands: { node: null; times: (number | null)[][] } };
  expect([bands.node, bands.times.length]).toEqual([null, 11]);
  const [first, middle, last] = [0, 5, 10].map((row) => bands.times[row]?.findLast((one) => one !== null) ?? 0);
  expect(first).toBeGreaterThan(0);
  expect(middle).toBeGreaterThanOrEqual(first ?? 0);
  expect(last).toBeGreaterThanOrEqual(middle ?? 0);
  // Bands are grey and the median is green: what was painted has its colour.
  const green = `(() => {
    const canvas = document.querySelector('.u-wrap canvas');
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    return data.some((red, at) => at % 4 === 0 && red === 26 && data[at + 1] === 127 && data[at + 2] === 75);
  })()`;
  await page.emulateMedia({ colorScheme: 'light' });
  await expect.poll(() => page.evaluate(green)).toBe(true);
  const one = page.waitForResponse((response) => /series.*view=smoke.*node=de1/.test(response.url()));
  await page.getByRole('button', { name: 'de1', exact: true }).click();
  expect(await bodyOf(one)).toMatchObject({ bands: { node: 'de1' } });
  await pressed('de1');
  await expectGoodInBoth(tab);

  await using plain = await openTab(browser, url, { javaScriptEnabled: false });
  await plain.page.goto('/targets/shop?span=10m&node=us1');
  await plain.page.getByRole('img', { name: /Latency over time of us1:/ }).waitFor();
});

test('filters are kept in the address and work by keyboard without scripts', async (context) => {
  const browser = await openBrowser(context);
  await using tab = await openTab(browser, url, { javaScriptEnabled: false });
  await tab.page.goto('/');
  await tab.page.getByLabel('Name or host').focus();
  await tab.page.keyboard.type('sho');
  await tab.page.keyboard.press('Enter');
  await tab.page.waitForURL(/[?&]q=sho/);
  expect(await tab.page.locator('tbody th[scope=row] a').allTextContents()).toEqual(['shop']);
  await tab.page.goto('/?label=team:net');
  expect(await tab.page.locator('tbody th[scope=row] a').allTextContents()).toEqual(['port']);
});

test('with users configured a stranger sees nothing of what is watched until he signs in', async (context) => {
  const browser = await openBrowser(context);
  await using target = await startHttpTarget();
  await using program = await createProgram();
  const hash = '$scrypt$ln=15,r=8,p=1$4IFO6htCCsDcshWEfk4TWw$PeH29v+ClnWs6q4gRQQ7fIB0L7aqn5PJ3iY+zP64NUU';
  const { url } = await program.start(config(target.url, `, users: { ann: { password_hash: "${hash}" } }`));
  for (const path of ['/', '/targets/shop', '/incidents', '/nodes', '/api/v1/events', '/live/overview']) {
    expect([path, (await fetch(`${url}${path}`)).status]).toEqual([path, 403]);
  }
  await using tab = await openTab(browser, url);
  const { page } = tab;
  await page.goto('/targets/shop?span=6h');
  await heading(tab, /Sign in/);
  await expectGood(tab);
  await page.getByLabel('User').fill('ann');
  await page.getByLabel('Password').fill('wrong-words');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').waitFor();
  expect(tab.complaints.splice(0)).toHaveLength(1);
  await page.getByLabel('User').fill('ann');
  await page.getByLabel('Password').fill('secret-words');
  await page.keyboard.press('Enter');
  await heading(tab, /^shop /);
  const [cookie] = await page.context().cookies();
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Lax' });
  for (const path of ['/', '/incidents', '/nodes', '/check']) {
    await page.goto(path);
    expect([path, await page.getByRole('button', { name: 'Sign out' }).count()]).toEqual([path, 1]);
  }
  await page.getByRole('button', { name: 'Sign out' }).click();
  await heading(tab, /Sign in/);
});

test('a form of another site, and one without a user, change nothing', async () => {
  const send = async (headers: Record<string, string>) =>
    fetch(`${url}/actions/silence`, {
      method: 'POST',
      headers,
      body: new URLSearchParams({ incident: 'shop/down/1', target: 'shop', for: '1h', why: 'x' }),
      redirect: 'manual',
    });
  const silences = async () => ((await (await fetch(`${url}/-/silences`)).json()) as { silences: unknown[] }).silences;
  const before = await silences();
  for (const headers of [
    { origin: 'https://evil.example' },
    { 'sec-fetch-site': 'cross-site', origin: url },
    { 'sec-fetch-site': 'same-site' },
    {},
    { origin: url, 'x-forwarded-for': '192.0.2.1' },
  ] as Record<string, string>[]) {
    expect([JSON.stringify(headers), (await send(headers)).status]).toEqual([JSON.stringify(headers), 403]);
  }
  expect(await silences()).toEqual(before);
  expect((await send({ origin: url })).status).toBe(303);
  expect(await silences()).toHaveLength(before.length + 1);
});
