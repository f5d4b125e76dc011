import { expect, test } from 'vitest';
import { expectGoodInBoth, openBrowser, openTab, type Tab } from '../support/browser.ts';
import { devices } from '../support/chromium.ts';
import { startHttpTarget } from '../support/http-target.ts';
import { createProgram } from '../support/program.ts';
import { startSmtp } from '../support/smtp.ts';

const config = (host: string, port: number) => `
data: watchpost.db
http: { listen: 127.0.0.1:0, public_url: http://hub.example }
smtp: { url: "smtp://127.0.0.1:${port}", from: status@example.com }
defaults: { every: 1s }
targets:
  shop: { check: tcp, host: "${host}", timeout: 900ms }
pages: { status: { title: Example, targets: { shop: Web shop }, subscribe: true } }
`;

const heading = async ({ page }: Tab, name: RegExp) =>
  page.getByRole('heading', { level: 1, name }).waitFor({ timeout: 60_000 });

test('a visitor chooses a language, which stays over pages and live changes, and every page is good in each', async (context) => {
  const browser = await openBrowser(context);
  await using smtp = await startSmtp();
  await using target = await startHttpTarget();
  await using program = await createProgram();
  const { url } = await program.start(config(new URL(target.url).host, smtp.port));
  await using tab = await openTab(browser, url);
  const { page } = tab;
  await page.goto('/status');
  await heading(tab, /All services are working\./);
  await page.getByRole('link', { name: 'Français' }).click();
  await heading(tab, /Tous les services sont opérationnels\./);
  await page.goto('/status');
  await heading(tab, /Tous les services sont opérationnels\./);
  expect(await page.evaluate('document.documentElement.lang')).toBe('fr');
  // Times are as the language writes them, by scripts too.
  expect(await page.locator('[data-part="as-of"]').textContent()).toMatch(/^État au \d\d:\d\d$/);
  await page.evaluate('window.mark = 1');
  await target.stop();
  await heading(tab, /Web shop est indisponible\./);
  expect(await page.title()).toBe('Example: Web shop est indisponible.');
  expect(await page.evaluate('window.mark')).toBe(1);
  await page.getByRole('link', { name: 'S’abonner par e-mail' }).click();
  await page.getByLabel('Adresse e-mail').fill('ann@example.com');
  await page.getByRole('button', { name: 'S’abonner' }).click();
  await page.getByText('Ouvrez le lien contenu dans l’e-mail').waitFor();
  const [mail] = await smtp.mails(1);
  const [, link = ''] = /hub\.example(\S+)/.exec(mail?.mail.text ?? '') ?? [];
  await page.goto(link);
  await page.getByRole('button', { name: 'Confirmer' }).click();
  await page.getByText('Votre abonnement est confirmé.').waitFor();

  for (const device of [devices.desktop, devices.phone]) {
    await using other = await openTab(browser, url, device);
    for (const language of ['de', 'es', 'ja', 'en'])
      for (const path of ['/status', '/status/status/history', '/status/status/subscribe', link]) {
        await other.page.goto(`${path}?lang=${language}`);
        await heading(other, /./);
        await expectGoodInBoth(other);
      }
  }
});
