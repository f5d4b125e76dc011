import { expect, test } from 'vitest';
import { DueTimes } from '#store/sealing/due-times.ts';
import { seededRandom } from '../../support/seeded-random.ts';

/** In the order in which they are given. */
function timesOf(...added: readonly number[]): DueTimes {
  const times = new DueTimes();
  for (const dueAt of added) times.add(dueAt);
  return times;
}

test.each([
  ['none', [], [], Number.NEGATIVE_INFINITY],
  ['one', [10], [10], 10],
  ['a schedule', [10, 30, 50, 70], [10, 30, 50, 70], 70],
  ['another schedule', [10, 30, 50, 57, 64, 71], [10, 30, 50, 57, 64, 71], 71],
  ['one twice', [10, 30, 30, 10, 50], [10, 30, 50], 50],
  ['one beside the schedule, later', [10, 30, 50, 35], [10, 30, 35, 50], 50],
  ['what was missed, later', [10, 30, 90, 110, 50, 70], [10, 30, 50, 70, 90, 110], 110],
  ['what was missed, from the newest on', [10, 30, 90, 110, 70, 50], [10, 30, 50, 70, 90, 110], 110],
  ['one after what was missed', [10, 50, 30, 70], [10, 30, 50, 70], 70],
  ['the first one last', [30, 50, 10], [10, 30, 50], 50],
])('%s', (_, added, all, last) => {
  const times = timesOf(...added);
  expect(times.between(0, 1_000)).toEqual(all);
  expect(times.last).toBe(last);
});

test('the end of a span is not in it, its beginning is', () => {
  const times = timesOf(10, 30, 50, 70, 77);
  expect(times.between(30, 70)).toEqual([30, 50]);
  expect(times.between(31, 78)).toEqual([50, 70, 77]);
  expect(times.between(51, 52)).toEqual([]);
  expect(times.between(90, 20)).toEqual([]);
});

test('what was dropped is gone', () => {
  const times = timesOf(10, 30, 50, 57);
  times.dropBefore(30);
  expect(times.between(0, 100)).toEqual([30, 50, 57]);
  times.dropBefore(51);
  expect(times.between(0, 100)).toEqual([57]);
  times.dropBefore(58);
  expect(times.between(0, 100)).toEqual([]);
  expect(times.last).toBe(Number.NEGATIVE_INFINITY);
});

test('any order gives the times in order, each once', () => {
  const random = seededRandom(7);
  const upTo = (most: number) => Math.floor(random.next() * most);
  for (let turn = 0; turn < 500; turn += 1) {
    const step = 1 + upTo(4);
    const times = new DueTimes();
    let all = new Set<number>();
    for (let action = 0; action < 40; action += 1) {
      const at = upTo(10) === 0 ? upTo(60) : step * upTo(20);
      if (upTo(20) > 0) {
        times.add(at);
        all.add(at);
      } else {
        times.dropBefore(at);
        all = new Set([...all].filter((dueAt) => dueAt >= at));
      }
      const sorted = [...all].toSorted((a, b) => a - b);
      expect(times.between(0, 100)).toEqual(sorted);
      expect(times.last).toBe(sorted.at(-1) ?? Number.NEGATIVE_INFINITY);
      const [from, to] = [upTo(60), upTo(60)];
      expect(times.between(from, to)).toEqual(sorted.filter((dueAt) => dueAt >= from && dueAt < to));
    }
  }
});
