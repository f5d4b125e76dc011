import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Store } from '#store/sqlite.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { closing, delivery, incident, openAt, opening, round, start, tempFolder } from '../support/store.ts';

const hour = 3_600_000;

async function withStore(action: (store: Store, clock: FakeClock, reopen: () => Promise<Store>) => Promise<void>) {
  using folder = tempFolder();
  const clock = new FakeClock(new Date(start).toISOString());
  const path = join(folder.path, 'watchpost.db');
  let store = openAt(path, clock);
  try {
    await action(store, clock, async () => {
      await store.close();
      store = openAt(path, clock);
      return store;
    });
  } finally {
    await store.close();
  }
}

const sent = (id: number, more: { readonly message?: string; readonly remindAt?: number } = {}) => ({
  id,
  state: 'sent' as const,
  at: start,
  message: more.message ?? 'm1',
  remindAt: more.remindAt ?? null,
});

describe('somebody who cannot be told', () => {
  const both = ['ops@example.com', 'full@example.com'];

  test('is known to the others with the reason, and they are reminded at once', () =>
    withStore(async (store) => {
      await store.record(opening('shop', start, both));
      const due = store.dueDeliveries(start, 10);
      const idOf = (recipient: string) => due.find((row) => row.delivery.recipient === recipient)?.delivery.id ?? 0;
      expect(due.map(({ unreached, isKnownToOthers }) => [unreached, isKnownToOthers])).toEqual([
        [[], false],
        [[], false],
      ]);
      const soon = start + hour;
      store.storeOutcomes([{ ...sent(idOf('ops@example.com')), remindAt: soon }]);
      const refused = { state: 'pending', nextAttemptAt: soon, error: '552 mailbox full', message: null } as const;
      store.storeOutcomes([{ id: idOf('full@example.com'), ...refused, notifyOthersAt: start + 1 }]);
      const told = store.dueDeliveries(start + 1, 10);
      expect(told.map(({ delivery: { kind, recipient, number } }) => [kind, recipient, number])).toEqual([
        ['reminder', 'ops@example.com', 1],
      ]);
      expect(told[0]?.unreached).toEqual([
        { channel: 'email', recipient: 'full@example.com', reason: '552 mailbox full' },
      ]);
      const late = store.dueDeliveries(soon, 10).find((row) => row.delivery.recipient === 'full@example.com');
      expect(late).toMatchObject({ isKnownToOthers: true, unreached: [] });
    }));

  test('has others reminded once more where no reminder waits', () =>
    withStore(async (store) => {
      await store.record(opening('shop', start, both));
      const ids = store.dueDeliveries(start, 10).map(({ delivery }) => delivery);
      const [ops, full] = both.map((name) => ids.find(({ recipient }) => recipient === name)?.id ?? 0);
      store.storeOutcomes([sent(ops ?? 0)]);
      const refused = { state: 'pending', nextAttemptAt: start + hour, error: '550', message: null } as const;
      store.storeOutcomes([{ id: full ?? 0, ...refused, notifyOthersAt: start + 1 }]);
      const reminders = store.dueDeliveries(start + 1, 10).filter(({ delivery }) => delivery.kind === 'reminder');
      expect(reminders.map(({ delivery }) => delivery.recipient)).toEqual(['ops@example.com']);
    }));
});

test('a reminder that is given up is followed by the next one, unless the incident is over', () =>
  withStore(async (store, clock) => {
    await store.record(opening('shop', start));
    const [due] = store.dueDeliveries(start, 10);
    store.storeOutcomes([{ ...sent(due!.delivery.id), remindAt: start + hour }]);
    const reminder = () =>
      store.dueDeliveries(start + 9 * hour, 10).map(({ delivery: { id, number } }) => ({ id, number }));
    const given = (id: number, at: number) => ({ id, state: 'dead' as const, at, error: '552', remindAt: at + hour });
    store.storeOutcomes([given(reminder()[0]?.id ?? 0, start + hour)]);
    expect(reminder().map(({ number }) => number)).toEqual([2]);
    const closed = store.record(closing('shop', start, start + 90 * 60_000));
    await clock.advance(1_000);
    await closed;
    const left = reminder().find(({ number }) => number === 2);
    store.storeOutcomes([given(left?.id ?? 0, start + 2 * hour)]);
    expect(reminder().map(({ number }) => number)).not.toContain(3);
  }));

