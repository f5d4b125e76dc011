import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { expect, type TestContext } from 'vitest';
import { chromiumPath, devices, headlessShellPath, launchChromium } from './chromium.ts';
import { needsProgram } from './programs.ts';

/** By its path. They end with the process, which may have the tests of several files. */
const running = new Map<string, Promise<Browser>>();

/**
 * The engine of Debian's Chromium, one for all tests of a process: each tab has a profile of its own. Skips the test where it is not
 * installed; fails it in CI. With each profile the whole Chromium would open a window with an interface, which takes longer than a page.
 */
export async function openBrowser(context: TestContext): Promise<Browser> {
  return open(context, headlessShellPath, 'chromium-headless-shell');
}

/** The whole Chromium in its place, for what only it has: notifications. */
export async function openWholeBrowser(context: TestContext): Promise<Browser> {
  return open(context, chromiumPath, 'chromium');
}

async function open(context: TestContext, path: string, debianPackage: string): Promise<Browser> {
  needsProgram(context, path, debianPackage);
  let browser = running.get(path);
  if (browser === undefined) {
    browser = launchChromium(path);
    running.set(path, browser);
    const forget = () => running.delete(path);
    browser.then((open) => open.once('disconnected', forget), forget);
  }
  return browser;
}

/** A tab, and what went wrong in it. */
export interface Tab extends AsyncDisposable {
  readonly page: Page;
  /** What a browser complained about, and requests that went anywhere but to `url`. */
  readonly complaints: string[];
}

/** A tab of a browser that knows no other. */
export async function openTab(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<Tab> {
  const context = await browser.newContext({
    ...devices.desktop,
    timezoneId: 'Europe/Berlin',
    baseURL: url,
    ...options,
  });
  const complaints: string[] = [];
  context.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(`console: ${message.text()}`);
  });
  context.on('weberror', (error) => complaints.push(`error: ${error.error().message}`));
  context.on('request', (request) => {
    const asked = new URL(request.url());
    if (asked.origin !== new URL(url).origin && asked.protocol !== 'data:') complaints.push(`foreign: ${asked.href}`);
  });
  const page = await context.newPage();
  return { page, complaints, [Symbol.asyncDispose]: async () => context.close() };
}

/** Waits until an element has the focus: a page gives it after it was loaded, and keys that come before are lost. */
export async function focused(page: Page, selector: string): Promise<void> {
  const look = `document.activeElement.matches(${JSON.stringify(selector)})`;
  await expect.poll(() => page.evaluate(look), { timeout: 30_000 }).toBe(true);
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What axe-core finds fault with in the page as it is, by these rules; by all where none is named. */
async function violationsOf(page: Page, rules: readonly string[] | null): Promise<readonly string[]> {
  // The page's own policy forbids scripts that are not its files: the debugger may run some all the same.
  const session = await page.context().newCDPSession(page);
  const evaluate = async (expression: string): Promise<unknown> => {
    const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
      expression,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails !== undefined)
      throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  };
  // To load it takes longer than to look at most pages.
  if ((await evaluate('typeof axe')) === 'undefined') await evaluate(`${axe}; 0`);
  const options = { resultTypes: ['violations'], ...(rules === null ? {} : { runOnly: rules }) };
  const violations = await evaluate(`axe.run(document, ${JSON.stringify(options)}).then(({ violations }) =>
    violations.map(({ id, help, nodes }) => id + ': ' + help + ': ' + nodes.slice(0, 3).map(({ html, failureSummary }) => html.slice(0, 200) + ' ' + failureSummary).join(' | ')))`);
  await session.detach();
  return violations as readonly string[];
}

/** A page looks good: axe-core finds nothing, nothing sticks out to the side. */
async function expectToLookGood(page: Page, rules: readonly string[] | null): Promise<void> {
  const name = `${page.url()} ${JSON.stringify(page.viewportSize())}`;
  expect([name, await violationsOf(page, rules)]).toEqual([name, []]);
  await expectNothingBeside(page);
}

async function expectNothingBeside(page: Page): Promise<void> {
  const name = `${page.url()} ${JSON.stringify(page.viewportSize())}`;
  const overflow = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
  expect([name, 'sideways', Math.max(0, Number(overflow))]).toEqual([name, 'sideways', 0]);
  // On a phone each row of these is a card, of which nothing lies beside the screen.
  const beside = await page.evaluate<string[]>(`matchMedia('(max-width: 40rem)').matches
    ? [...document.querySelectorAll('table.cards')]
        .filter(({ scrollWidth, parentElement }) => scrollWidth > parentElement.clientWidth + 1)
        .map(({ parentElement }) => parentElement.ariaLabel)
    : []`);
  expect([page.url(), beside]).toEqual([page.url(), []]);
}

/** All of a page is on the screen or below it, and the browser has no complaint. */
export async function expectToFit({ page, complaints }: Tab): Promise<void> {
  await expectNothingBeside(page);
  expect([page.url(), complaints]).toEqual([page.url(), []]);
}

/** A page is good: it looks good, and the browser has no complaint. */
export async function expectGood({ page, complaints }: Tab): Promise<void> {
  await expectToLookGood(page, null);
  expect([page.url(), complaints]).toEqual([page.url(), []]);
}

/** It looks good in light and in dark: all but the colours is the same in both. */
export async function expectToLookGoodInBoth(page: Page): Promise<void> {
  await page.emulateMedia({ colorScheme: 'light' });
  await expectToLookGood(page, null);
  await page.emulateMedia({ colorScheme: 'dark' });
  await expectToLookGood(page, ['color-contrast', 'link-in-text-block']);
}

/** A page is good in light and in dark. */
export async function expectGoodInBoth({ page, complaints }: Tab): Promise<void> {
  await expectToLookGoodInBoth(page);
  expect([page.url(), complaints]).toEqual([page.url(), []]);
}
