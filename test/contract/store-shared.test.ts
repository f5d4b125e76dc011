import { join } from 'node:path';
import { expect, test } from 'vitest';
import { beforeAll, effectOf, type LogPosition, positionAfter } from '#hubs/position.ts';
import { decodeRecord, encodeRecord } from '#hubs/record.ts';
import { createSharing, type SharedWrite, SharedWrites, type WriteLog } from '#store/shared-store.ts';
import type { RoundRecord } from '#monitor/judge/round-record.ts';
import type { Store } from '#store/sqlite.ts';
import { historyOf } from '../support/fleet-history.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { down, healthy, openAt, opening, round, start, tempFolder, vote } from '../support/store.ts';

/** A log in memory, with records as bytes, and the stores that apply it. */
function createWorld(folder: string, clock: FakeClock) {
  const records: Uint8Array[] = [];
  const committed: (readonly SharedWrite[])[] = [];
  let refusal: Error | null = null;
  let mostWrites = Number.POSITIVE_INFINITY;
  let mostBytes = Number.POSITIVE_INFINITY;
  let held = Promise.resolve();
  let position: LogPosition = beforeAll;
  const writeLog: WriteLog = {
    async publish(writes) {
      if (refusal !== null) throw refusal;
      if (writes.length > mostWrites) throw new RangeError('the record is too long');
      await held;
      const head = { epoch: 1, n: position.n + 1, after: records.length };
      const bytes = encodeRecord({ ...head, hub: 'a', isFirst: false, writes });
      if (bytes.length > mostBytes) throw new RangeError('the record is too long');
      records.push(bytes);
      position = { sequence: records.length, epoch: 1, n: head.n };
      return { position };
    },
  };
  const open = (name: string, log: WriteLog): Store =>
    openAt(join(folder, `${name}.db`), clock, {
      sharing: { create: createSharing, writeLog: log, onCommitted: (writes) => committed.push(writes) },
    });
  const nowhere: WriteLog = {
    publish: async () => {
      throw new Error('it does not lead');
    },
  };
  return {
    records,
    committed,
    leader: open('a', writeLog),
    follower: open('b', nowhere),
    refuse: (error: Error | null) => void (refusal = error),
    limit: (count: number) => void (mostWrites = count),
    limitBytes: (bytes: number) => void (mostBytes = bytes),
    /** Has the log answer nothing more until what it gives is called. */
    hold(): () => void {
      const { promise, resolve } = Promise.withResolvers<void>();
      held = promise;
      return resolve;
    },
    /** Lets a store read on. */
    follow(store: Store): void {
      let at = store.shared?.position() ?? beforeAll;
      for (const [index, bytes] of records.entries()) {
        const record = decodeRecord(bytes);
        if (index < at.sequence || record === null || record === 'newer') continue;
        const effect = effectOf(at, record, index + 1);
        expect(effect).toBe('counts');
        at = positionAfter(at, record, index + 1, effect);
        store.shared?.apply(SharedWrites.parse(record.writes), at);
      }
    },
    historyOf: (name: string) => historyOf({ program: { database: join(folder, `${name}.db`) } }),
  };
}

async function withWorld(
  act: (world: ReturnType<typeof createWorld>, clock: FakeClock, folder: string) => Promise<void>,
): Promise<void> {
  using folder = tempFolder();
  const clock = new FakeClock(new Date(start).toISOString());
  const world = createWorld(folder.path, clock);
  try {
    await act(world, clock, folder.path);
  } finally {
    await world.leader.close();
    await world.follower.close();
  }
}

const end = start + 365 * 86_400_000;

/** Has a round stored. */
async function record(store: Store, of: RoundRecord, clock: FakeClock): Promise<void> {
  const stored = store.record(of);
  await settled(clock, store);
  await stored;
}

/** What waits in the fake clock and in promises comes to rest. */
async function settled(clock: FakeClock, store: Store): Promise<void> {
  const idle = store.shared?.idle();
  await clock.advance(0);
  await idle;
}

const load = { label: 'load', value: 4, unit: 'ms', warning: '5', critical: null };
const measurement = { target: 'shop', node: 'de1', at: start, values: [load] };

