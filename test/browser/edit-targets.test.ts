import { expect, test } from 'vitest';
import { hashPassword } from '#kernel/password.ts';
import { expectGoodInBoth, openBrowser, openTab } from '../support/browser.ts';
import { devices } from '../support/chromium.ts';
import { startHttpTarget } from '../support/http-target.ts';
import { createProgram } from '../support/program.ts';

test('a target is added, removed and put back by forms that are good on phone and desktop', async (context) => {
  const browser = await openBrowser(context);
  await using target = await startHttpTarget();
  await using program = await createProgram();
  const hash = await hashPassword('correct horse');
  const { url } = await program.start(`data: watchpost.db
http: { listen: 127.0.0.1:0, users: { ann: { password_hash: "${hash}" } } }
config: { writable: true }
service: {}
defaults: { every: 1s }
targets:
  shop: { check: http, host: "${target.url}", timeout: 900ms }
`);
  for (const device of [devices.desktop, devices.phone]) {
    await using tab = await openTab(browser, url, device);
    const { page } = tab;
    await page.goto('/');
    await page.getByLabel('User').fill('ann');
    await page.getByLabel('Password').fill('correct horse');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Add a target' }).click();
    await page.getByRole('heading', { level: 1, name: 'Add a target' }).waitFor();
    await expectGoodInBoth(tab);
    await page.getByLabel('What to check').fill(new URL(target.url).host);
    await page.getByLabel('How often').fill('soon');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('alert').getByText('every').waitFor();
    // The browser tells of the status 400.
    expect(tab.complaints.splice(0)).toHaveLength(1);
    await expectGoodInBoth(tab);
    await page.getByLabel('How often').fill('1s');
    await page.getByRole('button', { name: 'Check it from all nodes' }).click();
    await page.getByRole('link', { name: 'Results of all nodes' }).waitFor();
    expect(await page.getByLabel('Name').inputValue()).toBe('127-0-0-1');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: /^.*127-0-0-1 is up/ }).waitFor();
    await expectGoodInBoth(tab);
    await page.getByRole('link', { name: 'Edit', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Edit 127-0-0-1' }).waitFor();
    await expectGoodInBoth(tab);
    const lines = page.getByLabel('Lines');
    const written = await lines.inputValue();
    await lines.fill(written.replace('every:', 'evry:'));
    await page.getByRole('button', { name: 'Show the difference' }).click();
    await page.getByRole('alert').getByText('did you mean "every"?').waitFor();
    expect(tab.complaints.splice(0)).toHaveLength(1);
    await expectGoodInBoth(tab);
    await lines.fill(written.replace('every: 1s', 'every: 2s'));
    await page.getByRole('button', { name: 'Check it from all nodes' }).click();
    await page.getByRole('link', { name: 'Results of all nodes' }).waitFor();
    await page.getByRole('button', { name: 'Show the difference' }).click();
    await page.getByRole('heading', { name: 'Difference' }).waitFor();
    await expectGoodInBoth(tab);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The configuration is changed.').waitFor();
    await expectGoodInBoth(tab);
    await page.getByRole('link', { name: 'Changes of the configuration' }).click();
    await page.getByRole('cell', { name: 'a target was changed on a page' }).first().waitFor();
    await expectGoodInBoth(tab);
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('The last change is taken back.').waitFor();
    await page.getByRole('button', { name: 'Remove from the configuration' }).click();
    await page.getByText('127-0-0-1 is removed from the configuration.').waitFor();
    await expectGoodInBoth(tab);
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('The last change is taken back.').waitFor();
    await page.goto('/targets/127-0-0-1');
    await page.getByRole('button', { name: 'Remove from the configuration' }).click();
    await page.getByText('127-0-0-1 is removed from the configuration.').waitFor();
  }
});
