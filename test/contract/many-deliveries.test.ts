import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { PendingDelivery } from '#monitor/judge/delivery.ts';
import { createOutbox } from '#monitor/notify/outbox.ts';
import { createUnstored } from '#monitor/notify/unstored.ts';
import type { Store } from '#store/sqlite.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { memoryLog } from '../support/memory-log.ts';
import { alone } from '../support/policies.ts';
import { RecordingChannel } from '../support/recording-channel.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { delivery, incident, openAt, opening, round, start, tempFolder } from '../support/store.ts';

// More deliveries than are read at once.

const minute = 60_000;

function open() {
  const folder = tempFolder();
  const clock = new FakeClock(new Date(start).toISOString());
  const store = openAt(join(folder.path, 'watchpost.db'), clock);
  onTestFinished(async () => {
    await store.close();
    folder[Symbol.dispose]();
  });
  const record = async (one: Parameters<Store['record']>[0]) => {
    const stored = store.record(one);
    await clock.advance(1_000);
    await stored;
  };
  return { clock, store, record };
}

/** The end of what `opening` opened, for all of these recipients. */
function ending(target: string, openedAt: number, at: number, recipients: readonly string[]) {
  const closed = incident(target, openedAt, { endedAt: at, closingVotes: [] });
  const times = { kind: 'resolved', createdAt: at, nextAttemptAt: at } as const;
  const deliveries = recipients.map((recipient) => delivery(closed, { ...times, recipient }));
  return round(target, at, { incidents: [closed], deliveries });
}

const shown = ({ delivery: { kind, incidentId } }: PendingDelivery) => `${incidentId.split('/')[0]} ${kind}`;
const ops = ['ops@example.com'];

test.each([
  { name: 'later', endedAt: start + minute },
  { name: 'earlier by a clock that was set back', endedAt: start - 60 * minute },
])('beginning and end of an incident are read together: an end that was stored $name', async ({ endedAt }) => {
  const { store, record } = open();
  for (const [index, name] of ['shop', 'blog', 'wiki'].entries()) await record(opening(name, start + index, ops));
  for (const [index, name] of ['shop', 'blog', 'wiki'].entries())
    await record(ending(name, start + index, endedAt + index, ops));
  for (let limit = 1; limit <= 6; limit += 1) {
    const read = store.dueDeliveries(start + 120 * minute, limit).map(shown);
    expect(read.length).toBe(Math.max(2, limit - (limit % 2)));
    for (const name of new Set(read.map((one) => one.split(' ')[0])))
      expect(read.filter((one) => one.startsWith(`${name} `)).toSorted()).toEqual([
        `${name} opened`,
        `${name} resolved`,
      ]);
  }
});

test('a message that was on its way is read with all of its incidents', async () => {
  const { store, record } = open();
  for (const [index, name] of ['shop', 'blog', 'wiki'].entries()) await record(opening(name, start + index, ops));
  const [shop, , wiki] = store.dueDeliveries(start + minute, 10).map((due) => due.delivery.id);
  await store.claim('m1', [shop!, wiki!]);
  expect(store.dueDeliveries(start + minute, 2).map(shown)).toEqual(['shop opened', 'wiki opened']);
});

test('what could not be stored is cut as what was', async () => {
  const { store, record } = open();
  await record(opening('shop', start, ops));
  const { log } = memoryLog();
  const unstored = createUnstored({ store, log });
  unstored.add(opening('blog', start + 1, ops));
  unstored.add(ending('blog', start + 1, start + minute, ops));
  expect(unstored.dueDeliveries(start + 2 * minute, 2).map(shown)).toEqual(['shop opened']);
  expect(unstored.dueDeliveries(start + 2 * minute, 3).map(shown)).toEqual([
    'shop opened',
    'blog opened',
    'blog resolved',
  ]);
});

test('recipients get one message each of an outage that is over, however little is read at once', async () => {
  const { clock, store, record } = open();
  const recipients = ['a', 'b', 'c', 'd', 'e'].map((name) => `${name}@example.com`);
  await record(opening('shop', start, recipients));
  await record(ending('shop', start, start + minute, recipients));
  const email = new RecordingChannel();
  const outbox = createOutbox({
    store: { ...store, dueDeliveries: (now) => store.dueDeliveries(now, 3) },
    channels: [email],
    clock,
    random: seededRandom(),
    log: memoryLog().log,
    policyOf: () => alone,
    linkTo: () => null,
  });
  outbox.start();
  await clock.advance(2 * minute);
  await outbox.stop();
  expect(email.attempts.map(({ message }) => message.kind)).toEqual(Array(5).fill('late'));
});
