import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Incident } from '#monitor/judge/incident.ts';
import type { DeliveryReceipt } from '#monitor/notify/channel.ts';
import type { DeliveryPolicy } from '#monitor/notify/delivery-policy.ts';
import { createOutbox, type Outbox } from '#monitor/notify/outbox.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { delivery, shopDown } from '../../../support/incidents.ts';
import { MemoryDeliveries } from '../../../support/memory-deliveries.ts';
import { memoryLog } from '../../../support/memory-log.ts';
import { accepted, hang, RecordingChannel, refusedForGood, refusedForNow } from '../../../support/recording-channel.ts';
import { seededRandom } from '../../../support/seeded-random.ts';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const lost: DeliveryReceipt = { kind: 'retry', reason: 'connection lost', isUncertain: true };

const policy: DeliveryPolicy = {
  grouping: { waitMs: 30 * second, intervalMs: 5 * minute },
  storm: { messages: 20, perMs: hour },
  remindMs: [hour, 4 * hour],
  zone: 'Europe/Berlin',
};

let clock: FakeClock;
let store: MemoryDeliveries;
let email: RecordingChannel;
let outbox: Outbox;
let lastId: number;

function open(changes: Partial<DeliveryPolicy> = {}): Outbox {
  const { log } = memoryLog();
  const policyOf = () => ({ ...policy, ...changes });
  return createOutbox({ store, channels: [email], clock, random: seededRandom(), log, policyOf, linkTo: () => null });
}

beforeEach(() => {
  clock = new FakeClock('2026-01-01T12:01:30Z');
  store = new MemoryDeliveries();
  email = new RecordingChannel();
  outbox = open();
  lastId = 0;
});

afterEach(async () => {
  await outbox.stop();
  expect(clock.pending).toBe(0);
});

function down(target: string): Incident {
  return { ...shopDown, id: `${target}/down/1`, target, startedAt: clock.now() - minute, openedAt: clock.now() };
}

/** Stores a delivery about the incident as it is now, and wakes the outbox as the monitor does. */
function tell(incident: Incident, kind: 'opened' | 'resolved', recipient = 'ops@example.com'): void {
  lastId += 1;
  const createdAt = clock.now();
  store.add(incident, delivery({ id: lastId, incidentId: incident.id, kind, recipient, createdAt }));
  outbox.wake();
}

const over = (incident: Incident): Incident => ({ ...incident, endedAt: clock.now(), closingVotes: [] });

async function restart(changes: Partial<DeliveryPolicy> = {}): Promise<void> {
  await outbox.stop();
  outbox = open(changes);
  outbox.start();
  await clock.advance(0);
}

test('the end of an incident goes before the beginning of the next one of its target', async () => {
  outbox.start();
  const [blog, shop] = [down('blog'), down('shop')];
  for (const incident of [blog, shop]) tell(incident, 'opened');
  await clock.advance(minute);
  tell(over(blog), 'resolved');
  await clock.advance(minute);
  // The next end has to wait for five minutes after that one, but for this.
  tell(over(shop), 'resolved');
  await clock.advance(minute);
  expect(email.attempts.map(({ message }) => message.kind)).toEqual(['opened', 'resolved']);
  tell({ ...down('shop'), id: 'shop/down/2' }, 'opened');
  await clock.advance(minute);
  expect(
    email.attempts.slice(2).map(({ message: { kind, incidents } }) => [kind, incidents.map(({ id }) => id)]),
  ).toEqual([
    ['resolved', ['shop/down/1']],
    ['opened', ['shop/down/2']],
  ]);
});

test('an end that was tried is not tried again before each attempt of a beginning', async () => {
  outbox.start();
  tell(down('shop'), 'opened');
  await clock.advance(minute);
  email.answer = () => refusedForNow;
  tell(over(down('shop')), 'resolved');
  tell({ ...down('shop'), id: 'shop/down/2' }, 'opened');
  await clock.advance(10 * minute);
  const kinds = email.attempts.slice(1).map(({ message }) => message.kind);
  expect(kinds[0]).toBe('resolved');
  const countOf = (wanted: string) => kinds.filter((kind) => kind === wanted).length;
  expect(countOf('opened')).toBeGreaterThan(2 * countOf('resolved'));
});

