import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { timeIn } from '#history/verdict-periods.ts';
import { dayMs, hourMs } from '#kernel/units.ts';
import type { Store } from '#store/sqlite.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { closing, openAt, opening, round, start, tempFolder, up, vote } from '../../support/store.ts';

const everyMs = 10_000;
const jumps = { '+5 h': 5 * hourMs, '+100 d': 100 * dayMs, '+10 y': 3_650 * dayMs, '-1 h': -hourMs };
const isUp = { status: 'up', inMaintenance: false, holdsMs: 2 * everyMs } as const;
const retention = { rawMs: 2 * dayMs, hoursMs: 3 * dayMs, daysMs: 4 * dayMs, verdictsMs: dayMs, incidentsMs: dayMs };

async function watch(store: Store, clock: FakeClock, ms: number): Promise<void> {
  for (const end = clock.elapsed() + ms; clock.elapsed() < end;) {
    const stored = store.record(
      round('shop', clock.now(), { votes: [vote('de1', up(clock.elapsed() / 1e9))], verdict: isUp }),
    );
    await clock.advance(everyMs);
    await stored;
  }
}

function keepUp(store: Store): void {
  for (let left = 10_000; store.upkeep(); left -= 1) if (left === 0) throw new Error('upkeep never ends');
}

function countOf(store: Store, from: number, to: number): number {
  return store.history.results('shop', null, { from, to }).length;
}

function upMs(store: Store, from: number, now: number): number {
  return timeIn({ from, to: now }, store.history.periods('shop', { from, to: now }), now).up;
}

describe.each(Object.entries(jumps))('a clock that was set by %s for a while', (_, byMs) => {
  test.each(['over a restart', 'while running'])('%s costs no history, and verdicts go on', async (when) => {
    using folder = tempFolder();
    const clock = new FakeClock(new Date(start).toISOString());
    const path = join(folder.path, 'watchpost.db');
    let store = openAt(path, clock, { retention });
    const turn = async (ms: number) => {
      if (when === 'over a restart') await store.close();
      clock.step(ms);
      if (when === 'over a restart') store = openAt(path, clock, { retention });
      else if (ms < 0) store.clipFuture(null);
    };
    const before = 3 * hourMs + 20 * 60_000;
    await watch(store, clock, before);
    keepUp(store);
    void store.record(opening('mail', start));
    void store.record(closing('mail', start, start + 1));
    const count = countOf(store, start, start + before);
    expect(count).toBe(before / everyMs);

    await turn(byMs);
    const wrong = clock.now();
    await watch(store, clock, 30_000);
    keepUp(store);
    expect(countOf(store, start, start + before)).toBe(byMs > 0 ? count : count + 3);

    await turn(-byMs);
    const back = clock.now();
    await watch(store, clock, 10 * 60_000);
    keepUp(store);
    expect(upMs(store, back, clock.now())).toBe(10 * 60_000);
    expect(countOf(store, start, start + before)).toBe(byMs > 0 ? count : count + 3);
    expect(countOf(store, back, clock.now())).toBe(60);
    expect(
      store.history.incidents({ from: 0, to: clock.now(), target: null, isOpen: null, after: null, limit: 9 }),
    ).toHaveLength(1);
    const marks = store.history.kept();
    expect(Math.max(marks.hoursUntil, marks.daysUntil, marks.hoursFrom, marks.resultsFrom)).toBeLessThanOrEqual(
      clock.now(),
    );

    // The hour in which it was, and the day, are sealed whole.
    await watch(store, clock, 2 * hourMs);
    keepUp(store);
    const hour = Math.floor(back / hourMs) * hourMs;
    expect(store.history.kept().hoursUntil).toBeGreaterThan(hour);
    const [sums] = store.history.sealed('hours', 'shop', null, { from: hour, to: hour + hourMs });
    expect(sums?.up).toBe(countOf(store, hour, hour + hourMs));
    if (byMs > 0) expect(countOf(store, wrong, wrong + 30_000)).toBe(3);
    await store.close();
  });
});

