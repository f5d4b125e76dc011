import { expect, test } from 'vitest';
import { systemRandom } from '#kernel/random.ts';
import { BatchHead, isGranted, readWireResults, type WireResult } from '#protocol/watching.ts';
import { createBatcher } from '#transport/nats/batcher.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { measured } from '../../support/remote-nodes.ts';

const start = Date.UTC(2026, 0, 1);
const results = (count: number, everyMs: number, from = 0) =>
  Array.from({ length: count }, (_, index) => {
    const dueAt = start + (from + index) * everyMs;
    return { target: 'shop', revision: 'a', type: 'tcp', dueAt, startedAt: dueAt, outcome: measured };
  });

interface Batch extends BatchHead {
  readonly sightings: readonly WireResult[];
}

// Throws unless it is one.
function batchOf(payload: string): Batch {
  const written: unknown = JSON.parse(payload);
  const sightings = readWireResults(written);
  if (sightings === null) throw new Error(`these are no results: ${payload}`);
  return { ...BatchHead.parse(written), sightings };
}

function play() {
  const sent: { batch: Batch; isUrgent: boolean | undefined }[] = [];
  const delivery = {
    add: (_: string, payload: string, isUrgent?: boolean) => void sent.push({ batch: batchOf(payload), isUrgent }),
  };
  const batcher = createBatcher({ process: 'p', delivery, random: systemRandom, log: memoryLog().log });
  return { batcher, sent };
}

test('without a grant all is sent, and the head says what it is', () => {
  const { batcher, sent } = play();
  batcher.hand(results(3, 1_000), false);
  batcher.hand(results(1, 1_000, 3), true);
  const heads = sent.map(({ batch: { news, due, results, skipped }, isUrgent }) => [
    news,
    due,
    results,
    skipped,
    isUrgent,
  ]);
  expect(heads).toEqual([
    [false, { from: start, until: start + 2_000 }, 3, undefined, false],
    [true, { from: start + 3_000, until: start + 3_000 }, 1, undefined, true],
  ]);
  batcher.hand([], false);
  expect(sent).toHaveLength(2);
  expect(batcher.skipped).toBe(0);
});

test('of healthy results a node sends what is granted, of the same moments as any other, and tells what it skipped', () => {
  const [one, other] = [play(), play()];
  for (const { batcher } of [one, other]) {
    batcher.granted(0.25);
    for (let at = 0; at < 1_000; at += 10) batcher.hand(results(10, 1_000, at), false);
  }
  const dues = ({ sent }: typeof one) => sent.flatMap(({ batch }) => batch.sightings.map(({ dueAt }) => dueAt));
  expect(dues(one)).toEqual(dues(other));
  expect(dues(one).length).toBeGreaterThan(150);
  expect(dues(one).length).toBeLessThan(350);
  const told = one.sent.reduce((sum, { batch }) => sum + (batch.skipped?.results ?? 0), 0);
  expect(told).toBe(1_000 - dues(one).length);
  expect(one.batcher.skipped).toBe(told);
  for (const { batch } of one.sent)
    for (const { dueAt } of batch.sightings) expect(isGranted(dueAt, 0.25), `${dueAt}`).toBe(true);
});

test('news is sent whatever is granted, and what was skipped is told even if nothing else is', () => {
  const { batcher, sent } = play();
  batcher.granted(0);
  batcher.hand(results(10, 1_000), false);
  batcher.hand(results(2, 1_000, 10), true);
  expect(sent.map(({ batch }) => [batch.sightings.length, batch.skipped])).toEqual([
    [0, { results: 10, due: { from: start, until: start + 9_000 } }],
    [2, undefined],
  ]);
  batcher.granted(1);
  batcher.hand(results(10, 1_000, 12), false);
  expect(sent.at(-1)?.batch.sightings).toHaveLength(10);
});

test('of which due times checks were passed over is told once, with the next batch', () => {
  const { batcher, sent } = play();
  batcher.passedOver({ checks: 1, due: { from: start + 500, until: start + 900 } });
  batcher.passedOver({ checks: 2, due: { from: start + 200, until: start + 600 } });
  expect(sent).toEqual([]);
  batcher.hand(results(1, 1_000), false);
  batcher.hand(results(1, 1_000, 1), false);
  expect(sent.map(({ batch }) => batch.passed)).toEqual([
    { checks: 3, due: { from: start + 200, until: start + 900 } },
    undefined,
  ]);
});

test.each([0.1, 1, 5, 5.5, 8.9, 10, 30, 55, 60, 61, 89, 300])(
  'no target of an interval of %d seconds is skipped for long',
  (seconds) => {
    const rounds = Array.from({ length: 2_000 }, (_, index) => isGranted(start + index * seconds * 1_000, 0.5));
    let [longest, row] = [0, 0];
    for (const isSent of rounds) longest = Math.max(longest, (row = isSent ? 0 : row + 1));
    expect(longest).toBeLessThan(20);
    expect(rounds.filter(Boolean).length / rounds.length).toBeCloseTo(0.5, 1);
  },
);

test.each([0.1, 0.3, 0.5, 0.9])(
  'of every second a share of %d is sent, more or less, and never all of it at once',
  (share) => {
    for (let second = 0; second < 1_000; second += 1) {
      const tenths = Array.from({ length: 10 }, (_, tenth) => isGranted(start + second * 1_000 + tenth * 100, share));
      expect(Math.abs(tenths.filter(Boolean).length - share * 10)).toBeLessThan(2);
    }
  },
);