test('a healthy round of hubs that share a log waits for a second at most, and for nothing once it is flushed', () =>
  withWorld(async ({ leader, records }, clock) => {
    await Promise.all([leader.record(healthy('shop', start)), clock.advance(50)]);
    expect(records).toHaveLength(1);
    const second = leader.record(healthy('shop', start + 1));
    await clock.advance(999);
    expect(records).toHaveLength(1);
    await clock.advance(1);
    expect(records).toHaveLength(2);
    expect(await second).toBe('stored');
    const third = leader.record(healthy('shop', start + 2));
    await clock.advance(0);
    expect(records).toHaveLength(2);
    leader.flush();
    await clock.advance(0);
    expect(records).toHaveLength(3);
    expect(await third).toBe('stored');
  }));

test('two stores that apply one log hold the same, whatever row numbers they have', () =>
  withWorld(async (world, clock) => {
    const { leader, follower } = world;
    const history = (name: string) => world.historyOf(name);
    // Other numbers from the start on.
    follower.shared?.apply([{ kind: 'round', round: round('other', start) }], beforeAll);
    leader.shared?.apply([{ kind: 'fact', name: 'identity', value: 'fleet' }], beforeAll);
    const opened = leader.record(opening('shop', start, ['ops@example.com', 'on-call@example.com']));
    await settled(clock, leader);
    expect(await opened).toBe('stored');
    const [due] = leader.dueDeliveries(start, 10);
    const { id } = due!.delivery;
    const claimed = leader.claim('m1', [id]);
    await settled(clock, leader);
    await claimed;
    leader.storeOutcomes([{ id, state: 'sent', at: start, message: 'm1', remindAt: start + 60_000 }]);
    leader.saveSilence({ id: 's1', targets: ['shop'], why: 'works', from: start, until: start + 1_000 });
    const { incidentId } = due!.delivery;
    const gathered = {
      occasion: 'opened',
      isFailing: true,
      failure: 'refused',
      document: null,
      lastGood: null,
    } as const;
    leader.addEvidence(incidentId, [{ ...gathered, at: start, node: 'de1', note: 'the node is not online' }]);
    const exclusion = { id: 'e1', target: 'shop', from: start, to: start + 60_000, why: 'provider', createdAt: start };
    leader.addExclusion(exclusion);
    leader.addExclusion({ ...exclusion, id: 'e2', target: null });
    leader.removeExclusion({ ...exclusion, id: 'e2', target: null });
    leader.addNote({
      id: 'n1',
      page: 'status',
      words: 'works',
      createdAt: start,
      endsAt: null,
      thread: null,
      stage: null,
      targets: [],
    });
    const subscriber = {
      id: 's',
      page: 'status',
      address: 'ann@example.com',
      language: 'de',
      secret: 'x',
      askedAt: start,
      confirmedAt: start,
    };
    const mail = {
      id: 'm',
      subscriber: 's',
      news: [{ kind: 'confirm' }],
      createdAt: start,
      nextAttemptAt: start,
    } as const;
    const device = {
      id: 'd',
      recipient: 'ops',
      name: 'Firefox on Android',
      user: 'ann',
      origin: 'https://watch.example',
      endpoint: 'https://push.example/send/x',
      p256dh: 'x',
      auth: 'y',
      createdAt: start,
    };
    leader.writeDevice({ kind: 'device', device });
    leader.writeDevice({ kind: 'device', device: { ...device, id: 'gone', createdAt: start + 1 } });
    leader.writeDevice({ kind: 'device', device: { ...device, name: 'Phone' } });
    leader.writeDevice({ kind: 'device removed', id: 'gone' });
    leader.writeSubscription({ kind: 'subscriber', subscriber });
    const events = [{ page: 'status', name: 'e', at: start }];
    leader.writeSubscription({ kind: 'mails', events, mails: [{ ...mail, attempts: 0 }] });
    leader.writeSubscription({ kind: 'mail retried', id: 'm', nextAttemptAt: start + 1, attempts: 1 });
    // Its subscriber has left meanwhile.
    leader.writeSubscription({
      kind: 'mails',
      events: [],
      mails: [{ ...mail, id: 'm2', subscriber: 'gone', attempts: 0 }],
    });
    leader.addChanges([{ target: 'shop', kind: 'answers', node: 'de1', at: start, value: '192.0.2.1' }]);
    leader.addMeasurements([measurement]);
    const late = leader.recordLate({
      target: 'shop',
      dueAt: start,
      vote: vote('us1', down()),
      at: start + 5,
      verdictOf: () => ({ status: 'down', inMaintenance: false, holdsMs: 60_000 }),
    });
    await settled(clock, leader);
    expect(['stored', 'revised']).toContain(await late);
    world.follow(follower);
    expect(follower.subscribers('status')).toEqual([subscriber]);
    expect(follower.devices()).toEqual([{ ...device, name: 'Phone' }]);
    expect(follower.announcedEvents('status')).toEqual(events);
    expect(follower.dueMails(start + 1, 10)).toEqual([{ ...mail, nextAttemptAt: start + 1, attempts: 1 }]);
    expect(follower.evidenceOf(incidentId)).toHaveLength(1);
    expect(follower.evidenceOf(incidentId)).toEqual(leader.evidenceOf(incidentId));
    const [one, two] = [history('a'), history('b')];
    expect(one.deliveries.length).toBe(3);
    expect(one.deliveries).toEqual(two.deliveries);
    expect(one.incidents).toEqual(two.incidents);
    expect(one.results).toEqual(two.results.filter(({ target }) => target !== 'other'));
    expect(follower.silences(start)).toEqual(leader.silences(start));
    expect(follower.exclusions()).toEqual([exclusion]);
    expect(leader.exclusions()).toEqual([exclusion]);
    expect(follower.notes()).toEqual(leader.notes());
    expect(follower.changesOf('shop')).toEqual(leader.changesOf('shop'));
    const hour = { from: start, to: start + 3_600_000 };
    expect(follower.measured('shop', hour).series).toHaveLength(1);
    expect(follower.measured('shop', hour)).toEqual(leader.measured('shop', hour));
    expect(follower.history.periods('shop', { from: 0, to: Infinity })).toEqual(
      leader.history.periods('shop', { from: 0, to: Infinity }),
    );
  }));