describe('an incident whose message is refused for good', () => {
  const toldOf = (target: string, kinds: readonly string[]) =>
    email.attempts.some(
      ({ message }) =>
        kinds.includes(message.kind) &&
        message.incidents.some((one) => one.target === target) &&
        message.incidents.every((one) => one.target !== 'spam'),
    );
  const filtered: RecordingChannel['answer'] = ({ message: { incidents } }) =>
    incidents.some(({ target }) => target === 'spam') ? refusedForGood : accepted;

  test('holds up none that begins later', async () => {
    email.answer = filtered;
    outbox.start();
    tell(down('spam'), 'opened');
    await clock.advance(10 * minute);
    tell(down('shop'), 'opened');
    await clock.advance(minute);
    expect(toldOf('shop', ['opened'])).toBe(true);
  });

  test('holds up those that began with it for some minutes only', async () => {
    email.answer = filtered;
    outbox.start();
    for (const target of ['spam', 'shop', 'blog', 'mail']) tell(down(target), 'opened');
    await clock.advance(hour);
    expect(['shop', 'blog', 'mail'].filter((target) => !toldOf(target, ['opened']))).toEqual([]);
  });

  test.each([
    { count: 1, refusals: 1, differentIds: 1 },
    { count: 1, refusals: 3, differentIds: 1 },
    { count: 2, refusals: 1, differentIds: 1 },
    { count: 2, refusals: 2, differentIds: 3 },
  ])(
    'keeps its id while it may have arrived: $count incidents, $refusals refusals',
    async ({ count, refusals, differentIds }) => {
      let asked = 0;
      email.answer = () => {
        asked += 1;
        if (asked === 1) return lost;
        return asked <= refusals + 1 ? refusedForGood : accepted;
      };
      outbox.start();
      for (const target of ['shop', 'blog'].slice(0, count)) tell(down(target), 'opened');
      await clock.advance(hour / 2);
      expect(new Set(email.attempts.map(({ message }) => message.id)).size).toBe(differentIds);
      expect([...store.states.values()].slice(0, count)).toEqual(Array.from({ length: count }, () => 'sent'));
    },
  );

  test('takes the end of none with it', async () => {
    outbox.start();
    const open = ['spam', 'shop', 'blog', 'mail'].map(down);
    for (const incident of open) tell(incident, 'opened');
    await clock.advance(10 * minute);
    email.answer = filtered;
    for (const incident of open) tell(over(incident), 'resolved');
    await clock.advance(3 * hour);
    expect(['shop', 'blog', 'mail'].filter((target) => !toldOf(target, ['resolved']))).toEqual([]);
    const left = email.attempts.length;
    await clock.advance(48 * hour);
    expect(email.attempts.length).toBeLessThan(left + 3);
    expect([...store.states.values()].filter((state) => state === 'pending')).toEqual([]);
  });
});

test('two hundred targets that go down and come back are one mail down and one mail up, in one thread', async () => {
  outbox.start();
  const targets = Array.from({ length: 200 }, (_, index) => down(`t${index}`));
  for (const target of targets) {
    tell(target, 'opened');
    await clock.advance(100);
  }
  await clock.advance(10 * minute);
  expect(email.subjects).toEqual(['[DOWN] 200 targets are down: t0, t1, t2, t3, t4 and 195 more']);
  for (const target of targets) {
    tell(over(target), 'resolved');
    await clock.advance(100);
  }
  await clock.advance(10 * minute);
  expect(email.subjects.slice(1)).toEqual(['[RESOLVED] 200 targets are up again: t0, t1, t2, t3, t4 and 195 more']);
  const [first, second] = email.attempts.map(({ message }) => message);
  expect(second?.references).toEqual([first?.id]);
  expect(new Set([...store.states].flatMap(([id, state]) => (id <= 400 ? [state] : [])))).toEqual(new Set(['sent']));
});

