import * as fc from 'fast-check';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { failed, failure } from '#checks/index.ts';
import type { Clock } from '#kernel/clock.ts';
import type { Store, StoreOptions } from '#store/sqlite.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import {
  closing,
  delivery,
  down,
  healthy,
  incident,
  openAt,
  opening,
  round,
  start,
  state,
  tempFolder,
  up,
  vote,
} from '../../support/store.ts';

interface Implementation {
  readonly name: string;
  readonly open: (folder: string, clock: Clock, more?: Partial<StoreOptions>) => Store;
}

const implementations: readonly Implementation[] = [
  { name: 'sqlite', open: (folder, clock, more) => openAt(join(folder, 'watchpost.db'), clock, more) },
];

describe.each(implementations)('the store on $name', ({ open }) => {
  type Reopen = (more?: Partial<StoreOptions>) => Promise<Store>;
  async function withStore(action: (store: Store, clock: FakeClock, reopen: Reopen) => Promise<void>) {
    using folder = tempFolder();
    const clock = new FakeClock();
    let store = open(folder.path, clock);
    const reopen: Reopen = async (more) => {
      await store.close();
      store = open(folder.path, clock, more);
      return store;
    };
    try {
      await action(store, clock, reopen);
    } finally {
      await store.close();
    }
  }

  test('gives back what a round recorded', () =>
    withStore(async (store, clock) => {
      const stored = store.record(
        round('shop', start, { votes: [vote('de1', up(0.001234)), vote('us1', down('no route'))] }),
      );
      await clock.advance(1_000);
      expect(await stored).toBe('stored');
      expect(store.recentResults('shop', start)).toEqual([
        { dueAt: start, node: 'de1', status: 'up', seconds: 0.001234, failure: null },
        {
          dueAt: start,
          node: 'us1',
          status: 'down',
          seconds: 0.0005,
          failure: { source: 'target', code: 'refused', message: 'no route', address: '192.0.2.80' },
        },
      ]);
      expect(store.recentResults('shop', start + 1)).toEqual([]);
      expect(store.recentResults('other', start)).toEqual([]);
    }));

  test('stores the same results once, whatever else comes with them; what follows is never dropped', () =>
    withStore(async (store, clock) => {
      expect(await store.record(opening('shop', start))).toBe('stored');
      await clock.advance(50);
      const again = store.record(opening('shop', start, ['other@example.com']));
      await clock.advance(50);
      expect(await again).toBe('duplicate');
      expect(store.recentResults('shop', start)).toHaveLength(1);
      expect(
        store
          .dueDeliveries(start, 10)
          .map((due) => due.delivery.recipient)
          .sort(),
      ).toEqual(['ops@example.com', 'other@example.com']);
    }));

  test('gives other results under a name that is taken the next free name', () =>
    withStore(async (store, clock) => {
      const record = async (node: string) => {
        const recorded = store.record(round('shop', start, { votes: [vote(node)] }));
        await clock.advance(1_000);
        return recorded;
      };
      expect(await record('de1')).toBe('stored');
      expect(await record('us1')).toBe('stored');
      expect(await record('jp1')).toBe('stored');
      expect(await record('us1')).toBe('duplicate');
      expect(store.recentResults('shop', start).map(({ node, dueAt }) => [node, dueAt - start])).toEqual([
        ['de1', 0],
        ['us1', 1],
        ['jp1', 2],
      ]);
    }));

  test('a late vote fills a gap or replaces one that only said that there was no answer, once, and moves nothing else', () =>
    withStore(async (store, clock) => {
      const record = async (work: Promise<unknown>) => {
        await clock.advance(1_000);
        return work;
      };
      const silent = failed(failure('node', 'no_answer', 'the node did not answer'));
      const states = [state('shop')];
      await record(store.record(round('shop', start, { votes: [vote('de1'), vote('us1', silent)], states })));
      const before = store.load();
      const late = (node: string, outcome = up(0.5), dueAt = start) =>
        record(store.recordLate({ target: 'shop', dueAt, vote: vote(node, outcome), at: start + 60_000 }));
      expect(await late('us1')).toBe('stored');
      expect(await late('us1', down())).toBe('duplicate');
      expect(await late('de1', down())).toBe('duplicate');
      expect(await late('jp1', down(), start + 5_000)).toBe('stored');
      expect(store.recentResults('shop', start)).toMatchObject([
        { node: 'de1', status: 'up', seconds: 0.012345 },
        { node: 'us1', status: 'up', seconds: 0.5, failure: null },
        { node: 'jp1', status: 'down', dueAt: start + 5_000 },
      ]);
      expect(store.load()).toEqual(before);
    }));

  test('a round takes its own name where late votes of it are there before it, and a vote is never replaced by silence', () =>
    withStore(async (store, clock, reopen) => {
      const record = async (work: Promise<unknown>) => {
        await clock.advance(1_000);
        return work;
      };
      const silent = failed(failure('node', 'no_answer', 'the node did not answer'));
      const late = (node: string, outcome = up(0.5)) =>
        record(store.recordLate({ target: 'shop', dueAt: start, vote: vote(node, outcome), at: start + 60_000 }));
      expect(await late('us1')).toBe('stored');
      expect(await late('jp1', down('no route'))).toBe('stored');
      const votes = [vote('de1'), vote('us1', silent), vote('jp1', down('no route'))];
      expect(await record(store.record(round('shop', start, { votes })))).toBe('stored');
      const after = await reopen();
      const results = after.recentResults('shop', 0).toSorted((a, b) => a.node.localeCompare(b.node));
      expect(results).toMatchObject([
        { dueAt: start, node: 'de1', status: 'up' },
        { dueAt: start, node: 'jp1', status: 'down' },
        { dueAt: start, node: 'us1', status: 'up', seconds: 0.5 },
      ]);
    }));

  test('finds a duplicate among rounds that still wait', () =>
    withStore(async (store, clock) => {
      const both = Promise.all([store.record(round('shop', start)), store.record(round('shop', start))]);
      await clock.advance(1_000);
      expect(await both).toEqual(['stored', 'duplicate']);
    }));

  test('recording everything twice equals recording it once', async () => {
    const rounds = fc.array(
      fc.record({ target: fc.constantFrom('a', 'b', 'c'), slot: fc.nat(4), opens: fc.boolean() }),
    );
    await fc.assert(
      fc.asyncProperty(rounds, async (slots) => {
        const records = slots.map(({ target, slot, opens }) =>
          opens ? opening(target, start + slot * 30_000) : round(target, start + slot * 30_000),
        );
        expect(await outcomeOf([...records, ...records])).toEqual(await outcomeOf(records));
      }),
      { numRuns: 15 },
    );

    async function outcomeOf(records: readonly ReturnType<typeof round>[]) {
      let seen: unknown;
      await withStore(async (store, _clock, reopen) => {
        const recorded = records.map((record) => store.record(record));
        const after = await reopen();
        await Promise.all(recorded);
        const results = ['a', 'b', 'c'].map((target) => after.recentResults(target, 0));
        seen = { loaded: after.load(), due: after.dueDeliveries(start * 2, 100).map(withoutId), results };
      });
      return seen;
    }

    function withoutId({ delivery: { id: _id, ...rest }, ...due }: ReturnType<Store['dueDeliveries']>[number]) {
      return { ...due, delivery: rest };
    }
  });

  test('holds a steady round back for a second, and commits it with its company', () =>
    withStore(async (store, clock) => {
      const settled: string[] = [];
      for (const target of ['a', 'b']) void store.record(round(target, start)).then(() => settled.push(target));
      await clock.advance(999);
      expect(settled).toEqual([]);
      expect(store.recentResults('a', 0)).toEqual([]);
      expect(store.health().queued).toBe(2);
      await clock.advance(1);
      expect(settled).toEqual(['a', 'b']);
      expect(store.health().queued).toBe(0);
    }));

  test('holds a healthy round back for three seconds, and commits it with its company', () =>
    withStore(async (store, clock) => {
      const settled: string[] = [];
      for (const target of ['a', 'b']) void store.record(healthy(target, start)).then(() => settled.push(target));
      await clock.advance(2_999);
      expect(settled).toEqual([]);
      expect(store.health().queued).toBe(2);
      await clock.advance(1);
      expect(settled).toEqual(['a', 'b']);
      expect(store.health().queued).toBe(0);
    }));

  const reads: Record<string, (store: Store) => unknown> = {
    nodes: ({ history }) => history.nodes(),
    results: ({ history }) => history.results('a', null, { from: start, to: start + 1 }),
    rounds: ({ history }) => history.rounds('a', start + 1, start, 1),
    periods: ({ history }) => history.periods('a', { from: start, to: start + 1 }),
    judgedPeriods: ({ history }) => history.judgedPeriods('a', { from: start, to: start + 1 }),
    newestPeriods: ({ history }) => [...history.newestPeriods().keys()],
    recentResults: (store) => store.recentResults('a', start),
    recentSuccesses: (store) => [...store.recentSuccesses(start, new Set(['a']))],
    'periods of budgets': (store) => [...store.periods(start, new Set(['a']))].flatMap(({ periods }) => periods),
  };

  test.for(Object.entries(reads))(
    'commits a healthy round that has waited for a second before %s is read',
    ([, read]) =>
      withStore(async (store, clock) => {
        const stored = store.record(healthy('a', start));
        await clock.advance(999);
        expect(read(store)).toEqual([]);
        expect(store.health().queued).toBe(1);
        await clock.advance(1);
        expect(read(store)).toHaveLength(1);
        expect(await stored).toBe('stored');
      }),
  );

  test('commits a healthy round that has waited for a second before its last verdict is read', () =>
    withStore(async (store, clock) => {
      const stored = store.record(healthy('a', start));
      await clock.advance(1_000);
      expect(store.history.verdictsFrom('a')).not.toBe(Infinity);
      expect(store.history.lastVerdict('a')).toBe(start);
      expect(await stored).toBe('stored');
    }));

  test('commits what waits when it is flushed', () =>
    withStore(async (store) => {
      const stored = store.record(healthy('a', start));
      store.flush();
      expect(store.recentResults('a', 0)).toHaveLength(1);
      expect(await stored).toBe('stored');
    }));

  test('commits a transition at once, together with what waits', () =>
    withStore(async (store) => {
      const steady = store.record(round('a', start));
      const changed = store.record(opening('shop', start));
      expect(store.recentResults('a', 0)).toHaveLength(1);
      expect(store.dueDeliveries(start, 10)).toHaveLength(1);
      expect(await Promise.all([steady, changed])).toEqual(['stored', 'stored']);
    }));

  test('gives what waits for the same recipient together with what is due, and nothing of other recipients', () =>
    withStore(async (store, clock) => {
      const [shop, web] = [incident('shop', start), incident('web', start)];
      await store.record(round('shop', start, { incidents: [shop], deliveries: [delivery(shop)] }));
      const second = store.record(
        round('web', start, { incidents: [web], deliveries: [delivery(web, { recipient: 'web@example.com' })] }),
      );
      await clock.advance(50);
      await second;
      for (const due of store.dueDeliveries(start, 10)) {
        store.storeOutcomes([
          { id: due.delivery.id, state: 'pending', nextAttemptAt: start + 60_000, error: 'busy', message: null },
        ]);
      }
      expect(store.dueDeliveries(start + 1_000, 10)).toEqual([]);
      const ended = { ...shop, endedAt: start + 500 };
      const resolved = delivery(shop, { kind: 'resolved', createdAt: start + 1_000, nextAttemptAt: start + 1_000 });
      const third = store.record(round('shop', start + 1_000, { incidents: [ended], deliveries: [resolved] }));
      await clock.advance(50);
      await third;
      const due = store.dueDeliveries(start + 1_000, 10);
      expect(due.map((one) => [one.incident.target, one.delivery.kind, one.incident.endedAt])).toEqual([
        ['shop', 'opened', start + 500],
        ['shop', 'resolved', start + 500],
      ]);
    }));

  test('lets a storm of transitions share commits fifty milliseconds apart', () =>
    withStore(async (store, clock) => {
      const storm = Array.from({ length: 20 }, (_, index) => store.record(opening(`t${index}`, start)));
      expect(store.dueDeliveries(start, 100)).toHaveLength(1);
      await clock.advance(50);
      expect(store.dueDeliveries(start, 100)).toHaveLength(20);
      await Promise.all(storm);
    }));

  test('flushes what waits when it closes, and refuses rounds after that', () =>
    withStore(async (store, _clock, reopen) => {
      const waiting = store.record(round('shop', start));
      const after = await reopen();
      expect(await waiting).toBe('stored');
      expect(after.recentResults('shop', 0)).toHaveLength(1);
      await expect(store.record(round('shop', start + 1))).rejects.toMatchObject({ code: 'store_failed' });
    }));

  const restarts = [
    { name: 'with nothing stored', record: [], states: 0, open: 0, due: 0 },
    { name: 'after a good round', record: [round('shop', start)], states: 0, open: 0, due: 0 },
    {
      name: 'after a first failing round',
      record: [round('shop', start, { states: [state('shop', { window: [{ at: start, failing: true }] })] })],
      states: 1,
      open: 0,
      due: 0,
    },
    { name: 'in an open incident', record: [opening('shop', start)], states: 1, open: 1, due: 1 },
    {
      name: 'while recovering',
      record: [
        opening('shop', start),
        round('shop', start + 1, { states: [state('shop', { incidentId: 'x', good: 1, goodSince: start + 1 })] }),
      ],
      states: 1,
      open: 1,
      due: 1,
    },
    {
      name: 'after the end of an incident',
      record: [opening('shop', start), closing('shop', start, start + 60_000)],
      states: 1,
      open: 0,
      due: 2,
    },
  ];

  test.each(restarts)('finds everything again after a restart $name', ({ record, states, open, due }) =>
    withStore(async (store, _clock, reopen) => {
      const all = Promise.all(record.map((one) => store.record(one)));
      const after = await reopen();
      await all;
      const loaded = after.load();
      const last = record.findLast((one) => one.states.length > 0);
      expect(loaded.flatMap((one) => one.states)).toEqual(states === 0 ? [] : last?.states);
      expect(loaded.flatMap((one) => one.openIncidents)).toEqual(open === 0 ? [] : record[0]?.incidents);
      const found = after.dueDeliveries(start + 60_000, 10);
      expect(found).toHaveLength(due);
      for (const one of found)
        expect(one.incident).toEqual(record.findLast((r) => r.incidents.length > 0)?.incidents[0]);
    }),
  );

  test('hands out due deliveries oldest first and no more than asked for', () =>
    withStore(async (store, clock) => {
      const opened = incident('shop', start);
      const made = [3, 1, 2].map((order) =>
        delivery(opened, {
          recipient: `${order}@example.com`,
          createdAt: start + order,
          nextAttemptAt: start + 10 - order,
        }),
      );
      await store.record(round('shop', start, { incidents: [opened], deliveries: made }));
      await clock.advance(50);
      const recipients = (now: number, limit: number) =>
        store.dueDeliveries(now, limit).map((due) => due.delivery.recipient);
      expect(recipients(start + 6, 10)).toEqual([]);
      expect(store.nextDeliveryAt(start)).toBe(start + 7);
      expect(recipients(start + 8, 10)).toEqual(['2@example.com', '3@example.com']);
      expect(recipients(start + 9, 2)).toEqual(['1@example.com', '2@example.com']);
    }));

  test('settles a delivery once: later outcomes change nothing', () =>
    withStore(async (store, _clock, reopen) => {
      await store.record(opening('shop', start, ['a@example.com', 'b@example.com', 'c@example.com']));
      const [a, b, c] = store.dueDeliveries(start, 10).map((due) => due.delivery.id);
      store.storeOutcomes([
        { id: a!, state: 'sent', at: start, message: 'm', remindAt: null },
        { id: b!, state: 'dead', at: start, error: '550 no such user' },
        { id: c!, state: 'pending', nextAttemptAt: start + 60_000, error: '451 try later', message: null },
      ]);
      store.storeOutcomes([
        { id: a!, state: 'pending', nextAttemptAt: start, error: 'late answer', message: null },
        { id: b!, state: 'merged', at: start, message: 'm' },
      ]);
      const after = await reopen();
      expect(after.dueDeliveries(start + 59_999, 10)).toEqual([]);
      expect(after.nextDeliveryAt(start)).toBe(start + 60_000);
      expect(after.dueDeliveries(start + 60_000, 10).map((due) => due.delivery)).toEqual([
        expect.objectContaining({ id: c, attempts: 1, lastError: '451 try later', nextAttemptAt: start + 60_000 }),
      ]);
      after.storeOutcomes([{ id: c!, state: 'merged', at: start, message: 'm' }]);
      expect(after.nextDeliveryAt(start)).toBeNull();
    }));

  test('counts pending deliveries of every channel, the idle ones too', () =>
    withStore(async (store, clock, reopen) => {
      expect(store.deliveryCounts()).toEqual([]);
      await store.record(opening('shop', start, ['a@example.com', 'b@example.com']));
      await clock.advance(50);
      await store.record(opening('blog', start + 1));
      expect(store.deliveryCounts()).toEqual([{ channel: 'email', pending: 3, oldestAt: start }]);
      store.storeOutcomes(
        store
          .dueDeliveries(start + 1, 10)
          .map((due) => ({ id: due.delivery.id, state: 'sent', at: start, message: 'm', remindAt: null })),
      );
      const idle = [{ channel: 'email', pending: 0, oldestAt: null }];
      expect(store.deliveryCounts()).toEqual(idle);
      expect((await reopen()).deliveryCounts()).toEqual(idle);
    }));

  test('rejects a round that cannot be stored, and stores its company', () =>
    withStore(async (store, clock) => {
      const orphan = delivery(incident('nowhere', start));
      const good = store.record(round('a', start));
      const bad = store.record(round('b', start, { deliveries: [orphan] }));
      const late = store.record(round('c', start));
      await expect(bad).rejects.toMatchObject({ code: 'store_failed' });
      expect(await good).toBe('stored');
      expect(store.recentResults('b', 0)).toEqual([]);
      await clock.advance(1_000);
      expect(await late).toBe('stored');
      expect(store.health()).toEqual({ lastError: null, failingSince: null, queued: 0, dropped: 0 });
    }));

  test('keeps every round when the wall clock is set back', () =>
    withStore(async (store, clock) => {
      const first = store.record(round('shop', clock.now()));
      await clock.advance(400);
      clock.step(-3_600_000);
      const second = store.record(round('shop', clock.now()));
      await clock.advance(600);
      expect(await Promise.all([first, second])).toEqual(['stored', 'stored']);
      expect(store.recentResults('shop', 0).map(({ dueAt }) => dueAt)).toEqual([start + 400 - 3_600_000, start]);
    }));

  test('gives back the good results of the targets that are asked for, of all of them in one look', () =>
    withStore(async (store, clock) => {
      const votes = [vote('de1', up(0.25)), vote('us1', down()), vote('jp1', up(0.5))];
      const recorded = ['shop', 'blog', 'wiki'].map((name, index) =>
        store.record(round(name, start + index, { votes })),
      );
      const late = store.record(round('shop', start + 10));
      await clock.advance(1_000);
      await Promise.all([...recorded, late]);
      const found = [...store.recentSuccesses(start + 1, new Set(['shop', 'blog']))];
      expect(found.map(({ target, node, dueAt, seconds }) => [target, node, dueAt - start, seconds])).toEqual([
        ['blog', 'de1', 1, 0.25],
        ['blog', 'jp1', 1, 0.5],
        ['shop', 'de1', 10, 0.012345],
      ]);
    }));

  test('keeps silences, each under its id, until they end', () =>
    withStore(async (store, _clock, reopen) => {
      const night = { id: 'a', targets: 'all', why: 'night', from: start, until: start + 1_000 } as const;
      const move = { id: 'b', targets: ['shop', 'blog'], why: 'it moves', from: start, until: start + 500 };
      store.saveSilence(night);
      store.saveSilence(move);
      const after = await reopen();
      expect(after.silences(start)).toEqual([move, night]);
      expect(after.silences(start + 500)).toEqual([night]);
      after.saveSilence({ ...night, until: start + 100 });
      expect(after.silences(start + 99)).toEqual([{ ...night, until: start + 100 }, move]);
      after.saveSilence({ ...night, id: 'c', from: start + 40 * 86_400_000, until: start + 41 * 86_400_000 });
      expect(after.silences(0).map(({ id }) => id)).toEqual(['c']);
    }));

  test('stores a change without a round, whatever stands at its time', () =>
    withStore(async (store, clock) => {
      expect(await store.record(opening('shop', start))).toBe('stored');
      await clock.advance(50);
      const closed = incident('shop', start, { endedAt: start, closing: 'unwatched' });
      const change = round('shop', start, {
        votes: [],
        incidents: [closed],
        deliveries: [delivery(closed, { kind: 'closed' })],
      });
      expect(await store.record(change)).toBe('stored');
      expect(store.load()).toMatchObject([{ openIncidents: [] }]);
      expect(store.dueDeliveries(start, 10).map((due) => due.delivery.kind)).toEqual(['opened', 'closed']);
    }));

  test('gives back everything that an incident and a state say', () =>
    withStore(async (store, _clock, reopen) => {
      const told = incident('shop', start, {
        timeline: [{ at: start, status: 'partial', up: 1, down: 1, unknown: 1 }],
        held: { by: 'maintenance', why: 'maintenance until then' },
        notified: null,
        acknowledged: { at: start, why: 'we know' },
      });
      const kept = state('shop', { incidentId: told.id, noted: { de1: 'A 192.0.2.1' } });
      await store.record(round('shop', start, { states: [kept], incidents: [told] }));
      expect((await reopen()).load()).toEqual([{ target: 'shop', states: [kept], openIncidents: [told], heard: null }]);
    }));

  test('gives back what was heard of a target, and forgets it', () =>
    withStore(async (store, _clock, reopen) => {
      const heard = {
        since: 1,
        at: 5,
        began: 2,
        open: [{ run: 'a', at: 2, settled: false }],
        missedUntil: null,
        last: { dueAt: 5, failure: { source: 'target', code: 'exit', message: 'ended with exit code 3' } },
        calls: ['start a'],
      } as const;
      await store.record(round('backup', start, { votes: [], heard }));
      const again = await reopen();
      expect(again.load()).toEqual([{ target: 'backup', states: [], openIncidents: [], heard }]);
      await again.record(round('backup', start, { votes: [], heard: null }));
      expect((await reopen()).load()).toEqual([]);
    }));

  test('forgets results, then hours, then days, each after its own time', () =>
    withStore(async (store, clock, reopen) => {
      const day = 86_400_000;
      const retention = { rawMs: 2 * day, hoursMs: 5 * day, daysMs: 9 * day, verdictsMs: null, incidentsMs: null };
      void store.record(round('shop', start, { votes: [vote('de1'), vote('us1')] }));
      const again = await reopen({ retention });
      const looked: unknown[] = [];
      for (let days = 1; days <= 11; days += 1) {
        await clock.advance(day);
        for (let left = 1_000; again.upkeep() && left > 0; left -= 1);
        const { history } = again;
        const span = { from: start - day, to: start + day };
        const lengths = [
          history.results('shop', null, span).length,
          history.sealed('hours', 'shop', null, span).length,
          history.sealed('days', 'shop', null, span).length,
        ];
        if (lengths.join(' ') !== looked.at(-1)) looked.push(lengths.join(' '));
      }
      expect(looked).toEqual(['2 2 0', '2 2 2', '0 2 2', '0 0 2', '0 0 0']);
    }));

  test('forgets verdicts after their own time, but neither what reaches into it nor the newest', () =>
    withStore(async (_, clock, reopen) => {
      const day = 86_400_000;
      const kept = { rawMs: day, hoursMs: day, daysMs: null, incidentsMs: null };
      const again = await reopen({ retention: { ...kept, verdictsMs: 5 * day } });
      const say = (target: string, days: number, status: 'up' | 'down') =>
        again.record(
          round(target, start + days * day, { verdict: { status, inMaintenance: false, holdsMs: 60 * day } }),
        );
      for (const [days, status] of (['up', 'down', 'up', 'down'] as const).entries()) void say('shop', days, status);
      void say('gone', 0, 'up');
      const seen = async (days: number) => {
        await clock.advance(days * day);
        for (let left = 1_000; again.upkeep() && left > 0; left -= 1);
        const span = { from: start - day, to: start + 100 * day };
        return ['shop', 'gone'].map((target) =>
          again.history.periods(target, span).map(({ from }) => (from - start) / day),
        );
      };
      expect(await seen(5)).toEqual([[0, 1, 2, 3], [0]]);
      expect(await seen(2.5)).toEqual([[2, 3], [0]]);
      expect(await seen(30)).toEqual([[3], [0]]);
    }));

  test('forgets by pieces of a thousand rows, however much is to be forgotten at once', () =>
    withStore(async (store, clock, reopen) => {
      const day = 86_400_000;
      const hour = 3_600_000;
      const names = Array.from({ length: 50 }, (_, index) => `de${index}`);
      for (let index = 0; index < 24; index += 1)
        void store.record(round('shop', start + index * hour, { votes: names.map((name) => vote(name)) }));
      for (let index = 0; index < 1_200; index += 1) {
        const verdict = { status: index % 2 === 0 ? 'up' : 'down', inMaintenance: false, holdsMs: 1 } as const;
        void store.record(round('mail', start + index * 60_000, { votes: [], verdict }));
      }
      await clock.advance(2 * day + hour);
      while (store.upkeep());
      const kept = { rawMs: day, hoursMs: day, daysMs: day, incidentsMs: null, verdictsMs: day };
      const again = await reopen({ retention: kept });
      const span = { from: start, to: clock.now() };
      const left = () => ({
        hours: again.history.sealed('hours', 'shop', null, span).length,
        verdicts: again.history.periods('mail', span).length,
      });
      expect(left()).toEqual({ hours: 1_200, verdicts: 1_200 });
      const gone: number[] = [];
      for (let before = left(), goesOn = true; goesOn;) {
        goesOn = again.upkeep();
        const after = left();
        gone.push(before.hours - after.hours, before.verdicts - after.verdicts);
        before = after;
      }
      expect(Math.max(...gone)).toBeLessThanOrEqual(1_000);
      expect(left()).toEqual({ hours: 0, verdicts: 1 });
    }));

  test('rests once everything that is over is sealed', () =>
    withStore(async (store, clock) => {
      for (let index = 0; index < 3; index += 1) void store.record(round('shop', start + index * 1_800_000));
      await clock.advance(3 * 3_600_000);
      let pieces = 0;
      while (store.upkeep()) pieces += 1;
      expect(pieces).toBeGreaterThan(3);
      expect(store.upkeep()).toBe(false);
      expect(store.recentResults('shop', 0)).toHaveLength(3);
      await clock.advance(600_000);
      expect(store.upkeep()).toBe(false);
    }));

  test('forgets incidents and their deliveries after their own time, never one that is open', () =>
    withStore(async (store, clock, reopen) => {
      void store.record(opening('shop', start));
      void store.record(closing('shop', start, start + 1));
      void store.record(opening('mail', start));
      const day = 86_400_000;
      const again = await reopen({
        retention: { rawMs: day, hoursMs: day, daysMs: null, verdictsMs: null, incidentsMs: day },
      });
      await clock.advance(2 * day);
      for (let left = 1_000; again.upkeep() && left > 0; left -= 1);
      const query = { from: 0, to: clock.now(), target: null, isOpen: null, after: null, limit: 10 };
      expect(again.history.incidents(query).map(({ target }) => target)).toEqual(['mail']);
      expect(again.listDeliveries({ limit: 10 }).map(({ target }) => target)).toEqual(['mail']);
    }));
});
