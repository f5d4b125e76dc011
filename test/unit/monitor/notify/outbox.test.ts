import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createOutbox, type Outbox, type OutboxOptions } from '#monitor/notify/outbox.ts';
import type { DeliveryEvent } from '#monitor/notify/delivery-outcomes.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { delivery, shopBack, shopDown } from '../../../support/incidents.ts';
import { MemoryDeliveries } from '../../../support/memory-deliveries.ts';
import { memoryLog } from '../../../support/memory-log.ts';
import { alone, grouped } from '../../../support/policies.ts';
import {
  accepted,
  hang,
  ignoreEverything,
  RecordingChannel,
  refusedForGood,
  refusedForNow,
} from '../../../support/recording-channel.ts';
import { seededRandom } from '../../../support/seeded-random.ts';

const second = 1_000;
const minute = 60 * second;
const day = 24 * 60 * minute;

let clock: FakeClock;
let store: MemoryDeliveries;
let email: RecordingChannel;
let settled: DeliveryEvent[];
let logged: ReturnType<typeof memoryLog>;
let outbox: Outbox;

function open(changes: Partial<OutboxOptions> = {}): Outbox {
  return createOutbox({
    store,
    channels: [email],
    clock,
    random: seededRandom(),
    log: logged.log,
    policyOf: () => alone,
    linkTo: () => null,
    onSettled: (one) => void settled.push(one),
    ...changes,
  });
}

beforeEach(() => {
  clock = new FakeClock('2026-01-01T12:01:30Z');
  store = new MemoryDeliveries();
  email = new RecordingChannel();
  settled = [];
  logged = memoryLog();
  outbox = open();
});

afterEach(async () => {
  await outbox.stop();
  expect(clock.pending).toBe(0);
});

const opened = delivery();
const resolved = delivery({ id: 2, kind: 'resolved', createdAt: Date.parse('2026-01-01T12:09:42Z') });

/** `count` incidents of their own, one delivery each, to the recipient. */
function addIncidents(count: number, recipient: string, firstId: number): void {
  for (let id = firstId; id < firstId + count; id += 1) {
    const incident = { ...shopDown, id: `t${id}/down/1`, target: `t${id}` };
    store.add(incident, delivery({ id, incidentId: incident.id, recipient, createdAt: shopDown.openedAt + id }));
  }
}

