import { expect, test } from 'vitest';
import { canTake, isHeld, type Lease, leaseTimes, nextEpoch, observeLease } from '#hubs/lease.ts';
import { effectOf } from '#hubs/position.ts';

const lease: Lease = { hub: 'a', epoch: 3, revision: 7, isReleased: false };

test('a lease may be taken ten seconds after its last change, by the own clock', () => {
  const first = observeLease(null, lease, 1_000);
  const again = observeLease(observeLease(first, { ...lease }, 5_000), { ...lease }, 9_000);
  expect(canTake(again, 10_999, leaseTimes)).toBe(false);
  expect(canTake(again, 11_000, leaseTimes)).toBe(true);
  const renewed = observeLease(again, { ...lease, revision: 8 }, 10_500);
  expect(canTake(renewed, 20_499, leaseTimes)).toBe(false);
});

test('a hub that could not look for a while waits anew', () => {
  const first = observeLease(null, lease, 1_000);
  const back = observeLease(first, { ...lease }, 60_000);
  expect(canTake(back, 69_999, leaseTimes)).toBe(false);
  expect(canTake(back, 70_000, leaseTimes)).toBe(true);
});

test('a lease that was handed over may be taken at once, and so may one that nobody ever held', () => {
  expect(canTake(observeLease(null, { ...lease, isReleased: true }, 0), 0, leaseTimes)).toBe(true);
  expect(canTake(observeLease(null, null, 0), 0, leaseTimes)).toBe(true);
});

test('a leader stops before anybody else may take its lease', () => {
  expect(isHeld(0, leaseTimes.stopAfterMs - 1, leaseTimes)).toBe(true);
  expect(isHeld(0, leaseTimes.stopAfterMs, leaseTimes)).toBe(false);
  expect(leaseTimes.stopAfterMs).toBeLessThan(leaseTimes.takeAfterMs);
  expect(2 * leaseTimes.renewEveryMs).toBeLessThan(leaseTimes.stopAfterMs);
});

test('an epoch is higher than any in the lease and in the log', () => {
  expect(nextEpoch(observeLease(null, lease, 0), { epoch: 9 })).toBe(10);
  expect(nextEpoch(observeLease(null, lease, 0), { epoch: 1 })).toBe(4);
  expect(nextEpoch(observeLease(null, null, 0), { epoch: 0 })).toBe(1);
});

test('a record counts only right after what its writer had read, in its epoch, without a gap', () => {
  const position = { sequence: 10, epoch: 2, n: 8 };
  expect(effectOf(position, { epoch: 2, n: 9, after: 10 }, 11)).toBe('counts');
  expect(effectOf(position, { epoch: 3, n: 9, after: 10 }, 11)).toBe('counts');
  expect(effectOf(position, { epoch: 1, n: 9, after: 10 }, 11)).toBe('void');
  expect(effectOf(position, { epoch: 2, n: 9, after: 9 }, 11)).toBe('void');
  expect(effectOf(position, { epoch: 2, n: 8, after: 10 }, 11)).toBe('void');
  expect(effectOf(position, { epoch: 2, n: 10, after: 10 }, 11)).toBe('gap');
  expect(effectOf(position, { epoch: 3, n: 8, after: 10 }, 11)).toBe('diverged');
});