test('rounds that change nothing share a record once a second, the first of them at once; what notifies never waits', () =>
  withWorld(async ({ leader, records }, clock) => {
    const steady = async (from: number) => {
      const rounds = [0, 1, 2].map(async (n) => leader.record(round('shop', start + from + n)));
      return Promise.all(rounds);
    };
    const first = steady(0);
    expect(records).toHaveLength(0);
    await clock.advance(50);
    await first;
    expect(records).toHaveLength(1);
    const next = steady(10);
    await clock.advance(900);
    expect(records).toHaveLength(1);
    await clock.advance(100);
    await next;
    expect(records).toHaveLength(2);
    const opened = leader.record(opening('shop', start + 20));
    await clock.advance(0);
    await opened;
    expect(records).toHaveLength(3);
  }));

test('what the log refuses is not stored, and its sender hears of it', () =>
  withWorld(async ({ leader, refuse, committed, historyOf: history }, clock) => {
    refuse(new Error('another hub leads'));
    const refused = expect(leader.record(opening('shop', start))).rejects.toMatchObject({ code: 'store_failed' });
    await clock.advance(0);
    await refused;
    expect(history('a').incidents).toEqual([]);
    expect(committed).toEqual([]);
    refuse(null);
    const stored = leader.record(opening('shop', start));
    await clock.advance(0);
    expect(await stored).toBe('stored');
  }));

test('a record that is too long is written as several', () =>
  withWorld(async ({ leader, limit, records, historyOf: history }, clock) => {
    limit(2);
    const rounds = [1, 2, 3, 4, 5].map(async (n) => leader.record(round('shop', start + n)));
    await clock.advance(1_000);
    expect(await Promise.all(rounds)).toEqual(Array.from({ length: 5 }, () => 'stored'));
    expect(records.length).toBeGreaterThan(2);
    expect(history('a').results).toHaveLength(5);
  }));