test('a lone incident is told half a minute after it was confirmed, in the zone of the recipient', async () => {
  outbox.start();
  tell(down('shop'), 'opened');
  await clock.advance(30 * second - 1);
  expect(email.attempts).toEqual([]);
  await clock.advance(second);
  expect(email.attempts.map(({ message }) => message.content.facts)[0]).toContainEqual([
    'Confirmed',
    '2026-01-01 13:01:30 +01:00',
  ]);
});

test('a mail that answers several mails refers to each', async () => {
  outbox.start();
  const [a, b] = [down('a'), down('b')];
  tell(a, 'opened');
  await clock.advance(minute);
  tell(b, 'opened');
  await clock.advance(6 * minute);
  tell(over(a), 'resolved');
  tell(over(b), 'resolved');
  await clock.advance(minute);
  const ids = email.attempts.map(({ message }) => message.id);
  expect(email.attempts[2]?.message.references).toEqual(ids.slice(0, 2));
});

describe('after a restart', () => {
  test('the interval since the last mail still holds', async () => {
    outbox.start();
    store.sent = [
      {
        channel: 'email',
        recipient: 'ops@example.com',
        kind: 'opened',
        severity: 'warning',
        at: clock.now() - minute,
      },
    ];
    await restart();
    tell({ ...down('a'), severity: 'warning' }, 'opened');
    await clock.advance(3 * minute);
    expect(email.attempts).toEqual([]);
    await clock.advance(2 * minute);
    expect(email.attempts).toHaveLength(1);
  });

  test('a group that was on its way is repeated as it was, and what came meanwhile follows', async () => {
    email.answer = hang;
    outbox.start();
    for (const name of ['a', 'b']) tell(down(name), 'opened');
    await clock.advance(31 * second);
    tell(down('c'), 'opened');
    tell(over(down('a')), 'resolved');
    email.answer = () => accepted;
    await restart();
    expect(email.attempts.map(({ message }) => message.id)).toEqual([
      email.attempts[0]?.message.id,
      email.attempts[0]?.message.id,
    ]);
    expect(email.attempts[1]?.message.incidents.map(({ target }) => target)).toEqual(['a', 'b']);
    await clock.advance(10 * minute);
    expect(email.subjects.slice(2)).toEqual([
      expect.stringMatching(/^\[DOWN\] c: /),
      expect.stringMatching(/^\[RESOLVED\] a: up again/),
    ]);
  });
});

describe('a mail that may have arrived', () => {
  test('is repeated with its id before its incident goes on, even when that is over by then', async () => {
    email.answer = () => lost;
    outbox.start();
    const shop = down('shop');
    tell(shop, 'opened');
    await clock.advance(minute);
    tell(over(shop), 'resolved');
    await clock.advance(10 * minute);
    email.answer = () => accepted;
    await clock.advance(30 * minute);
    const told = email.attempts.map(({ message }) => message);
    expect(new Set(told.slice(0, -1).map(({ id }) => id)).size).toBe(1);
    expect(told.at(-2)?.kind).toBe('opened');
    expect(told.at(-1)).toMatchObject({ kind: 'resolved', references: [told[0]?.id] });
    expect([...store.states.values()]).toEqual(['sent', 'sent']);
  });

  test('is repeated with its id even where a repeat is known not to have arrived', async () => {
    const answers = [lost, refusedForNow, refusedForNow];
    email.answer = () => answers.shift() ?? accepted;
    outbox.start();
    const shop = down('shop');
    tell(shop, 'opened');
    await clock.advance(minute);
    tell(over(shop), 'resolved');
    await clock.advance(30 * minute);
    const told = email.attempts.map(({ message }) => message);
    expect(told.map(({ kind }) => kind)).toEqual(['opened', 'opened', 'opened', 'opened', 'resolved']);
    expect(new Set(told.slice(0, 4).map(({ id }) => id)).size).toBe(1);
  });

  test('is no obstacle where it is known not to have arrived: one mail tells the whole story', async () => {
    email.answer = () => refusedForNow;
    outbox.start();
    const shop = down('shop');
    tell(shop, 'opened');
    await clock.advance(minute);
    tell(over(shop), 'resolved');
    email.answer = () => accepted;
    await clock.advance(30 * minute);
    expect(email.attempts.at(-1)?.message.kind).toBe('late');
    expect([...store.states.values()]).toEqual(['sent', 'merged']);
  });
});

