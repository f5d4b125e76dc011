import { expect, test } from 'vitest';
import { createStoredRounds } from '#service/stored-rounds.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const round = { target: 'shop', dueAt: 4_000 };
const name = 'shop/4000';

function rounds() {
  const done: string[] = [];
  const stored = createStoredRounds(new FakeClock());
  return { done, stored, after: (what: string) => stored.after(round, () => done.push(what)) };
}

test('what belongs to a round is done when that is stored, and once', () => {
  const { done, stored, after } = rounds();
  after('de1');
  after('us1');
  stored.judged(round);
  expect(done).toEqual([]);
  stored.stored('shop/3000');
  stored.stored('mail/4000');
  stored.stored('no name');
  expect(done).toEqual([]);
  stored.stored(name);
  stored.stored(name);
  expect(done).toEqual(['de1', 'us1']);
});

test('what came after the round was judged waits until it was judged again and stored', () => {
  const { done, stored, after } = rounds();
  after('us1');
  stored.judged(round);
  after('de1');
  stored.stored(name);
  expect(done).toEqual(['us1']);
  stored.stored(name);
  expect(done).toEqual(['us1']);
  stored.judged(round);
  after('jp1');
  stored.stored(name);
  expect(done).toEqual(['us1', 'de1']);
  stored.judged(round);
  stored.stored(name);
  expect(done).toEqual(['us1', 'de1', 'jp1']);
});

test('of a round that is judged again before it is stored, each record has what came until it was judged', () => {
  const { done, stored, after } = rounds();
  after('us1');
  stored.judged(round);
  after('de1');
  stored.judged(round);
  after('jp1');
  stored.judged(round);
  for (const expected of [['us1'], ['us1', 'de1'], ['us1', 'de1', 'jp1']]) {
    stored.stored(name);
    expect(done).toEqual(expected);
  }
});

test('a round that had no vote when it was judged does nothing when it is stored', () => {
  const { done, stored, after } = rounds();
  stored.after({ target: 'mail', dueAt: 1 }, () => done.push('mail'));
  stored.judged(round);
  after('de1');
  stored.judged(round);
  stored.stored(name);
  expect(done).toEqual([]);
  stored.stored(name);
  expect(done).toEqual(['de1']);
});

test('what was never stored is forgotten after minutes', async () => {
  const clock = new FakeClock();
  const done: string[] = [];
  const stored = createStoredRounds(clock);
  stored.after(round, () => done.push('de1'));
  stored.judged(round);
  await clock.advance(331_000);
  stored.forget();
  stored.stored(name);
  expect(done).toEqual([]);
});

test('several rounds of a target are stored in any order', () => {
  const orders = [
    [1, 2, 3],
    [3, 2, 1],
    [2, 1, 3],
    [2, 3, 1],
  ];
  for (const order of orders) {
    const done: number[] = [];
    const stored = createStoredRounds(new FakeClock());
    for (const dueAt of [1, 2, 3]) {
      stored.after({ target: 'shop', dueAt }, () => done.push(dueAt));
      stored.judged({ target: 'shop', dueAt });
    }
    for (const dueAt of [...order, ...order]) stored.stored(`shop/${dueAt}`);
    expect(done).toEqual(order);
  }
});

test('of several rounds of a target those that came last are not forgotten with the others', async () => {
  const clock = new FakeClock();
  const done: number[] = [];
  const stored = createStoredRounds(clock);
  for (const dueAt of [1, 2, 3]) {
    stored.after({ target: 'shop', dueAt }, () => done.push(dueAt));
    stored.judged({ target: 'shop', dueAt });
    await clock.advance(dueAt === 2 ? 200_000 : 1_000);
  }
  await clock.advance(120_000);
  stored.forget();
  for (const dueAt of [1, 2, 3]) stored.stored(`shop/${dueAt}`);
  expect(done).toEqual([3]);
});