describe('the outbox', () => {
  test('sends what becomes due while the store is read as soon as it is asked again', async () => {
    outbox.start();
    await clock.advance(second);
    const dueAt = clock.now() + 5;
    store.add(shopDown, delivery({ createdAt: dueAt, nextAttemptAt: dueAt }));
    const read = store.dueDeliveries.bind(store);
    store.dueDeliveries = (...asked) => {
      const rows = read(...asked);
      clock.hold(20);
      return rows;
    };
    outbox.wake();
    await clock.advance(200);
    expect(email.subjects).toHaveLength(1);
  });

  test('sends a group that becomes due while it is looked for as soon as it is looked for again', async () => {
    outbox = open({
      policyOf: () => {
        clock.hold(1);
        return grouped;
      },
    });
    outbox.start();
    const readyAt = clock.now() + 30 * second;
    store.add(shopDown, delivery({ createdAt: clock.now(), nextAttemptAt: clock.now() }));
    await clock.advance(readyAt - 2 - clock.now());
    outbox.wake();
    await clock.advance(200);
    expect(email.subjects).toHaveLength(1);
  });

  test('reads the store a few times only if a hundred rounds of a large outage wake it, and at the latest after two seconds', async () => {
    const read = store.dueDeliveries.bind(store);
    store.dueDeliveries = (...asked) => {
      clock.hold(500);
      return read(...asked);
    };
    outbox.start();
    const before = store.reads;
    for (let round = 0; round < 100; round += 1) {
      addIncidents(1, 'ops@example.com', round + 1);
      outbox.wake();
    }
    expect(store.reads).toBe(before);
    await clock.advance(1_999);
    expect(store.reads).toBe(before);
    await clock.advance(1);
    expect(store.reads).toBeGreaterThan(before);
    expect(email.subjects).toHaveLength(100);
    expect(store.reads).toBeLessThan(before + 5);
  });

  test('sends a hundred messages of their own to one recipient without reading all of them after each', async () => {
    addIncidents(100, 'ops@example.com', 1);
    outbox.start();
    await clock.advance(0);
    expect(email.subjects).toHaveLength(100);
    expect(store.reads).toBeLessThan(4);
  });

  test('goes on to remind of an incident whose cause has changed', async () => {
    outbox = open({ policyOf: () => ({ ...alone, remindMs: [60 * minute] }) });
    store.add(shopDown, opened);
    outbox.start();
    await clock.advance(10 * minute);
    const now = clock.now();
    store.add(shopDown, delivery({ id: store.freeId(), kind: 'update', createdAt: now, nextAttemptAt: now }));
    outbox.wake();
    await clock.advance(2 * 60 * minute);
    expect(email.attempts.map(({ message }) => message.kind)).toEqual(['opened', 'update', 'reminder', 'reminder']);
  });

  test('goes on to remind of an incident after a reminder was refused for good', async () => {
    outbox = open({ policyOf: () => ({ ...alone, remindMs: [60 * minute] }) });
    store.add(shopDown, opened);
    outbox.start();
    await clock.advance(minute);
    email.answer = () => refusedForGood;
    await clock.advance(60 * minute);
    email.answer = () => accepted;
    await clock.advance(2 * 60 * minute);
    expect(email.attempts.map(({ message }) => message.kind)).toEqual(['opened', 'reminder', 'reminder', 'reminder']);
    expect(logged.lines.filter(({ msg }) => msg?.startsWith('given up'))).toHaveLength(1);
  });

  test('does not take us for cut off because one recipient never answers, also after a restart', async () => {
    const push = new RecordingChannel('push');
    push.answer = () => ({ kind: 'retry', reason: 'ops has no device' });
    outbox = open({ channels: [email, push] });
    store.add(shopDown, opened, delivery({ id: 2, channel: 'push', recipient: 'ops' }));
    outbox.start();
    await clock.advance(60 * minute);
    expect(push.attempts.length).toBeGreaterThan(5);
    expect(outbox.isCutOff(5 * minute)).toBe(false);
    await outbox.stop();
    const { channel, recipient } = opened;
    const at = clock.now() - 60 * minute;
    store.sent = [{ channel, recipient, kind: 'opened', severity: 'critical', at }];
    outbox = open({ channels: [email, push] });
    outbox.start();
    await clock.advance(10 * minute);
    expect(outbox.isCutOff(5 * minute)).toBe(false);
  });

  test('sends what is pending at its start and what is committed before a wake-up', async () => {
    store.add(shopDown, opened);
    outbox.start();
    await clock.advance(0);
    expect(email.subjects).toEqual(['[DOWN] shop: connection refused (3 of 4 nodes)']);
    store.add(shopBack, { ...resolved, nextAttemptAt: clock.now() });
    outbox.wake();
    await clock.advance(0);
    expect(email.subjects[1]).toBe('[RESOLVED] shop: up again after 8m 12s');
    expect([...store.states.values()]).toEqual(['sent', 'sent']);
    expect(settled.map(({ outcome }) => outcome)).toEqual(['sent', 'sent']);
  });

  test('notices a delivery within a minute that nobody woke it for', async () => {
    outbox.start();
    await clock.advance(0);
    store.add(shopDown, { ...opened, nextAttemptAt: clock.now() });
    await clock.advance(minute);
    expect(store.states.get(1)).toBe('sent');
  });

  test('tells the whole story in one mail after a mail server was away for longer than the incident', async () => {
    email.answer = () => refusedForNow;
    store.add(shopDown, opened);
    outbox.start();
    await clock.advance(8 * minute);
    store.add(shopBack, resolved);
    outbox.wake();
    await clock.advance(day);
    const before = email.attempts.length;
    email.answer = () => accepted;
    await clock.advance(20 * minute);
    expect(email.attempts).toHaveLength(before + 1);
    const last = email.attempts.at(-1)?.message;
    expect(last?.content.subject).toBe(
      '[RESOLVED] shop: was down 2026-01-01 12:01 to 12:09 UTC; this mail was delayed',
    );
    expect(last?.content.remarks).toContain('The last attempt failed: 451 try again');
    expect(Object.fromEntries(store.states)).toEqual({ 1: 'sent', 2: 'merged' });
    expect(settled.slice(-2).map(({ outcome }) => outcome)).toEqual(['sent', 'merged']);
    expect(settled.at(-2)?.delayMs).toBeGreaterThan(day);
  });

  test('tries at once when the incident ends while its beginning waits for its next attempt', async () => {
    email.answer = () => refusedForNow;
    store.add(shopDown, { ...opened, attempts: 20 });
    outbox.start();
    await clock.advance(0);
    email.answer = () => accepted;
    store.add(shopBack, { ...resolved, nextAttemptAt: clock.now() });
    outbox.wake();
    await clock.advance(0);
    expect(Object.fromEntries(store.states)).toEqual({ 1: 'sent', 2: 'merged' });
  });

  test('sends the end after the beginning where the incident ends while the beginning is on its way', async () => {
    const { promise, resolve } = Promise.withResolvers<typeof accepted>();
    email.answer = async () => promise;
    store.add(shopDown, opened);
    outbox.start();
    await clock.advance(0);
    store.add(shopBack, { ...resolved, nextAttemptAt: clock.now() });
    outbox.wake();
    await clock.advance(second);
    expect(email.attempts).toHaveLength(1);
    resolve(accepted);
    await clock.advance(0);
    expect(email.attempts.map(({ message }) => message.kind)).toEqual(['opened', 'resolved']);
    expect(email.attempts[1]?.message.references).toEqual([email.attempts[0]?.message.id]);
  });

  test('sends that end at once even while mails to somebody else queue up', async () => {
    const { promise, resolve } = Promise.withResolvers<typeof accepted>();
    email.answer = async (attempt) => (attempt.recipient === 'hanging@example.com' ? hang(attempt) : promise);
    addIncidents(3, 'hanging@example.com', 10);
    store.add(shopDown, opened);
    await clock.advance(second);
    outbox.start();
    await clock.advance(0);
    store.add(shopBack, { ...resolved, nextAttemptAt: clock.now() });
    outbox.wake();
    resolve(accepted);
    await clock.advance(0);
    expect(Object.fromEntries(store.states)).toMatchObject({ 1: 'sent', 2: 'sent', 10: 'pending' });
  });

  test('tries again with growing, spread waits, and with the same message id', async () => {
    const times: number[] = [];
    email.answer = () => {
      times.push(clock.now());
      return refusedForNow;
    };
    store.add({ ...shopDown, severity: 'warning' }, opened);
    outbox.start();
    await clock.advance(2 * 60 * minute);
    const waits = times.slice(1).map((time, index) => (time - (times[index] ?? 0)) / second);
    const expected = [10, 20, 40, 80, 160, 320, 640, 900, 900];
    expect(waits.length).toBeGreaterThan(9);
    for (const [index, base] of expected.entries()) {
      expect(waits[index]).toBeGreaterThanOrEqual(base * 0.8);
      expect(waits[index]).toBeLessThanOrEqual(base * 1.2 + 0.1);
    }
    expect(new Set(waits.map((wait) => Math.round(wait * 1_000))).size).toBe(waits.length);
    expect(new Set(email.attempts.map(({ message }) => message.id)).size).toBe(1);
    expect(store.get(1)).toMatchObject({ attempts: times.length, lastError: '451 try again' });
  });

  test('waits as long as the channel asks', async () => {
    email.answer = () => ({ kind: 'retry', reason: '429', afterMs: 5 * minute });
    store.add({ ...shopDown, severity: 'warning' }, opened);
    outbox.start();
    await clock.advance(5 * minute - 1);
    expect(email.attempts).toHaveLength(1);
    await clock.advance(second);
    expect(email.attempts).toHaveLength(2);
  });

  test('while something critical waits, a server is tried each minute at the least, whatever it asks', async () => {
    email.answer = () => ({ kind: 'retry', reason: '451 later', afterMs: 3_600_000 });
    store.add(shopDown, opened);
    outbox.start();
    await clock.advance(30 * minute);
    expect(email.attempts.length).toBeGreaterThanOrEqual(30);
  });

  test('one mail that gets through after an outage of the server wakes all that wait on it', async () => {
    email.answer = () => refusedForNow;
    for (let id = 1; id <= 5; id += 1) {
      const recipient = `r${id}@example.com`;
      const incident = { ...shopDown, id: `t${id}/down/1`, target: `t${id}`, severity: 'warning' } as const;
      store.add(incident, { ...opened, id, incidentId: incident.id, recipient });
    }
    outbox.start();
    await clock.advance(60 * minute);
    email.answer = () => accepted;
    const critical = { ...shopDown, id: 'c/down/1', target: 'c' };
    store.add(critical, {
      ...opened,
      id: 9,
      incidentId: critical.id,
      createdAt: clock.now(),
      nextAttemptAt: clock.now(),
    });
    outbox.wake();
    await clock.advance(minute);
    expect([...store.states.values()]).toEqual(Array(6).fill('sent'));
  });

  describe('does not call a server before the time that it asked for', () => {
    const askedMs = 10 * minute;
    let calls: number[];
    let begun: number;

    /** A warning that began now, for a recipient. */
    function addNew(id: number, recipient: string, severity: 'critical' | 'warning' = 'warning'): void {
      const incident = { ...shopDown, id: `n${id}/down/1`, target: `n${id}`, severity } as const;
      const times = { createdAt: clock.now(), nextAttemptAt: clock.now() };
      store.add(incident, delivery({ id, incidentId: incident.id, recipient, ...times }));
      outbox.wake();
    }

    beforeEach(async () => {
      calls = [];
      begun = clock.elapsed();
      email.answer = ({ recipient }) => {
        if (recipient !== 'busy@example.com') return accepted;
        calls.push(clock.elapsed() - begun);
        return calls.length === 1 ? { kind: 'retry', reason: '429', afterMs: askedMs } : accepted;
      };
      outbox.start();
      addNew(1, 'busy@example.com');
      await clock.advance(minute);
      expect(calls).toEqual([0]);
    });

    test('also if the channel accepts a message for another recipient', async () => {
      addNew(2, 'fine@example.com');
      await clock.advance(9 * minute - 1);
      expect(store.states.get(2)).toBe('sent');
      expect(calls).toEqual([0]);
      await clock.advance(second);
      expect(calls).toHaveLength(2);
      expect(store.states.get(1)).toBe('sent');
    });

    test('also for the next message to it', async () => {
      addNew(2, 'busy@example.com');
      await clock.advance(9 * minute - 1);
      expect(calls).toEqual([0]);
      await clock.advance(second);
      expect([store.states.get(1), store.states.get(2)]).toEqual(['sent', 'sent']);
    });

    test('also if the clock is set back', async () => {
      clock.step(-day);
      outbox.wake();
      await clock.advance(9 * minute - 1);
      expect(calls).toEqual([0]);
      await clock.advance(second);
      expect(calls).toHaveLength(2);
    });

    test('but as soon as that is over by the wall clock, if the machine slept', async () => {
      clock.step(9 * minute);
      outbox.wake();
      await clock.advance(second);
      expect(calls).toHaveLength(2);
    });

    test('but for something critical, a minute after it asked at the latest', async () => {
      addNew(2, 'busy@example.com', 'critical');
      await clock.advance(second);
      expect(store.states.get(2)).toBe('sent');
    });

    test('but at once for what an operator retries', async () => {
      store.retry(1, clock.now());
      outbox.wake();
      await clock.advance(second);
      expect(calls).toHaveLength(2);
    });

    test('but at once if it is another server by now', async () => {
      addNew(2, 'busy@example.com');
      await clock.advance(second);
      expect(calls).toHaveLength(1);
      outbox.readdressed([{ channel: 'email', recipient: 'busy@example.com' }]);
      await clock.advance(second);
      expect([store.states.get(1), store.states.get(2)]).toEqual(['sent', 'sent']);
    });
  });

  test('news of an open incident that is refused for good is tried again, ever more slowly, and others hear who was not told', async () => {
    email.answer = ({ recipient }) => (recipient === 'full@example.com' ? refusedForGood : accepted);
    store.add(shopDown, { ...opened, recipient: 'full@example.com' }, { ...opened, id: 2 });
    const now = clock.now();
    outbox.start();
    await clock.advance(day);
    const refused = email.attempts.filter(({ recipient }) => recipient === 'full@example.com');
    expect(refused.length).toBeGreaterThanOrEqual(9);
    expect(refused.length).toBeLessThanOrEqual(13);
    const others = store.outcomes.flatMap((one) => (one.state === 'pending' ? [one.notifyOthersAt ?? null] : []));
    expect(others).toEqual([now, ...Array<null>(refused.length - 1).fill(null)]);
    email.answer = () => accepted;
    await clock.advance(8 * 60 * minute);
    expect(store.states.get(1)).toBe('sent');
  });

  test('has others hear who was not told also if a recipient that refuses for good could not be reached at first', async () => {
    store.add(shopDown, opened);
    email.answer = () => refusedForNow;
    outbox.start();
    await clock.advance(minute);
    email.answer = () => ({ kind: 'rejected', reason: `550 no such user ${clock.now()}` });
    await clock.advance(60 * minute);
    const told = store.outcomes.filter((one) => one.state === 'pending' && (one.notifyOthersAt ?? null) !== null);
    expect(told).toHaveLength(1);
    await outbox.stop();
    outbox = open();
    email.answer = () => ({ kind: 'rejected', reason: store.get(1).lastError ?? '' });
    outbox.start();
    await clock.advance(60 * minute);
    const again = store.outcomes.filter((one) => one.state === 'pending' && (one.notifyOthersAt ?? null) !== null);
    expect(again).toHaveLength(1);
  });

  test('gives up what is refused for good about an incident that is over, and says so as an error', async () => {
    email.answer = () => refusedForGood;
    store.add({ ...shopDown, endedAt: clock.now() }, opened);
    outbox.start();
    await clock.advance(day);
    expect(email.attempts).toHaveLength(1);
    expect(store.outcomes).toEqual([expect.objectContaining({ id: 1, state: 'dead', error: '550 no such user' })]);
    expect(logged.errors()).toEqual(['given up: 550 no such user']);
    expect(settled).toEqual([{ channel: 'email', outcome: 'dead', delayMs: 0 }]);
  });

  test('knows for how long nobody could be told, whatever the reason; a full mailbox beside others who were told is not that', async () => {
    email.answer = () => refusedForGood;
    store.add({ ...shopDown, endedAt: clock.now() }, opened);
    outbox.start();
    await clock.advance(day);
    expect(outbox.refusedMs()).toBe(day);
    email.answer = ({ recipient }) => (recipient === 'full@example.com' ? refusedForGood : accepted);
    const other = { ...shopDown, id: 'blog/down/2', target: 'blog' };
    const times = { incidentId: other.id, createdAt: clock.now(), nextAttemptAt: clock.now() };
    store.add(other, { ...opened, ...times, id: 2 }, { ...opened, ...times, id: 3, recipient: 'full@example.com' });
    outbox.wake();
    await clock.advance(day);
    expect(outbox.refusedMs()).toBe(0);
  });

  test('a server that is away for an hour is one line in the log, one for each other reason, and one when it is back', async () => {
    email.answer = () => refusedForNow;
    addIncidents(30, 'ops@example.com', 1);
    outbox.start();
    await clock.advance(40 * minute);
    email.answer = () => ({ kind: 'retry', reason: '421 closing' });
    await clock.advance(40 * minute);
    email.answer = () => accepted;
    await clock.advance(60 * minute);
    const about = logged.lines.filter(({ msg }) => msg.startsWith('messages are'));
    expect(about.map(({ msg, reason }) => [msg, reason])).toEqual([
      ['messages are rejected', '451 try again'],
      ['messages are rejected', '421 closing'],
      ['messages are accepted again', undefined],
    ]);
  });

  test('gives up what could not be delivered for a week', async () => {
    email.answer = () => refusedForNow;
    store.add(shopDown, opened);
    outbox.start();
    await clock.advance(7 * day - minute);
    expect(store.states.get(1)).toBe('pending');
    await clock.advance(20 * minute);
    expect(store.states.get(1)).toBe('dead');
  });

  test('gives up a delivery through a channel that is not configured any more', async () => {
    store.add(shopDown, delivery({ channel: 'pager' }));
    outbox.start();
    await clock.advance(0);
    expect(store.outcomes[0]).toMatchObject({ state: 'dead', error: 'no channel "pager" is configured' });
  });
});

