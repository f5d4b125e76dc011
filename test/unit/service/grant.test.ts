import { expect, test } from 'vitest';
import { createGrant } from '#service/grant.ts';
import { FakeClock } from '../../support/fake-clock.ts';

interface HubPlay {
  /** How many results it can read in a second. */
  readonly perSecond: (second: number) => number;
  readonly offered: (second: number) => number;
  readonly seconds: number;
  /** After how many seconds a grant shows in what comes. */
  readonly delay?: number;
  /** What taking in a result takes of reading one; then all that waits is skipped with the oldest. */
  readonly intake?: number;
}

/** Nodes that have so many results each second, and a hub that reads what it can. What waits for eight seconds is skipped. */
function play({ perSecond, offered, seconds, delay = 3, intake = 0 }: HubPlay) {
  const clock = new FakeClock();
  const waiting: { results: number; readonly since: number }[] = [];
  const counts = { came: 0, read: 0, skipped: 0 };
  const waitedMs = () => {
    const first = waiting.find(({ results }) => results > 0);
    return first === undefined ? 0 : clock.elapsed() - first.since;
  };
  const grant = createGrant(clock, () => ({ ...counts, waitedMs: waitedMs() }));
  const shares: number[] = [];
  let granted = 1;
  const read: number[] = [];
  for (let second = 0; second < seconds; second += 1) {
    const before = counts.read + counts.skipped;
    const results = offered(second);
    const sent = results * (shares.at(-delay) ?? 1);
    grant.leftOut(results - sent);
    counts.came += sent;
    waiting.push({ results: sent, since: clock.elapsed() });
    let left = Math.max(0, perSecond(second) - intake * sent);
    const skipsAll = intake > 0 && waitedMs() > 8_000;
    for (const one of waiting) {
      if (skipsAll || clock.elapsed() - one.since > 8_000) {
        counts.skipped += one.results;
        one.results = 0;
      }
      const some = Math.min(one.results, left);
      one.results -= some;
      left -= some;
    }
    const now = Math.max(0, perSecond(second) - intake * sent) - left;
    counts.read += now;
    read.push(now);
    clock.hold(1_000);
    // With a receipt, of what was read or skipped.
    if (intake === 0 || counts.read + counts.skipped > before) granted = grant.share();
    shares.push(granted);
  }
  return { shares, read, grant, clock };
}

const sum = (all: readonly number[]) => all.reduce((before, one) => before + one, 0);

test('all is granted as long as results are read in time', () => {
  const { shares, grant } = play({ perSecond: () => 1_000, offered: () => 900, seconds: 100 });
  expect(new Set(shares)).toEqual(new Set([1]));
  expect(grant.isRecent()).toBe(false);
});

test.each([
  [1.5, 3],
  [2, 3],
  [4, 1],
  [4, 3],
  [4, 8],
  [10, 3],
  [10, 8],
])(
  'of %d times of what can be read nodes send about as much as that, %d seconds after they were granted it',
  (times, delay) => {
    const { shares, read, grant } = play({ perSecond: () => 1_000, offered: () => 1_000 * times, seconds: 300, delay });
    expect(sum(read)).toBeGreaterThan(0.9 * 300 * 1_000);
    const settled = shares.slice(60);
    expect(sum(settled) / settled.length).toBeLessThan(1.25 / times);
    expect(Math.min(...shares)).toBeGreaterThanOrEqual(1 / 16);
    expect(grant.isRecent()).toBe(true);
  },
);

test.each(
  [2, 3].flatMap((halt) => [1.5, 2.5, 5].flatMap((times) => [3, 6].map((delay) => [halt, times, delay] as const))),
)(
  'where reading comes to a halt for %d seconds of ten, of %d times of what can be read nodes send about as much, %d seconds after they were granted it',
  (halt, times, delay) => {
    const perSecond = (second: number) => (second % 10 < halt ? 0 : 1_000);
    const { read } = play({ perSecond, offered: () => 1_000 * times, seconds: 300, delay });
    expect(sum(read.slice(100))).toBeGreaterThan(0.9 * sum(read.map((_, second) => perSecond(second)).slice(100)));
  },
);

test.each([12_000, 8_000, 4_000])(
  'a hub that can read %d a second, but for collections of garbage and long pages, reads most of that of 20,000',
  (most) => {
    const perSecond = (second: number) => (second % 16 < 3 ? 0 : second % 35 < 5 ? most / 2 : most);
    const { read } = play({ perSecond, offered: () => 20_000, seconds: 400, intake: 0.2 });
    expect(sum(read.slice(100)) / (sum(read.map((_, second) => perSecond(second)).slice(100)) / 1.2)).toBeGreaterThan(
      0.9,
    );
  },
);

test('a hub that can suddenly read a tenth reads as much as it can half a minute later', () => {
  const perSecond = (second: number) => (second < 100 ? 10_000 : 1_000);
  const { read } = play({ perSecond, offered: () => 8_000, seconds: 190 });
  expect(sum(read.slice(130))).toBeGreaterThan(0.9 * 60 * 1_000);
});

test('all is granted again soon after it became less', () => {
  const { shares, grant, clock } = play({
    perSecond: () => 1_000,
    offered: (second) => (second < 60 ? 5_000 : 500),
    seconds: 120,
  });
  expect(shares[59]).toBeLessThan(0.4);
  expect(shares.at(-1)).toBe(1);
  clock.hold(120_000);
  expect(grant.isRecent()).toBe(false);
});
