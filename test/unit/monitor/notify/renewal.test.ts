import { expect, test } from 'vitest';
import type { IncidentLink, DeliveryReceipt, Renew } from '#monitor/notify/channel.ts';
import { startRenewal } from '#monitor/notify/renewal.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { delivery, shopBack, shopDown } from '../../../support/incidents.ts';
import { MemoryDeliveries } from '../../../support/memory-deliveries.ts';
import { memoryLog } from '../../../support/memory-log.ts';
import { RecordingChannel } from '../../../support/recording-channel.ts';

class ForgetfulChannel extends RecordingChannel {
  readonly renewed: (readonly IncidentLink[])[] = [];
  result: DeliveryReceipt = { kind: 'delivered', response: 'ok' };

  override readonly renew: Renew = async (open) => {
    this.renewed.push(open());
    return this.result;
  };
}

function setUp() {
  const clock = new FakeClock('2026-01-01T12:01:30Z');
  const store = new MemoryDeliveries();
  store.add(shopDown, delivery());
  const channel = new ForgetfulChannel('email');
  const { log, lines } = memoryLog();
  const start = () =>
    startRenewal({
      store,
      channels: [new RecordingChannel('other'), channel],
      linkTo: ({ id }) => `https://watch.example.com/${id}`,
      clock,
      log,
    });
  const tell = () => store.storeOutcomes([{ id: 1, state: 'sent', at: clock.now(), message: 'm', remindAt: null }]);
  return { clock, store, channel, lines, start, tell };
}

test('what was told and is open is renewed at once and each minute, until it is over', async () => {
  const { clock, store, channel, start, tell } = setUp();
  tell();
  const renewal = start();
  await expect.poll(() => channel.renewed.length).toBe(1);
  expect(channel.renewed[0]).toEqual([{ incident: shopDown, link: `https://watch.example.com/${shopDown.id}` }]);
  await clock.advance(60_000);
  expect(channel.renewed).toHaveLength(2);
  store.add(shopBack);
  await clock.advance(180_000);
  expect(channel.renewed).toHaveLength(2);
  await renewal.stop();
});

test('what was not told yet is not renewed', async () => {
  const { clock, channel, start, tell } = setUp();
  const renewal = start();
  await clock.advance(120_000);
  expect(channel.renewed).toEqual([]);
  tell();
  await clock.advance(60_000);
  expect(channel.renewed).toHaveLength(1);
  await renewal.stop();
});

test('a failure is said once, and so is its end', async () => {
  const { clock, channel, lines, start, tell } = setUp();
  tell();
  channel.result = { kind: 'retry', reason: '503 Service Unavailable' };
  const renewal = start();
  await clock.advance(180_000);
  expect(channel.renewed.length).toBeGreaterThan(2);
  channel.result = { kind: 'delivered', response: 'ok' };
  await clock.advance(120_000);
  expect(lines.map(({ msg }) => msg)).toEqual([
    'cannot renew open alerts, retrying every minute: 503 Service Unavailable',
    'open alerts are renewed again',
  ]);
  await renewal.stop();
});

test('a store that cannot be read ends nothing', async () => {
  const { clock, store, channel, lines, start, tell } = setUp();
  tell();
  const told = store.notifiedAndOpen.bind(store);
  let isBroken = true;
  store.notifiedAndOpen = (name) => {
    if (isBroken) throw new Error('disk I/O error');
    return told(name);
  };
  const renewal = start();
  await expect.poll(() => lines.length).toBe(1);
  isBroken = false;
  await clock.advance(60_000);
  expect(channel.renewed).toHaveLength(1);
  await renewal.stop();
});

test('a channel that never answers holds up no other recipient, and nothing waits for it at the end', async () => {
  const { clock, store, channel, lines, start, tell } = setUp();
  store.add(shopDown, delivery({ id: 2, recipient: 'hangs@example.com' }));
  tell();
  store.storeOutcomes([{ id: 2, state: 'sent', at: clock.now(), message: 'm', remindAt: null }]);
  const { renew } = channel;
  Object.assign(channel, {
    renew: async (...[open, recipient, signal]: Parameters<Renew>) =>
      recipient === 'hangs@example.com' ? new Promise(() => {}) : renew(open, recipient, signal),
  });
  const renewal = start();
  await clock.advance(180_000);
  expect(channel.renewed.length).toBeGreaterThanOrEqual(3);
  expect(lines.map(({ msg }) => msg)).toEqual([
    'cannot renew open alerts, retrying every minute: no answer within 10000 ms',
  ]);
  await renewal.stop();
  expect(clock.pending).toBe(0);
});
