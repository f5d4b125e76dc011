import { afterEach, beforeEach, expect, test } from 'vitest';
import type { DeliveryReceipt } from '#monitor/notify/channel.ts';
import { createOutbox, type Outbox } from '#monitor/notify/outbox.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { delivery, shopBack, shopDown } from '../../../support/incidents.ts';
import { MemoryDeliveries } from '../../../support/memory-deliveries.ts';
import { memoryLog } from '../../../support/memory-log.ts';
import { alone } from '../../../support/policies.ts';
import { accepted, RecordingChannel, refusedForNow } from '../../../support/recording-channel.ts';
import { seededRandom } from '../../../support/seeded-random.ts';

// A mail server closes the connection after the final dot: the mail may be in a mailbox, whatever happens to its incident next.

const second = 1_000;
const minute = 60 * second;
const perhaps: DeliveryReceipt = {
  kind: 'retry',
  reason: 'connection closed',
  isUncertain: true,
  atLeastMs: 15 * minute,
};

let clock: FakeClock;
let store: MemoryDeliveries;
let email: RecordingChannel;
let outbox: Outbox;

beforeEach(async () => {
  clock = new FakeClock('2026-01-01T12:01:30Z');
  store = new MemoryDeliveries();
  email = new RecordingChannel();
  outbox = createOutbox({
    store,
    channels: [email],
    clock,
    random: seededRandom(),
    log: memoryLog().log,
    policyOf: () => alone,
    linkTo: () => null,
  });
  email.answer = () => perhaps;
  store.add(shopDown, delivery({ id: 1, createdAt: clock.now(), nextAttemptAt: clock.now() }));
  outbox.start();
  await clock.advance(minute);
  store.add(shopBack, delivery({ id: 2, kind: 'resolved', createdAt: clock.now(), nextAttemptAt: clock.now() }));
});
afterEach(async () => outbox.stop());

const kinds = () => email.attempts.map(({ message }) => message.kind);
const ids = () => email.attempts.map(({ message }) => message.id);

test('a mail that may have arrived is still known after another one told of the beginning and the end', async () => {
  email.answer = () => accepted;
  outbox.wake();
  await clock.advance(second);
  expect(kinds()).toEqual(['opened', 'late']);
  expect([...store.states.values()]).toEqual(['merged', 'sent']);
  expect([store.messages.get(1), store.messages.get(2)]).toEqual(ids());
  await clock.advance(60 * minute);
  expect(email.attempts).toHaveLength(2);
});

test('it is still known, and not repeated sooner, while that one is put off', async () => {
  email.answer = () => refusedForNow;
  outbox.wake();
  await clock.advance(second);
  expect(kinds()).toEqual(['opened', 'late']);
  expect([store.messages.get(1), store.messages.get(2)]).toEqual([ids()[0], null]);
  await clock.advance(5 * minute);
  expect(new Set(kinds().slice(1))).toEqual(new Set(['late']));
  email.answer = () => accepted;
  await clock.advance(60 * minute);
  expect([...store.states.values()]).toEqual(['merged', 'sent']);
  expect(store.messages.get(1)).toBe(ids()[0]);
});

test('only the last is repeated where both may have arrived, and both are known', async () => {
  outbox.wake();
  await clock.advance(second);
  expect([store.messages.get(1), store.messages.get(2)]).toEqual(ids());
  email.answer = () => accepted;
  await clock.advance(60 * minute);
  expect([...store.states.values()]).toEqual(['merged', 'sent']);
  expect(kinds()).toEqual(['opened', 'late', 'resolved']);
  expect(ids()[2]).toBe(ids()[1]);
  expect([store.messages.get(1), store.messages.get(2)]).toEqual(ids().slice(0, 2));
});
