import { expect, test } from 'vitest';
import { mailOf } from '#channels/mail.ts';
import { composeMessage } from '#monitor/notify/compose-message.ts';
import { openBrowser } from '../support/browser.ts';
import { delivery, shopDown } from '../support/incidents.ts';
import { mailKinds } from '../support/mail-kinds.ts';
import { part, template, utc } from '../support/mails.ts';

const phone = { viewport: { width: 375, height: 812 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 };
const from = 'Watchpost <alerts@example.com>';

// Every block of text has to end on the screen, inside a table as well as outside.
const measure = `({
  scrollWidth: document.documentElement.scrollWidth,
  beyond: [...document.querySelectorAll('th, td, p, div')]
    .filter((one) => one.getBoundingClientRect().right > 375 || one.scrollWidth > one.clientWidth + 1)
    .map(({ textContent }) => textContent),
})`;

const word = 'a'.repeat(120);
const wordy = {
  ...shopDown,
  target: `${'shop-'.repeat(12)}front`,
  subject: `http https://${'really-long-'.repeat(8)}name.example.com/${word}?token=${word}`,
  labels: { [word]: word },
  votes: shopDown.votes.map((vote) => ({
    ...vote,
    node: `${'frankfurt-'.repeat(4)}1`,
    message: vote.message === null ? null : `expected the header x-${word} to be ${word}`,
  })),
};
const wordyParts = [part(wordy, [delivery()], null)] as const;
const mails = [
  ...mailKinds,
  {
    name: 'a DOWN of nothing but long words',
    message: composeMessage(wordyParts, {
      ...utc,
      acknowledgeAt: () => `https://watchpost.example.com/acknowledge/${word}.${word}`,
      linkTo: () => `https://watchpost.example.com/incidents/${word}`,
    }),
  },
];

test('a mail fits on a phone: nothing is cut off, and why it happened is on the screen without scrolling sideways', async (context) => {
  const browser = await openBrowser(context);
  const page = await (await browser.newContext(phone)).newPage();
  const wide: unknown[] = [];
  for (const { name, message } of mails) {
    const { html } = mailOf(message, template, from, 'ops@example.com');
    await page.setContent(typeof html === 'string' ? html : '');
    if (process.env['SHOW_MAILS'] !== undefined)
      await page.screenshot({
        path: `${process.env['SHOW_MAILS']}/${name.replaceAll(/\W+/g, '-')}.png`,
        fullPage: true,
      });
    const { scrollWidth, beyond } = await page.evaluate<{ scrollWidth: number; beyond: string[] }>(measure);
    if (scrollWidth > 375 || beyond.length > 0) wide.push({ name, scrollWidth, beyond });
  }
  expect(wide).toEqual([]);
});