test('what is sent counts as sent while the first half of a record that is too long is on its way to the log', () =>
  withWorld(async (world, clock) => {
    const { leader, limit } = world;
    await record(leader, opening('shop', start, ['ann@example.com', 'bob@example.com']), clock);
    const ids = leader.dueDeliveries(start, 10).map(({ delivery }) => delivery.id);
    limit(1);
    const goOn = world.hold();
    for (const id of ids) leader.storeOutcomes([{ id, state: 'sent', at: start, message: `m${id}`, remindAt: null }]);
    expect(leader.dueDeliveries(start, 10)).toEqual([]);
    await clock.advance(0);
    expect(leader.dueDeliveries(start, 10)).toEqual([]);
    goOn();
    await settled(clock, leader);
    expect(leader.dueDeliveries(start, 10)).toEqual([]);
  }));

test('what tells thousands of incidents at once is noted in as many records as it takes', () =>
  withWorld(async ({ leader, limitBytes, records }, clock) => {
    const targets = Array.from({ length: 3_000 }, (_, index) => `host-${index}.example.com`);
    const opened = targets.map(async (target, index) => leader.record(opening(target, start + 7_919 * index)));
    while (leader.dueDeliveries(end, 10_000).length < targets.length) await clock.advance(1_000);
    await Promise.all(opened);
    limitBytes(16_384);
    const before = records.length;
    const claimed = leader.claim(
      'm1',
      leader.dueDeliveries(end, 10_000).map(({ delivery }) => delivery.id),
    );
    await clock.advance(1_000);
    await claimed;
    expect(records.length).toBeGreaterThan(before + 1);
    expect(new Set(leader.dueDeliveries(end, 10_000).map(({ message }) => message))).toEqual(new Set(['m1']));
  }));

test('a write that cannot be made is left out on every hub alike', () =>
  withWorld(async (world, clock) => {
    const { leader, follower } = world;
    const history = (name: string) => world.historyOf(name);
    follower.shared?.apply([], beforeAll);
    const note = {
      id: 'n1',
      page: 'status',
      words: 'once',
      createdAt: start,
      endsAt: null,
      thread: null,
      stage: null,
      targets: [],
    };
    leader.addNote(note);
    leader.addNote({ ...note, words: 'twice' });
    const stored = leader.record(opening('shop', start));
    await clock.advance(0);
    expect(await stored).toBe('stored');
    world.follow(follower);
    expect(leader.notes()).toEqual([note]);
    expect(follower.notes()).toEqual([note]);
    expect(history('b').incidents).toEqual(history('a').incidents);
    expect(history('a').incidents).toHaveLength(1);
  }));

test('a backlog is kept with what it writes until the log has it, oldest first', () =>
  withWorld(async ({ leader }) => {
    const { shared } = leader;
    const at = (n: number) => ({ sequence: 7, epoch: 1, n });
    for (const n of [9, 10, 11]) shared?.commit([], at(n), true, Uint8Array.of(n));
    expect(shared?.backlog().map((bytes) => [...bytes])).toEqual([[9], [10], [11]]);
    expect(shared?.position()).toEqual(at(11));
    shared?.backlogSent({ sequence: 8, epoch: 1, n: 11 });
    expect(shared?.backlog().map((bytes) => [...bytes])).toEqual([[10], [11]]);
    expect(shared?.position()).toEqual({ sequence: 8, epoch: 1, n: 11 });
  }));

test('a store that is opened without a log forgets its position', () =>
  withWorld(async ({ leader }, clock, folder) => {
    leader.shared?.apply([{ kind: 'fact', name: 'identity', value: 'fleet' }], { sequence: 3, epoch: 1, n: 3 });
    await leader.close();
    const path = join(folder, 'a.db');
    await using alone = openAt(path, clock);
    expect(alone.shared).toBeNull();
    expect(alone.fact('identity', () => 'new')).toBe('fleet');
    await alone.close();
    const sharing = { create: createSharing, writeLog: { publish: async () => ({ position: beforeAll }) } };
    await using again = openAt(path, clock, { sharing: { ...sharing, onCommitted: () => {} } });
    expect(again.shared?.position()).toBeNull();
  }));
