import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { createReader } from '#history/create-reader.ts';
import { dayMs, hourMs } from '#kernel/units.ts';
import { mortal } from '../../support/children.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { down, openAt, round, start, tempFolder, up, vote } from '../../support/store.ts';

const child = new URL('../../support/store-child.ts', import.meta.url).pathname;
const names = ['mail', 'shop'];
const days = 3;
const end = start + days * dayMs + 2 * hourMs;

/** Three days of two targets at two nodes every five minutes, nothing of it sealed; in the first there were no verdicts yet. */
async function record(path: string): Promise<void> {
  const clock = new FakeClock(new Date(start).toISOString());
  const random = seededRandom(3);
  await using store = openAt(path, clock);
  const stored: Promise<unknown>[] = [];
  for (let dueAt = start; dueAt < start + days * dayMs; dueAt += 300_000) {
    for (const name of names) {
      const isDown = random.next() < 0.05;
      const votes = ['de1', 'us1'].map((node) => vote(node, isDown ? down() : up(random.next())));
      const verdict = { status: isDown ? 'down' : 'up', inMaintenance: false, holdsMs: 600_000 } as const;
      stored.push(store.record(round(name, dueAt, { votes, ...(dueAt < start + dayMs ? {} : { verdict }) })));
    }
  }
  await clock.advance(60_000);
  await Promise.all(stored);
}

/** Lets a child seal, and kills it after `ms`. Tells whether it was through before. */
async function sealFor(folder: string, ms: number): Promise<boolean> {
  const sealing = mortal(spawn(process.execPath, [child, 'seal', folder], { stdio: ['ignore', 'pipe', 'inherit'] }));
  const lines = createInterface(sealing.stdout);
  let isThrough = false;
  lines.on('line', (line) => {
    if (line === 'through') isThrough = true;
    else setTimeout(() => sealing.kill('SIGKILL'), ms);
  });
  await Promise.all([once(sealing, 'exit'), once(lines, 'close')]);
  return isThrough;
}

/** The numbers of every kind: of days, of hours and of single results. */
async function numbersOf(path: string): Promise<unknown> {
  const clock = new FakeClock(new Date(end).toISOString());
  await using store = openAt(path, clock);
  const left = store.upkeepProgress();
  const reader = createReader({ source: store.history, targets: () => [], clock });
  const all = names.map(async (target) => {
    const of = { target };
    return [
      await reader.series({ from: start, to: end, of, stepMs: dayMs }),
      await reader.series({ from: start, to: end, of, stepMs: hourMs }),
      await reader.series({ from: start + 600_000, to: start + dayMs, of, stepMs: 600_000 }),
      await reader.rounds(target, { limit: 30 }),
    ];
  });
  const { sealedUntil, oldestUnsealed, targetsUnjudged } = left;
  return { sealedUntil, oldestUnsealed, targetsUnjudged, all: await Promise.all(all) };
}

test('kill -9 at any moment of sealing and converting, again and again, comes to the same numbers', async () => {
  using folder = tempFolder();
  const [unsealed, whole, path] = ['unsealed.db', 'whole.db', 'watchpost.db'].map((name) => join(folder.path, name));
  if (unsealed === undefined || whole === undefined || path === undefined) throw new Error('three names');
  await record(unsealed);
  copyFileSync(unsealed, whole);
  copyFileSync(unsealed, path);
  writeFileSync(join(folder.path, 'scene.json'), JSON.stringify({ end }));
  {
    await using store = openAt(whole, new FakeClock(new Date(end).toISOString()));
    while (store.upkeep());
  }
  const expected = await numbersOf(whole);
  const random = seededRandom(11);
  let kills = 0;
  // Each has longer than the one before, so that it ends.
  while (!(await sealFor(folder.path, random.next() * 150 * (kills + 1)))) kills += 1;
  expect(kills).toBeGreaterThan(1);
  expect(await numbersOf(path)).toEqual(expected);
  const sealed = new Database(path, { readonly: true });
  expect(sealed.pragma('integrity_check', { simple: true })).toBe('ok');
  expect(sealed.prepare('SELECT count(*) FROM results').pluck().get()).toBe(0);
  // Every hour once, and none with a pack of its own that nobody knows.
  expect(sealed.prepare('SELECT count(*) FROM sealed_hours').pluck().get()).toBe(4 * days * 24);
  expect(sealed.prepare('SELECT count(*) FROM packs').pluck().get()).toBe(4 * days * 24);
  sealed.close();
});