test('a recipient with more than is read at once leaves room for the others', () =>
  withStore(async (store, clock) => {
    const stored = ['a', 'b', 'c', 'd'].map(async (name, index) =>
      store.record(opening(name, start + index, ['hangs@example.com'])),
    );
    await clock.advance(1_000);
    await Promise.all(stored);
    await store.record(opening('shop', start + 10, ['ops@example.com']));
    const read = store.dueDeliveries(start + hour, 3).map(({ delivery: { recipient } }) => recipient);
    expect(read).toEqual(['hangs@example.com', 'hangs@example.com', 'ops@example.com']);
  }));

test('a file keeps what it knows about itself', () =>
  withStore(async (store, _clock, reopen) => {
    expect(store.fact('identity', () => 'abc')).toBe('abc');
    expect((await reopen()).fact('identity', () => 'other')).toBe('abc');
  }));

test('what is open and was told is known with whom, until it is over', () =>
  withStore(async (store, clock) => {
    await store.record(opening('shop', start));
    const [due] = store.dueDeliveries(start, 10);
    expect(store.notifiedAndOpen('email')).toEqual([]);
    store.storeOutcomes([{ ...sent(due!.delivery.id), reference: 'C1 1.1' }]);
    const { recipient } = due!.delivery;
    expect(store.notifiedAndOpen('email')).toMatchObject([{ recipient, incident: { target: 'shop', endedAt: null } }]);
    expect(store.notifiedAndOpen('slack')).toEqual([]);
    const closed = store.record(closing('shop', start, start + 60_000));
    await clock.advance(1_000);
    await closed;
    expect(store.notifiedAndOpen('email')).toEqual([]);
  }));

describe('the message that tells a delivery', () => {
  test('is known after a restart from before it was sent, until it is known not to have arrived', () =>
    withStore(async (store, _clock, reopen) => {
      await store.record(opening('shop', start));
      const [due] = store.dueDeliveries(start, 10);
      expect(due).toMatchObject({ message: null, root: null });
      const { id } = due!.delivery;
      await store.claim('m1', [id]);
      const after = await reopen();
      expect(after.dueDeliveries(start, 10)).toMatchObject([{ message: 'm1', delivery: { id, attempts: 0 } }]);
      after.storeOutcomes([{ id, state: 'pending', nextAttemptAt: start, error: 'lost', message: 'm1' }]);
      expect(after.dueDeliveries(start, 10)).toMatchObject([{ message: 'm1', delivery: { attempts: 1 } }]);
      after.storeOutcomes([{ id, state: 'pending', nextAttemptAt: start, error: 'refused', message: null }]);
      expect(after.dueDeliveries(start, 10)).toMatchObject([{ message: null, delivery: { attempts: 2 } }]);
    }));

  test('of the beginning is the root of what follows', () =>
    withStore(async (store, clock) => {
      await store.record(opening('shop', start, ['a@example.com', 'b@example.com']));
      const [a, b] = store.dueDeliveries(start, 10).map((due) => due.delivery.id);
      store.storeOutcomes([sent(a!, { message: 'for a' }), sent(b!, { message: 'for b' })]);
      await clock.advance(100);
      await store.record(closing('shop', start, start + 60_000));
      expect(store.dueDeliveries(start + 60_000, 10)).toMatchObject([{ delivery: { kind: 'resolved' }, root: null }]);
      await clock.advance(100);
      const ended = incident('shop', start, { endedAt: start + 60_000 });
      const toA = delivery(ended, { kind: 'resolved', recipient: 'a@example.com' });
      await store.record(round('shop', start + 61_000, { incidents: [ended], deliveries: [toA] }));
      const found = store.dueDeliveries(start + 60_000, 10).filter((due) => due.delivery.recipient === 'a@example.com');
      expect(found).toMatchObject([{ root: 'for a' }]);
    }));
});