test('what was stored under a clock that was ahead hides no verdict after an hour of it', async () => {
  using folder = tempFolder();
  const clock = new FakeClock(new Date(start).toISOString());
  await using store = openAt(join(folder.path, 'watchpost.db'), clock);
  await watch(store, clock, hourMs);
  clock.step(100 * dayMs);
  await watch(store, clock, 3 * hourMs);
  keepUp(store);
  clock.step(-100 * dayMs);
  expect(store.clipFuture(null)).toBe(true);
  expect(store.clipFuture(null)).toBe(false);
  const back = clock.now();
  await watch(store, clock, 2 * hourMs);
  keepUp(store);
  expect(upMs(store, back, clock.now())).toBe(2 * hourMs);
  expect(countOf(store, back, clock.now())).toBe((2 * hourMs) / everyMs);
});

describe.each([
  { name: 'an hour', byMs: hourMs },
  { name: 'a hundred days', byMs: 100 * dayMs },
])('a clock that was $name ahead while the program watched it', ({ byMs }) => {
  const isDown = { ...isUp, status: 'down' } as const;

  test.each([60_000, 50 * 60_000])('what happened in these %d ms goes to when it did', async (aheadForMs) => {
    using folder = tempFolder();
    const clock = new FakeClock(new Date(start).toISOString());
    const path = join(folder.path, 'watchpost.db');
    const store = openAt(path, clock);
    const span = { from: start, to: start + 4 * hourMs };
    const spans = (of: Store) => timeIn(span, of.history.periods('shop', span), clock.now());
    await watch(store, clock, 20 * 60_000);
    const jumpAt = clock.now();
    clock.step(byMs);
    // It is down for the first half of this time, and for half a minute after it.
    for (const end = clock.elapsed() + aheadForMs; clock.elapsed() < end;) {
      const verdict = clock.elapsed() < end - aheadForMs / 2 ? isDown : isUp;
      void store.record(round('shop', clock.now(), { votes: [vote('de1', up(0.1))], verdict }));
      await clock.advance(everyMs);
    }
    keepUp(store);
    clock.step(-byMs);
    expect(store.clipFuture({ from: jumpAt + byMs, byMs })).toBe(true);
    const expected = { up: 20 * 60_000 + aheadForMs / 2, down: aheadForMs / 2 };
    expect(spans(store)).toMatchObject(expected);
    expect(countOf(store, start, clock.now())).toBe((clock.now() - start) / everyMs);
    expect(countOf(store, clock.now() + 1, clock.now() + 2 * byMs)).toBe(0);
    await watch(store, clock, 10 * 60_000);
    keepUp(store);
    expect(spans(store)).toMatchObject({ ...expected, up: expected.up + 10 * 60_000 });
    await store.close();
    await using again = openAt(path, clock);
    expect(spans(again)).toMatchObject({ ...expected, up: expected.up + 10 * 60_000 });
    // Its hours are sealed whole.
    await watch(again, clock, 2 * hourMs);
    keepUp(again);
    const [sums] = again.history.sealed('hours', 'shop', null, { from: start, to: start + hourMs });
    expect(sums?.up).toBe(hourMs / everyMs);
  });
});

test('retention goes on after a real absence, no faster than twice the time that passes', async () => {
  using folder = tempFolder();
  const clock = new FakeClock(new Date(start).toISOString());
  const path = join(folder.path, 'watchpost.db');
  const first = openAt(path, clock, { retention });
  await watch(first, clock, hourMs);
  keepUp(first);
  await first.close();
  clock.step(30 * dayMs);
  await using store = openAt(path, clock, { retention });
  keepUp(store);
  expect(countOf(store, start, start + hourMs)).toBe(360);
  for (let hours = 0; hours < 20; hours += 1) {
    await clock.advance(hourMs);
    keepUp(store);
  }
  expect(countOf(store, start, start + hourMs)).toBe(360);
  for (let hours = 0; hours < 20; hours += 1) {
    await clock.advance(hourMs);
    keepUp(store);
  }
  expect(countOf(store, start, start + hourMs)).toBe(0);
});

test('keeps what the clock said', async () => {
  using folder = tempFolder();
  const clock = new FakeClock();
  const path = join(folder.path, 'watchpost.db');
  const first = openAt(path, clock);
  expect(first.lastClock()).toBeNull();
  first.keepClock({ at: 1_000, bootId: 2 ** 47 + 1, bootAt: 500.5 });
  await first.close();
  await using again = openAt(path, clock);
  expect(again.lastClock()).toEqual({ at: 1_000, bootId: 2 ** 47 + 1, bootAt: 500 });
});
