import { expect, test } from 'vitest';
import { systemClock } from '#kernel/clock.ts';
import { createSmtpChannel } from '#channels/smtp.ts';
import { createOutbox } from '#monitor/notify/outbox.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { delivery, shopBack, shopDown } from '../../support/incidents.ts';
import { smtpServer, template } from '../../support/mails.ts';
import { MemoryDeliveries } from '../../support/memory-deliveries.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { alone } from '../../support/policies.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { startSmtp } from '../../support/smtp.ts';

const hour = 3_600_000;
const opened = delivery();
const resolved = delivery({ id: 2, kind: 'resolved', createdAt: Date.parse('2026-01-01T12:09:42Z') });

async function setUp() {
  const sink = await startSmtp();
  const clock = new FakeClock('2026-01-01T12:01:30Z');
  const store = new MemoryDeliveries();
  const server = smtpServer({ url: `smtp://127.0.0.1:${sink.port}` });
  const channel = createSmtpChannel({ server, template, hostname: 'monitor.example.com', clock: systemClock });
  const options = { store, channels: [channel], clock, random: seededRandom(), log: memoryLog().log };
  const outbox = createOutbox({ ...options, policyOf: () => ({ ...alone, remindMs: [hour] }), linkTo: () => null });
  outbox.start();
  return {
    sink,
    clock,
    store,
    outbox,
    deliver: async () => outbox.drain(AbortSignal.timeout(50_000)),
    async [Symbol.asyncDispose]() {
      await outbox.stop();
      await sink.stop();
    },
  };
}

test('the mails of an incident arrive at a mail server as one thread', async () => {
  await using place = await setUp();
  const { clock, store, sink, deliver } = place;
  store.add(shopDown, opened);
  await deliver();
  clock.step(hour);
  store.add(shopBack, resolved);
  await deliver();
  const [down, back] = sink.received.map(({ mail }) => mail);
  expect([down?.subject, back?.subject]).toEqual([
    '[DOWN] shop: connection refused (3 of 4 nodes)',
    '[RESOLVED] shop: up again after 8m 12s',
  ]);
  expect(back?.inReplyTo).toBe(down?.messageId);
  expect([...store.states.values()]).toEqual(['sent', 'sent']);
});

test('a reminder arrives in the thread while the incident is open, and then its end with how long it took', async () => {
  await using place = await setUp();
  const { clock, store, sink, deliver } = place;
  store.add(shopDown, opened);
  await deliver();
  clock.step(hour);
  await deliver();
  store.add({ ...shopBack, endedAt: shopDown.startedAt + hour }, { ...resolved, id: 9 });
  await deliver();
  const [down, reminder, back] = sink.received.map(({ mail }) => mail);
  expect([down, reminder, back].map((mail) => mail?.subject)).toEqual([
    '[DOWN] shop: connection refused (3 of 4 nodes)',
    '[DOWN] shop: still down after 1h 30s: connection refused (3 of 4 nodes)',
    '[RESOLVED] shop: up again after 1h',
  ]);
  expect([reminder, back].map((mail) => mail?.inReplyTo)).toEqual([down?.messageId, down?.messageId]);
  expect(down?.text).toContain('Who saw what');
});

test('one mail arrives after a mail server was away for the whole outage', async () => {
  await using place = await setUp();
  const { clock, store, sink, deliver } = place;
  await sink.stop();
  store.add(shopDown, opened);
  await deliver();
  clock.step(hour);
  store.add(shopBack, resolved);
  await deliver();
  clock.step(24 * hour);
  await deliver();
  expect([...store.states.values()]).toEqual(['pending', 'pending']);
  await sink.start();
  clock.step(hour);
  await deliver();
  expect(sink.received.map(({ mail }) => mail.subject)).toEqual([
    '[RESOLVED] shop: was down 2026-01-01 12:01 to 12:09 UTC; this mail was delayed',
  ]);
  expect([...store.states.values()]).toEqual(['sent', 'merged']);
});