describe('a reminder', () => {
  test('is written with the outcome that asks for it, once, and counts on from the last', () =>
    withStore(async (store, _clock, reopen) => {
      await store.record(opening('shop', start));
      const { id } = store.dueDeliveries(start, 10)[0]!.delivery;
      store.storeOutcomes([sent(id, { remindAt: start + hour })]);
      store.storeOutcomes([sent(id, { remindAt: start + hour })]);
      const after = await reopen();
      expect(after.dueDeliveries(start + hour - 1, 10)).toEqual([]);
      expect(after.nextDeliveryAt(start)).toBe(start + hour);
      const [first] = after.dueDeliveries(start + hour, 10);
      expect(first).toMatchObject({
        root: 'm1',
        message: null,
        delivery: { kind: 'reminder', number: 1, attempts: 0, createdAt: start + hour, nextAttemptAt: start + hour },
      });
      after.storeOutcomes([sent(first!.delivery.id, { message: 'm2', remindAt: start + 5 * hour })]);
      expect(after.dueDeliveries(start + 5 * hour, 10)).toMatchObject([{ delivery: { kind: 'reminder', number: 2 } }]);
    }));

  test('is not written for what is over', () =>
    withStore(async (store, clock) => {
      await store.record(opening('shop', start));
      const { id } = store.dueDeliveries(start, 10)[0]!.delivery;
      await clock.advance(100);
      await store.record(closing('shop', start, start + 60_000));
      store.storeOutcomes([sent(id, { remindAt: start + hour })]);
      expect(store.dueDeliveries(start + hour, 10).map((due) => due.delivery.kind)).toEqual(['resolved']);
    }));

  test('does not count as pending before it is due', () =>
    withStore(async (store, clock) => {
      await store.record(opening('shop', start));
      store.storeOutcomes([sent(store.dueDeliveries(start, 10)[0]!.delivery.id, { remindAt: start + hour })]);
      expect(store.deliveryCounts()).toEqual([{ channel: 'email', pending: 0, oldestAt: null }]);
      await clock.advance(hour);
      expect(store.deliveryCounts()).toEqual([{ channel: 'email', pending: 1, oldestAt: start + hour }]);
    }));
});

describe('an operator', () => {
  test('sees deliveries of a state, the newest first, with what became of them', () =>
    withStore(async (store) => {
      await store.record(opening('shop', start, ['a@example.com', 'b@example.com', 'c@example.com']));
      const [a, b] = store.dueDeliveries(start, 10).map((due) => due.delivery.id);
      store.storeOutcomes([sent(a!), { id: b!, state: 'dead', at: start + 1, error: '550 no such user' }]);
      const all = store.listDeliveries({ limit: 10 });
      expect(all.map(({ target, recipient, state }) => `${target} ${recipient} ${state}`)).toEqual([
        'shop c@example.com pending',
        'shop b@example.com dead',
        'shop a@example.com sent',
      ]);
      expect(store.listDeliveries({ state: 'dead', limit: 10 })).toEqual([all[1]]);
      expect(all[1]).toMatchObject({ lastError: '550 no such user', attempts: 1, settledAt: start + 1 });
      expect(store.listDeliveries({ limit: 1 })).toHaveLength(1);
    }));

  test('has dead and waiting deliveries tried again, and no others', () =>
    withStore(async (store, clock) => {
      await store.record(opening('shop', start, ['a@example.com', 'b@example.com', 'c@example.com']));
      const [a, b, c] = store.dueDeliveries(start, 10).map((due) => due.delivery.id);
      store.storeOutcomes([
        sent(a!),
        { id: b!, state: 'dead', at: start, error: '550' },
        { id: c!, state: 'pending', nextAttemptAt: start + hour, error: '451', message: null },
      ]);
      expect(store.retryDeliveries([a!, c!])).toBe(1);
      expect(store.retryDeliveries(null)).toBe(1);
      expect(store.retryDeliveries(null)).toBe(0);
      expect(store.dueDeliveries(clock.now(), 10).map((due) => [due.delivery.id, due.delivery.attempts])).toEqual([
        [b, 0],
        [c, 0],
      ]);
    }));
});

