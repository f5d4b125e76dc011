import { expect, test } from 'vitest';
import { expectGoodInBoth, openTab, openWholeBrowser } from '../support/browser.ts';
import { devices } from '../support/chromium.ts';
import { startHttpTarget } from '../support/http-target.ts';
import { createProgram, eventually } from '../support/program.ts';
import { createPushBrowser, startPushService } from '../support/push-service.ts';

test('a browser is added by a button, and its service worker shows a message of the hub, which opens the incident', async (context) => {
  const browser = await openWholeBrowser(context);
  await using target = await startHttpTarget();
  await using service = await startPushService();
  await using program = await createProgram();
  const { url } = await program.start(`
data: watchpost.db
http: { listen: 127.0.0.1:0, public_url: https://hub.example }
defaults: { every: 1s }
targets: { shop: { check: tcp, host: "${new URL(target.url).host}", timeout: 900ms } }
notify: { ops: { push: {}, group_wait: 0s } }
push: { allow_private: true }
`);
  const receiver = createPushBrowser();
  const { p256dh, auth } = receiver;
  await using tab = await openTab(browser, url, { ...devices.phone, permissions: ['notifications'] });
  const { page } = tab;
  // The push service of Chromium is elsewhere: this one is in its place, and everything else is the browser's own.
  const subscription = { endpoint: `${service.origin}/send/phone`, keys: { p256dh, auth } };
  await page.addInitScript(`PushManager.prototype.subscribe = async (options) => {
    if (options.applicationServerKey.length !== 65 || !options.userVisibleOnly) throw new TypeError('options');
    return { toJSON: () => (${JSON.stringify(subscription)}) };
  };
  PushManager.prototype.getSubscription = async () => null;
  `);
  await page.goto('/incidents');
  await page.getByRole('link', { name: 'Notifications on this device' }).click();
  await page.getByRole('heading', { level: 1, name: 'No device gets notifications.' }).waitFor();
  await expectGoodInBoth(tab);
  await page.getByRole('button', { name: 'Notify this device' }).click();
  await page.getByRole('heading', { level: 1, name: '1 device gets notifications.' }).waitFor();
  await page.getByRole('rowheader', { name: 'Chrome on Linux' }).waitFor();
  await expectGoodInBoth(tab);

  await target.stop();
  await eventually(60_000, () => expect(service.received).not.toEqual([]));
  const text = receiver.decrypt(service.received[0]!.body);
  const { tag, title, link } = JSON.parse(text);

  // What a push service hands to the browser, as it came from the hub.
  const session = await page.context().newCDPSession(page);
  const registered = new Promise<string>((resolve) => {
    session.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
      const [first] = registrations;
      if (first !== undefined) resolve(first.registrationId);
    });
  });
  await session.send('ServiceWorker.enable');
  const registrationId = await registered;
  await session.send('ServiceWorker.deliverPushMessage', { origin: url, registrationId, data: text });
  const shown = async () =>
    page.evaluate(`navigator.serviceWorker.ready.then(async (one) => (await one.getNotifications()).map(
      ({ title, tag, data }) => ({ title, tag, link: data.link })))`);
  await expect.poll(shown, { timeout: 30_000 }).toEqual([{ title, tag, link }]);
  await session.send('ServiceWorker.deliverPushMessage', {
    origin: url,
    registrationId,
    data: JSON.stringify({ ...JSON.parse(text), title: 'shop is up again' }),
  });
  // The end stands in the place of the beginning.
  await expect.poll(shown, { timeout: 30_000 }).toEqual([{ title: 'shop is up again', tag, link }]);

  // A click on it opens the incident under the address that this browser knows.
  const worker = page.context().serviceWorkers()[0]!;
  const asked = await worker.evaluate(async () => {
    const scope = globalThis as unknown as {
      registration: { getNotifications(): Promise<object[]> };
      clients: { openWindow: (href: string) => Promise<null> };
      dispatchEvent(event: Event): boolean;
    };
    const hrefs: string[] = [];
    scope.clients.openWindow = async (href) => {
      hrefs.push(href);
      return null;
    };
    const [notification] = await scope.registration.getNotifications();
    const event = Object.assign(new Event('notificationclick'), { notification, action: '', waitUntil: () => {} });
    scope.dispatchEvent(event);
    for (let turn = 0; turn < 100 && hrefs.length === 0; turn += 1)
      await new Promise((resolve) => {
        setTimeout(resolve, 50);
      });
    return hrefs;
  });
  expect(asked).toEqual([`${url}${new URL(link).pathname}`]);
  expect(await shown()).toEqual([]);
});
