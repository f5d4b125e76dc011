import { expect, test } from 'vitest';
import { createGrant } from '#service/grant.ts';
import { FakeClock } from '../../support/fake-clock.ts';

/** A hub that can read `perSecond` results: nodes have `offered` of them each second, and send what they were granted 3 s before. */
function play(perSecond: number, offered: (second: number) => number, seconds: number) {
  const clock = new FakeClock();
  let unread = 0;
  const grant = createGrant(clock, () => (unread / perSecond) * 1_000);
  const shares: number[] = [];
  let read = 0;
  for (let second = 0; second < seconds; second += 1) {
    unread += offered(second) * (shares.at(-3) ?? 1);
    // The inbox holds no more than five seconds.
    unread = Math.min(unread, 5 * perSecond);
    const done = Math.min(unread, perSecond);
    read += done;
    unread -= done;
    clock.hold(1_000);
    shares.push(grant.share());
  }
  return { shares, read, grant, clock };
}

test('all is granted as long as results are read in time', () => {
  const { shares, grant } = play(1_000, () => 900, 100);
  expect(new Set(shares)).toEqual(new Set([1]));
  expect(grant.isRecent()).toBe(false);
});

test.each([1.5, 2, 4, 10])('of %d times of what can be read nodes send about as much as that', (times) => {
  const { shares, read, grant } = play(1_000, () => 1_000 * times, 300);
  expect(read).toBeGreaterThan(0.9 * 300 * 1_000);
  const settled = shares.slice(60);
  expect(settled.reduce((sum, share) => sum + share, 0) / settled.length).toBeLessThan(1.25 / times);
  expect(Math.min(...shares)).toBeGreaterThanOrEqual(1 / 16);
  expect(grant.isRecent()).toBe(true);
});

test('all is granted again soon after it became less', () => {
  const { shares, grant, clock } = play(1_000, (second) => (second < 60 ? 5_000 : 500), 120);
  expect(shares[59]).toBeLessThan(0.4);
  expect(shares.at(-1)).toBe(1);
  clock.hold(120_000);
  expect(grant.isRecent()).toBe(false);
});