describe('reminders', () => {
  test('come at growing intervals while an incident is open, in its thread, and end with it', async () => {
    outbox.start();
    const shop = down('shop');
    const times: number[] = [];
    const began = clock.now();
    email.answer = () => {
      times.push(Math.round((clock.now() - began) / minute));
      return accepted;
    };
    tell(shop, 'opened');
    await clock.advance(10 * hour);
    expect(times).toEqual([1, 61, 302, 542]);
    expect(email.attempts.map(({ message }) => message.kind)).toEqual(['opened', 'reminder', 'reminder', 'reminder']);
    const [root, ...reminders] = email.attempts.map(({ message }) => message);
    for (const reminder of reminders) expect(reminder.references).toEqual([root?.id]);
    expect(new Set(reminders.map(({ id }) => id)).size).toBe(3);
    tell(over(shop), 'resolved');
    await clock.advance(48 * hour);
    expect(email.attempts.at(-1)?.message.kind).toBe('resolved');
    expect(email.attempts).toHaveLength(5);
    expect([...store.states.values()].filter((state) => state === 'pending')).toEqual([]);
  });

  test('survive a restart, and none comes early or twice', async () => {
    outbox.start();
    tell(down('shop'), 'opened');
    await clock.advance(30 * minute);
    await restart();
    await clock.advance(20 * minute);
    await restart();
    expect(email.attempts).toHaveLength(1);
    await clock.advance(20 * minute);
    await restart();
    await clock.advance(hour);
    expect(email.attempts.map(({ message }) => message.kind)).toEqual(['opened', 'reminder']);
  });

  test('of several incidents share a mail', async () => {
    outbox.start();
    for (const name of ['a', 'b', 'c']) tell(down(name), 'opened');
    await clock.advance(2 * hour);
    expect(email.subjects[1]).toBe('[DOWN] 3 targets are still down: a, b, c');
  });

  test('do not come where none are wanted', async () => {
    await outbox.stop();
    outbox = open({ remindMs: [] });
    outbox.start();
    tell(down('shop'), 'opened');
    await clock.advance(48 * hour);
    expect(email.attempts).toHaveLength(1);
  });
});

test('a storm is at most as many mails as are wanted, and the rest comes in digests with their counts', async () => {
  await outbox.stop();
  outbox = open({ grouping: null, storm: { messages: 6, perMs: hour }, remindMs: [] });
  outbox.start();
  const times: number[] = [];
  email.answer = () => {
    times.push(clock.now());
    return accepted;
  };
  for (let index = 0; index < 100; index += 1) {
    tell({ ...down(`t${index}`), severity: 'warning' }, 'opened');
    await clock.advance(minute);
  }
  await clock.advance(2 * hour);
  expect([...store.states.values()].every((state) => state === 'sent')).toBe(true);
  for (const time of times)
    expect(times.filter((other) => other >= time && other < time + hour).length).toBeLessThanOrEqual(6);
  expect(email.subjects.slice(0, 3)).toEqual(
    ['t0', 't1', 't2'].map((name) => expect.stringContaining(`[DOWN] ${name}: `)),
  );
  const sizes = email.attempts.map(({ message }) => message.incidents.length);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(100);
  expect(email.subjects[3]).toMatch(/^\[DOWN\] \d+ targets are down: t3, t4/);
});

test('recipients have their own groups', async () => {
  outbox.start();
  tell(down('a'), 'opened', 'ops@example.com');
  tell(down('b'), 'opened', 'boss@example.com');
  await clock.advance(minute);
  expect(email.attempts.map(({ message, recipient }) => [recipient, message.incidents.length])).toEqual([
    ['ops@example.com', 1],
    ['boss@example.com', 1],
  ]);
});