describe('a channel that hangs', () => {
  test('is told to stop after a minute, and the delivery is tried again', async () => {
    email.answer = hang;
    store.add(shopDown, opened);
    outbox.start();
    await clock.advance(minute - 1);
    expect(email.attempts[0]?.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(email.attempts[0]?.signal.aborted).toBe(true);
    expect(store.outcomes[0]).toMatchObject({ state: 'pending' });
    await clock.advance(20 * second);
    expect(email.attempts).toHaveLength(2);
  });

  test('is left behind where it does not stop either', async () => {
    email.answer = ignoreEverything;
    store.add(shopDown, opened);
    outbox.start();
    await clock.advance(minute + 5 * second);
    expect(store.outcomes[0]).toMatchObject({ state: 'pending' });
    expect(logged.errors()).toEqual(['the channel email failed']);
  });

  test('does not hold up another channel', async () => {
    const pager = new RecordingChannel('pager');
    await outbox.stop();
    outbox = open({ channels: [email, pager] });
    email.answer = hang;
    addIncidents(20, 'a@example.com', 1);
    addIncidents(20, 'b@example.com', 21);
    store.add(shopDown, delivery({ id: 99, channel: 'pager', createdAt: shopDown.openedAt + 1_000 }));
    outbox.start();
    await clock.advance(0);
    expect(pager.attempts).toHaveLength(1);
  });

  test('for one recipient does not hold up another one, however much waits for the first', async () => {
    email.answer = (attempt) => (attempt.recipient === 'hanging@example.com' ? hang(attempt) : accepted);
    addIncidents(50, 'hanging@example.com', 1);
    addIncidents(3, 'fine@example.com', 100);
    outbox.start();
    await clock.advance(0);
    expect(email.recipients).toEqual(['hanging@example.com', ...Array<string>(3).fill('fine@example.com')]);
  });

  test('for as many recipients as may be on their way holds up another one for seconds, and then not at all', async () => {
    email.answer = (attempt) => (attempt.recipient === 'fine@example.com' ? accepted : hang(attempt));
    for (const [index, name] of ['a', 'b', 'c', 'd'].entries()) addIncidents(10, `${name}@example.com`, index * 10 + 1);
    addIncidents(1, 'fine@example.com', 100);
    outbox.start();
    await clock.advance(0);
    expect(email.recipients).toEqual(['a@example.com', 'b@example.com', 'c@example.com', 'd@example.com']);
    await clock.advance(5 * second);
    expect(store.states.get(100)).toBe('sent');
    await clock.advance(20 * minute);
    addIncidents(1, 'fine@example.com', 101);
    outbox.wake();
    await clock.advance(0);
    expect(store.states.get(101)).toBe('sent');
  });

  test('leaves a delivery that falls due meanwhile on time', async () => {
    email.answer = (attempt) => (attempt.recipient === 'hanging@example.com' ? hang(attempt) : accepted);
    outbox.start();
    await clock.advance(0);
    addIncidents(1, 'hanging@example.com', 1);
    const incident = { ...shopDown, id: 'x' };
    store.add(incident, delivery({ id: 2, incidentId: 'x', nextAttemptAt: clock.now() + 20 * second }));
    outbox.wake();
    await clock.advance(26 * second);
    expect(store.states.get(2)).toBe('sent');
  });
});

test('one recipient gets messages one after the other, in the order of their decisions', async () => {
  addIncidents(30, 'ops@example.com', 1);
  let onTheirWay = 0;
  email.answer = async () => {
    onTheirWay += 1;
    expect(onTheirWay).toBe(1);
    await Promise.resolve();
    onTheirWay -= 1;
    return accepted;
  };
  outbox.start();
  await clock.advance(second);
  const targets = email.attempts.map(({ message }) => message.incidents[0]?.target);
  expect(targets).toEqual(Array.from({ length: 30 }, (_, index) => `t${index + 1}`));
});

describe('trouble of our own', () => {
  test('a outcome that cannot be stored is stored later, and the mail is not repeated', async () => {
    store.add(shopDown, opened);
    store.writeError = new Error('disk full');
    outbox.start();
    await clock.advance(minute);
    expect(email.attempts).toHaveLength(1);
    expect(store.states.get(1)).toBe('pending');
    expect(logged.errors()).toContainEqual(expect.stringMatching(/cannot store a delivery outcome/));
    store.writeError = null;
    await clock.advance(10 * second);
    expect(store.states.get(1)).toBe('sent');
    expect(email.attempts).toHaveLength(1);
  });

  test('a message that was sent but not settled before a crash is repeated with the same id', async () => {
    store.add(shopDown, opened);
    store.writeError = new Error('disk full');
    outbox.start();
    await clock.advance(0);
    await outbox.stop();
    store.writeError = null;
    outbox = open();
    outbox.start();
    await clock.advance(0);
    expect(email.attempts).toHaveLength(2);
    expect(email.attempts[0]?.message.id).toBe(email.attempts[1]?.message.id);
  });

  test('other mails still go out while the store takes no outcomes, each once', async () => {
    addIncidents(3, 'ops@example.com', 1);
    store.writeError = new Error('disk full');
    outbox.start();
    await clock.advance(minute);
    expect(email.attempts).toHaveLength(3);
  });

  test('a retry that cannot be stored is made nevertheless', async () => {
    store.add(shopDown, opened);
    store.writeError = new Error('disk full');
    email.answer = () => refusedForNow;
    outbox.start();
    await clock.advance(0);
    email.answer = () => accepted;
    await clock.advance(20 * second);
    expect(email.attempts).toHaveLength(2);
    store.writeError = null;
    await clock.advance(20 * second);
    expect(store.states.get(1)).toBe('sent');
    expect(email.attempts).toHaveLength(2);
  });

  test('a store that cannot be read is asked again', async () => {
    store.add(shopDown, opened);
    store.readError = new Error('database is locked');
    outbox.start();
    await clock.advance(second);
    store.readError = null;
    await clock.advance(5 * second);
    expect(store.states.get(1)).toBe('sent');
  });

  test('a channel that throws is tried again later', async () => {
    email.answer = () => {
      throw new TypeError('undefined is not a function');
    };
    store.add(shopDown, opened);
    outbox.start();
    await clock.advance(0);
    expect(store.outcomes[0]).toMatchObject({ state: 'pending', error: 'undefined is not a function' });
  });

  test('a message that cannot be composed is tried again later, and the others go out', async () => {
    store.add({ ...shopDown, startedAt: Number.NaN }, opened);
    addIncidents(1, 'ops@example.com', 2);
    outbox.start();
    await clock.advance(0);
    expect(store.outcomes).toEqual([
      expect.objectContaining({ id: 1, state: 'pending' }),
      expect.objectContaining({ id: 2, state: 'sent' }),
    ]);
  });

  test('a metric that throws changes nothing', async () => {
    await outbox.stop();
    outbox = open({
      onSettled() {
        throw new Error('no such label');
      },
    });
    store.add(shopDown, opened);
    outbox.start();
    await clock.advance(minute);
    expect(email.attempts).toHaveLength(1);
    expect(store.states.get(1)).toBe('sent');
  });
});

describe('a wall clock that is set', () => {
  test('back by a day does not delay a retry', async () => {
    email.answer = () => refusedForNow;
    store.add(shopDown, opened);
    outbox.start();
    await clock.advance(5 * minute);
    clock.step(-day);
    email.answer = () => accepted;
    await clock.advance(2 * minute);
    expect(store.states.get(1)).toBe('sent');
  });

  test('back by a day while the program was not running does not delay a retry', async () => {
    store.add(shopDown, { ...opened, attempts: 9, nextAttemptAt: clock.now() + day });
    outbox.start();
    await clock.advance(0);
    expect(store.states.get(1)).toBe('sent');
  });

  test('ahead by years gives nothing up', async () => {
    email.answer = () => refusedForNow;
    store.add(shopDown, opened);
    outbox.start();
    await clock.advance(0);
    clock.step(50 * 365 * day);
    await clock.advance(minute);
    expect(store.states.get(1)).toBe('pending');
    expect(email.attempts.length).toBeGreaterThan(1);
  });
});

describe('the end', () => {
  test('drain resolves when everything due was tried once', async () => {
    outbox.start();
    await clock.advance(second);
    addIncidents(3, 'ops@example.com', 1);
    store.add(shopDown, delivery({ id: 9, recipient: 'b@example.com' }));
    email.answer = ({ recipient }) => (recipient === 'b@example.com' ? refusedForNow : accepted);
    await outbox.drain(AbortSignal.timeout(50_000));
    expect(email.attempts).toHaveLength(4);
    expect(store.states.get(9)).toBe('pending');
  });

  test('drain resolves when its signal is aborted', async () => {
    email.answer = hang;
    store.add(shopDown, opened);
    outbox.start();
    const controller = new AbortController();
    const drained = outbox.drain(controller.signal);
    await clock.advance(0);
    controller.abort();
    await drained;
    expect(store.outcomes).toEqual([]);
  });

  test('drain resolves at once where nothing runs', async () => {
    await outbox.drain(AbortSignal.timeout(50_000));
    await outbox.stop();
    await outbox.drain(AbortSignal.timeout(50_000));
  });

  test('stop aborts what is on its way and leaves it pending, due as before', async () => {
    email.answer = hang;
    store.add(shopDown, opened);
    outbox.start();
    await clock.advance(0);
    await outbox.stop();
    expect(email.attempts[0]?.signal.aborted).toBe(true);
    expect(store.outcomes).toEqual([]);
  });

  test('stop still settles what was accepted meanwhile', async () => {
    const { promise, resolve } = Promise.withResolvers<typeof accepted>();
    email.answer = async () => promise;
    store.add(shopDown, opened);
    outbox.start();
    await clock.advance(0);
    const stopped = outbox.stop();
    resolve(accepted);
    await stopped;
    expect(store.states.get(1)).toBe('sent');
  });

  test('nothing is sent after stop, whoever wakes it', async () => {
    outbox.start();
    await outbox.stop();
    store.add(shopDown, opened);
    outbox.wake();
    await clock.advance(day);
    expect(email.attempts).toEqual([]);
  });

  test('stop does not wait for ever for a channel that does not stop', async () => {
    email.answer = ignoreEverything;
    store.add(shopDown, opened);
    outbox.start();
    await clock.advance(0);
    const stopped = outbox.stop();
    await clock.advance(5 * second);
    await stopped;
  });
});
