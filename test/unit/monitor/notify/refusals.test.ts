import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { othersOf } from '#compose/delivery.ts';
import { createOutbox, type Outbox } from '#monitor/notify/outbox.ts';
import type { QueueAddress } from '#monitor/notify/recipient-queues.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { delivery, shopDown } from '../../../support/incidents.ts';
import { MemoryDeliveries } from '../../../support/memory-deliveries.ts';
import { memoryLog } from '../../../support/memory-log.ts';
import { alone } from '../../../support/policies.ts';
import {
  accepted,
  type Attempt,
  RecordingChannel,
  refusedForGood,
  refusedForNow,
} from '../../../support/recording-channel.ts';
import { seededRandom } from '../../../support/seeded-random.ts';

const second = 1_000;
const minute = 60 * second;
const full: QueueAddress = { channel: 'email', recipient: 'full@example.com' };
const chat: QueueAddress = { channel: 'slack', recipient: 'ops' };
const other: QueueAddress = { channel: 'email', recipient: 'boss@example.com' };
const notify = [
  { name: 'ops', addresses: [full, chat], policy: alone },
  { name: 'boss', addresses: [other], policy: alone },
];

let clock: FakeClock;
let store: MemoryDeliveries;
let email: RecordingChannel;
let slack: RecordingChannel;
let outbox: Outbox;

beforeEach(() => {
  clock = new FakeClock('2026-01-01T12:01:30Z');
  store = new MemoryDeliveries();
  email = new RecordingChannel();
  slack = new RecordingChannel('slack');
  outbox = createOutbox({
    store,
    channels: [email, slack],
    clock,
    random: seededRandom(),
    log: memoryLog().log,
    policyOf: ({ channel }) => ({
      ...alone,
      grouping: { waitMs: channel === 'slack' ? 10 * minute : 0, intervalMs: 0 },
    }),
    othersOf: (address) => othersOf({ notify }, address),
    linkTo: () => null,
  });
});
afterEach(async () => outbox.stop());

const add = (id: number, to: QueueAddress) => {
  const times = { createdAt: clock.now(), nextAttemptAt: clock.now() };
  store.add(shopDown, delivery({ id, ...times, ...to }));
};
const isFull = ({ recipient }: Attempt) => recipient === full.recipient;

describe('a recipient who is refused for good', () => {
  test('is tried again after one, two and five minutes while the incident is open', async () => {
    const at: number[] = [];
    email.answer = () => {
      at.push(clock.now());
      return refusedForGood;
    };
    add(1, full);
    outbox.start();
    await clock.advance(60 * minute);
    const waits = at.slice(1, 5).map((time, index) => (time - (at[index] ?? 0)) / minute);
    for (const [index, expected] of [1, 2, 5, 15].entries()) {
      expect(waits[index]).toBeGreaterThanOrEqual(expected * 0.8);
      expect(waits[index]).toBeLessThanOrEqual(expected * 1.2 + 0.1);
    }
  });

  test('has the other channels of the same entry used at once, and no others', async () => {
    email.answer = (attempt) => (isFull(attempt) ? refusedForGood : refusedForNow);
    add(1, full);
    add(2, chat);
    add(3, other);
    outbox.start();
    await clock.advance(6 * second);
    expect(slack.recipients).toEqual(['ops']);
    expect(email.recipients).toEqual(['full@example.com', 'boss@example.com']);
  });

  test('has a channel of the same entry tried again at once that waits after a failure', async () => {
    let isAway = true;
    slack.answer = () => (isAway ? refusedForNow : accepted);
    const held = Promise.withResolvers<void>();
    email.answer = async () => {
      await held.promise;
      return refusedForGood;
    };
    add(2, chat);
    clock.step(10 * minute);
    add(1, full);
    outbox.start();
    await clock.advance(0);
    expect(slack.attempts).toHaveLength(1);
    isAway = false;
    held.resolve();
    await clock.advance(6 * second);
    expect(slack.attempts).toHaveLength(2);
    expect(store.states.get(2)).toBe('sent');
  });

  test('is made known to those who are reached before, and to those who are reached afterwards', async () => {
    const held = Promise.withResolvers<void>();
    email.answer = async (attempt) => {
      if (isFull(attempt)) return refusedForGood;
      if (attempt.message.kind === 'opened') await held.promise;
      return accepted;
    };
    add(3, other);
    add(1, full);
    outbox.start();
    await clock.advance(2 * second);
    held.resolve();
    await clock.advance(2 * second);
    const told = email.attempts.filter(({ recipient }) => recipient === other.recipient);
    expect(told.map(({ message }) => message.kind)).toEqual(['opened', 'reminder']);
    expect(told[1]?.message.content.remarks.join(' ')).toContain('full@example.com (email) could not be notified');
  });
});
