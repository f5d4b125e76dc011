import { expect, test } from 'vitest';
import { expectToLookGoodInBoth, openBrowser, openTab, type Tab } from '../support/browser.ts';
import { devices } from '../support/chromium.ts';
import { startHttpTarget } from '../support/http-target.ts';
import { createProgram, eventually } from '../support/program.ts';
import { closedPort } from '../support/tcp-servers.ts';

const config = (port: number, target: string, more = '') => `
data: watchpost.db
http: { listen: "127.0.0.1:${port}" ${more} }
defaults: { every: 1s }
targets:
  shop: { check: http, host: "${target}", timeout: 900ms }
  port: { check: tcp, host: "${new URL(target).host}", timeout: 900ms }
rules: { down: { rounds: 1, recover: 1 } }
pages: { status: { targets: { shop: Web shop } } }
`;

const heading = ({ page }: Tab, name: RegExp) =>
  page.getByRole('heading', { level: 1, name }).waitFor({ timeout: 60_000 });
const lost = /^Not connected since \d\d:\d\d:\d\d\. This is the state of that time\.$/;
const bar = ({ page }: Tab) => page.locator('#lost');
const icon = async ({ page }: Tab) => page.locator('link[rel=icon]').getAttribute('href');
const paths = ['/', '/?view=wall', '/targets/shop', '/incidents', '/nodes', '/status'];

test.concurrent.for(['SIGSTOP', 'SIGKILL'] as const)(
  'every open page says that its hub is gone after %s, and goes on when it is back',
  async (signal, context) => {
    const browser = await openBrowser(context);
    await using target = await startHttpTarget();
    await using program = await createProgram();
    await using stack = new AsyncDisposableStack();
    const yaml = config(await closedPort(), target.url);
    const hub = await program.start(yaml);
    const tabs: Tab[] = [];
    for (const path of paths) {
      const tab = stack.use(await openTab(browser, hub.url, path === '/' ? devices.phone : {}));
      tabs.push(tab);
      await tab.page.goto(path);
      await heading(tab, /./);
      await tab.page.evaluate('window.mark = 1');
    }
    const [first] = tabs;
    if (first === undefined) throw new Error('no tab');
    await heading(first, /All 2 targets are up\./);
    const titles = await Promise.all(tabs.map(({ page }) => page.title()));
    if (signal === 'SIGKILL') await hub.end('SIGKILL');
    else hub.process.kill('SIGSTOP');
    for (const tab of tabs) {
      await bar(tab).waitFor({ timeout: 60_000 });
      expect(await bar(tab).textContent()).toMatch(lost);
      expect(await tab.page.title()).toMatch(/^Not connected(?: · Watchpost)?$/);
      expect(await icon(tab)).toContain('icon-unknown');
    }
    await expectToLookGoodInBoth(first.page);

    await target.stop();
    if (signal === 'SIGKILL') await program.start(yaml);
    else hub.process.kill('SIGCONT');
    for (const [index, tab] of tabs.entries()) {
      await bar(tab).waitFor({ state: 'detached', timeout: 60_000 });
      expect(await icon(tab)).not.toContain('icon-unknown');
      expect(await tab.page.title()).not.toContain('Not connected');
      expect(await tab.page.evaluate('document.documentElement.className')).toBe('');
      // By itself: nobody has loaded it again.
      expect(await tab.page.evaluate('window.mark')).toBe(1);
      // Until the node has looked for the first time, the page says that it is away.
      if (paths[index] === '/nodes')
        await eventually(60_000, async () => expect(await tab.page.title()).toBe(titles[index]));
    }
    await heading(first, /2 of 2 targets are down/);
    expect(await first.page.title()).toMatch(/^2 of 2 targets are down/);
  },
);

const hash = '$scrypt$ln=15,r=8,p=1$4IFO6htCCsDcshWEfk4TWw$PeH29v+ClnWs6q4gRQQ7fIB0L7aqn5PJ3iY+zP64NUU';
const users = (salted: string) => `, users: { ann: { password_hash: "${salted}" } }`;

async function signIn({ page }: Tab): Promise<void> {
  await page.getByLabel('User').fill('ann');
  await page.getByLabel('Password').fill('secret-words');
  await page.keyboard.press('Enter');
}

test.concurrent('a tab that is signed in stays so over a restart; without the user it leads to signing in, and back', async (context) => {
  const browser = await openBrowser(context);
  await using target = await startHttpTarget();
  await using program = await createProgram();
  const port = await closedPort();
  const hub = await program.start(config(port, target.url, users(hash)));
  await using tab = await openTab(browser, hub.url);
  await tab.page.goto('/?view=wall');
  await signIn(tab);
  await heading(tab, /All 2 targets are up\./);
  await tab.page.evaluate('window.mark = 1');
  await hub.end('SIGKILL');
  await bar(tab).waitFor({ timeout: 60_000 });
  await target.stop();
  const second = await program.start(config(port, target.url, users(hash)));
  await heading(tab, /2 of 2 targets are down/);
  expect(await tab.page.evaluate('window.mark')).toBe(1);

  await second.end('SIGKILL');
  const other = hash.replace('4IFO6htCCsDcshWEfk4TWw', '5IFO6htCCsDcshWEfk4TWw');
  const third = await program.start(config(port, target.url, users(other)));
  await heading(tab, /Sign in/);
  await third.end('SIGKILL');
  await program.start(config(port, target.url, users(hash)));
  await signIn(tab);
  await tab.page.waitForURL('**/?view=wall');
  await heading(tab, /2 of 2 targets are down/);
});

test('a tab that slept for a day, without a network, shows what is as soon as it wakes up', async (context) => {
  const browser = await openBrowser(context);
  await using target = await startHttpTarget();
  await using program = await createProgram();
  const hub = await program.start(config(await closedPort(), target.url));
  await using tab = await openTab(browser, hub.url);
  const { page } = tab;
  await page.clock.install();
  await page.goto('/');
  await heading(tab, /All 2 targets are up\./);
  await page.evaluate('window.mark = 1');
  await page.context().setOffline(true);
  await target.stop();
  await eventually(60_000, async () =>
    expect(await (await fetch(`${hub.url}/`)).text()).toContain('2 of 2 targets are down'),
  );
  // Timers that are due fire once, as on a computer that was asleep.
  await page.clock.fastForward('24:00:00');
  await bar(tab).waitFor({ timeout: 60_000 });
  await page.context().setOffline(false);
  await bar(tab).waitFor({ state: 'detached', timeout: 60_000 });
  await heading(tab, /2 of 2 targets are down/);
  expect(await page.title()).toMatch(/^2 of 2 targets are down/);
  expect(await page.evaluate('window.mark')).toBe(1);
});
