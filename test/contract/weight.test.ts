import { statSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { weightAfter } from '#history/weight.ts';
import { hourMs } from '#kernel/units.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { openAt, round, start, tempFolder, up, vote } from '../support/store.ts';

const kept = { rawMs: Infinity, hoursMs: Infinity, daysMs: null };
const targets = Array.from({ length: 30 }, (_, index) => `target-${index}`);
const nodes = ['de1', 'us1'];

/** How many bytes a database has with so many hours of results of every half minute, sealed. */
async function measure(hours: number): Promise<number> {
  using folder = tempFolder();
  const path = join(folder.path, 'watchpost.db');
  const clock = new FakeClock(new Date(start + (hours + 3) * hourMs).toISOString());
  const random = seededRandom(1);
  await using store = openAt(path, clock);
  for (let dueAt = start; dueAt < start + hours * hourMs; dueAt += 30_000) {
    const stored = targets.map(async (target) => {
      const votes = nodes.map((node) => vote(node, up(Math.round(5_000 * 2 ** (random.next() * 2)) / 1e6)));
      return store.record(round(target, dueAt, { votes }));
    });
    await clock.advance(1_000);
    await Promise.all(stored);
  }
  for (let left = 100_000; store.upkeep() && left > 0; left -= 1);
  expect(store.upkeepProgress().oldestUnsealed).toBeNull();
  // A copy without free pages; a file that is in use has some.
  const copy = join(folder.path, 'copy.db');
  const database = new Database(path, { readonly: true });
  database.prepare('VACUUM INTO ?').run(copy);
  database.close();
  return statSync(copy).size;
}

test('what config plan says of the disk is what the store keeps of results that are sealed', async () => {
  const traffic = [{ pairs: targets.length * nodes.length, resultsADay: 2_880 }];
  const [few, many] = [await measure(2), await measure(6)];
  const planned = weightAfter(6 * hourMs, traffic, kept) - weightAfter(2 * hourMs, traffic, kept);
  // The copy has no free pages; a file that is in use has some.
  expect((many - few) / planned).toBeGreaterThan(0.85);
  expect((many - few) / planned).toBeLessThan(1.05);
  const months = (count: number) => weightAfter(count * 30 * 24 * hourMs, traffic, kept);
  expect((months(2) - months(1)) / (60 * 2_880 * 30)).toBeCloseTo(3.6, 1);
});
