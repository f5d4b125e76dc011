import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { LateVote } from '#monitor/judge/round-record.ts';
import type { Store } from '#store/sqlite.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { down, openAt, round, start, tempFolder, up, vote } from '../support/store.ts';
import { unknown } from '../support/votes.ts';

const everyMs = 10_000;
const due = (index: number) => start + index * everyMs;
const verdict = (status: 'up' | 'down' | 'unknown') => ({ status, inMaintenance: false, holdsMs: 2 * everyMs });
const verdictOf: LateVote['verdictOf'] = (statuses) => {
  const count = (status: string) => statuses.filter((one) => one === status).length;
  if (count('up') + count('down') < 2) return null;
  return verdict(count('down') > count('up') ? 'down' : 'up');
};

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

const statusesOf = (store: Store) =>
  store.history
    .periods('shop', { from: start - everyMs, to: start + 100 * everyMs })
    .map(({ from, last, status }) => [(from - start) / everyMs, (last - start) / everyMs, status]);

const names = ['de1', 'us1', 'jp1'];

async function interrupted(store: Store, clock: FakeClock) {
  for (let index = 0; index < 8; index += 1) {
    const isLost = index >= 2 && index < 6;
    const votes = names.map((name) => vote(name, isLost ? unknown() : up()));
    const stored = store.record(round('shop', due(index), { votes, verdict: verdict(isLost ? 'unknown' : 'up') }));
    await clock.advance(everyMs);
    expect(await stored).toBe('stored');
  }
}

test('a round that was completed later has the verdict and the votes that it got, also after a restart', async () =>
  withStore(async (store, clock, reopen) => {
    await interrupted(store, clock);
    expect(statusesOf(store)).toEqual([
      [0, 1, 'up'],
      [2, 5, 'unknown'],
      [6, 7, 'up'],
    ]);
    for (const [index, outcome] of [up(), down('refused'), down('refused'), up()].entries()) {
      const votes = [vote('de1', outcome), vote('us1', outcome), vote('jp1', unknown())];
      const status = outcome.status === 'up' ? 'up' : 'down';
      const revisedAt = clock.now();
      const stored = store.record(round('shop', due(2 + index), { votes, verdict: verdict(status), revisedAt }));
      await clock.advance(1_000);
      expect(await stored).toBe('stored');
    }
    const expected = [
      [0, 2, 'up'],
      [3, 4, 'down'],
      [5, 7, 'up'],
    ];
    expect(statusesOf(store)).toEqual(expected);
    const again = await reopen();
    expect(statusesOf(again)).toEqual(expected);
    const results = again.recentResults('shop', due(3)).filter(({ dueAt }) => dueAt === due(3));
    expect(results.map(({ node, status }) => [node, status])).toEqual([
      ['de1', 'down'],
      ['jp1', 'unknown'],
      ['us1', 'down'],
    ]);
  }));

test('votes that come too late to be judged still give their round a verdict, once they are enough for it', async () =>
  withStore(async (store, clock, reopen) => {
    await interrupted(store, clock);
    const results: string[] = [];
    for (const index of [5, 2, 4, 3]) {
      for (const node of ['de1', 'us1', 'jp1']) {
        const late = {
          target: 'shop',
          dueAt: due(index),
          vote: vote(node, down('refused')),
          at: clock.now(),
          verdictOf,
        };
        const stored = store.recordLate(late);
        await clock.advance(1_000);
        results.push(await stored);
      }
    }
    expect(results.slice(0, 3)).toEqual(['stored', 'revised', 'stored']);
    const expected = [
      [0, 1, 'up'],
      [2, 5, 'down'],
      [6, 7, 'up'],
    ];
    expect(statusesOf(store)).toEqual(expected);
    const again = await reopen();
    expect(statusesOf(again)).toEqual(expected);
    expect(again.history.lastVerdict('shop')).toBe(due(7));
  }));

test('an hour that nobody judged counts as what nodes saw, beyond what is stored and before it', async () =>
  withStore(async (store, clock) => {
    const stored = store.record(round('shop', due(0), { votes: [vote('de1', up())], verdict: verdict('up') }));
    await clock.advance(3_000);
    await stored;
    for (let index = 10; index < 15; index += 1) {
      for (const node of ['de1', 'us1']) {
        const late = {
          target: 'shop',
          dueAt: due(index),
          vote: vote(node, down('refused')),
          at: clock.now(),
          verdictOf,
        };
        const added = store.recordLate(late);
        await clock.advance(1_000);
        await added;
      }
    }
    expect(statusesOf(store)).toEqual([
      [0, 0, 'up'],
      [10, 14, 'down'],
    ]);
  }));