test('messages that went out are remembered once each, oldest first', () =>
  withStore(async (store, clock) => {
    await store.record(opening('shop', start));
    await clock.advance(100);
    await store.record(opening('blog', start));
    await clock.advance(100);
    await store.record(opening('smtp', start));
    const [a, b, c] = store.dueDeliveries(start, 10).map((due) => due.delivery.id);
    store.storeOutcomes([{ ...sent(c!), message: 'first', at: start + 1 }]);
    store.storeOutcomes([sent(a!), sent(b!)].map((one) => ({ ...one, message: 'second', at: start + 2 })));
    const about = { channel: 'email', recipient: 'ops@example.com', kind: 'opened', severity: 'critical' };
    expect(store.sentMessages(start)).toEqual([
      { ...about, at: start + 1 },
      { ...about, at: start + 2 },
    ]);
    expect(store.sentMessages(start + 2)).toHaveLength(1);
  }));

describe('what a message said that went out', () => {
  const begun = (target: string, severity: 'critical' | 'warning' | 'info') => {
    const opened = incident(target, start, { severity });
    return { incidents: [opened], deliveries: [delivery(opened)] };
  };

  test('is the end of an incident if it told the beginning as well', () =>
    withStore(async (store, clock) => {
      await store.record(opening('shop', start));
      await clock.advance(100);
      await store.record(closing('shop', start, start + hour));
      await clock.advance(100);
      const [opened, resolved] = store.dueDeliveries(start + hour, 10).map((due) => due.delivery.id);
      store.storeOutcomes([
        { ...sent(opened!), message: 'late' },
        { id: resolved!, state: 'merged', at: start, message: 'late' },
      ]);
      expect(store.sentMessages(start)).toEqual([expect.objectContaining({ kind: 'resolved', severity: 'critical' })]);
    }));

  test('is a beginning if the end was told by another', () =>
    withStore(async (store, clock) => {
      await store.record(opening('shop', start));
      await clock.advance(100);
      const [opened] = store.dueDeliveries(start, 10).map((due) => due.delivery.id);
      store.storeOutcomes([{ ...sent(opened!), message: 'down' }]);
      await store.record(closing('shop', start, start + hour));
      await clock.advance(100);
      const [resolved] = store.dueDeliveries(start + hour, 10).map((due) => due.delivery.id);
      store.storeOutcomes([{ ...sent(resolved!), message: 'up', at: start + 1 }]);
      expect(store.sentMessages(start).map(({ kind }) => kind)).toEqual(['opened', 'resolved']);
    }));

  test('is a digest if it told of several sorts', () =>
    withStore(async (store, clock) => {
      await store.record(opening('shop', start));
      await clock.advance(100);
      const [shop] = store.dueDeliveries(start, 10).map((due) => due.delivery.id);
      store.storeOutcomes([{ ...sent(shop!), message: 'down' }]);
      await store.record(closing('shop', start, start + hour));
      await clock.advance(100);
      await store.record(round('blog', start, begun('blog', 'warning')));
      await clock.advance(100);
      const due = store.dueDeliveries(start + hour, 10).map(({ delivery: { id } }) => id);
      store.storeOutcomes(due.map((id) => ({ ...sent(id), message: 'both', at: start + 1 })));
      expect(store.sentMessages(start + 1)).toEqual([
        expect.objectContaining({ kind: 'digest', severity: 'critical' }),
      ]);
    }));

  test('has the highest severity of its incidents', () =>
    withStore(async (store, clock) => {
      await store.record(round('shop', start, begun('shop', 'info')));
      await clock.advance(100);
      await store.record(round('blog', start, begun('blog', 'warning')));
      await clock.advance(3_000);
      const due = store.dueDeliveries(start, 10).map(({ delivery: { id } }) => id);
      store.storeOutcomes(due.map((id) => ({ ...sent(id), message: 'both' })));
      expect(store.sentMessages(start)).toEqual([expect.objectContaining({ kind: 'opened', severity: 'warning' })]);
    }));
});

test('the incidents of a stretch of time are those that were open for a part of it', () =>
  withStore(async (store, clock) => {
    await store.record(opening('old', start - hour));
    await clock.advance(100);
    await store.record(closing('old', start - hour, start - 1));
    await clock.advance(100);
    await store.record(opening('shop', start));
    await clock.advance(100);
    expect(store.incidentsBetween(start, start + hour)).toEqual([
      expect.objectContaining({ target: 'shop', endedAt: null }),
    ]);
    expect(store.incidentsBetween(start - hour, start)).toContainEqual(expect.objectContaining({ target: 'old' }));
  }));
