import { expect, test } from 'vitest';
import type { Observation } from '#protocol/watching.ts';
import { createInbox } from '#service/inbox.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { up } from '../../support/votes.ts';

const sightings = (count: number, from = 0): readonly Observation[] =>
  Array.from({ length: count }, (_, index) => {
    const dueAt = from + index;
    return { target: 'shop', revision: '1', dueAt, outcome: up(), startedAt: dueAt };
  });

/** An inbox where each sighting takes so many milliseconds to be read. */
function slow(msEach: number) {
  const clock = new FakeClock();
  const seen: { dueAt: number; isBehind: boolean; readUntil: number }[] = [];
  const givenUp: number[] = [];
  const inbox = createInbox({
    clock,
    read(told, from, to, isBehind) {
      for (const { dueAt } of told.sightings.slice(from, to)) {
        clock.hold(msEach);
        seen.push({ dueAt, isBehind, readUntil: inbox.readUntil });
      }
    },
    giveUp: (told, from) => void givenUp.push(...told.sightings.slice(from).map(({ dueAt }) => dueAt)),
  });
  return { clock, inbox, seen, givenUp };
}

test('what is little is read at once, and nothing before it may be', () => {
  const { inbox, seen } = slow(0);
  inbox.add('zz1', sightings(3), null);
  expect(seen).toEqual([]);
  inbox.open();
  inbox.add('zz1', sightings(2, 3), null);
  expect(seen.map(({ dueAt }) => dueAt)).toEqual([0, 1, 2, 3, 4]);
});

test('what is much is read in its order and in short turns, and others have theirs in between', async () => {
  const { clock, inbox, seen } = slow(1);
  inbox.open();
  const turns: number[] = [];
  const look = () => {
    turns.push(seen.length);
    if (seen.length < 500) clock.after(0, look);
  };
  clock.after(0, look);
  inbox.add('zz1', sightings(256), null);
  inbox.add('zz2', sightings(244, 256), null);
  expect(seen.length).toBeLessThan(50);
  await clock.advance(1_000);
  expect(seen.map(({ dueAt }) => dueAt)).toEqual(sightings(500).map(({ dueAt }) => dueAt));
  const steps = turns.slice(1).map((count, index) => count - (turns[index] ?? 0));
  expect(Math.max(...steps)).toBeLessThanOrEqual(16);
});

test('says what has waited for long, and up to when everything was read', async () => {
  const { clock, inbox, seen } = slow(10);
  inbox.open();
  const came = clock.now();
  inbox.add('zz1', sightings(256), null);
  inbox.add('zz1', sightings(256, 256), null);
  await clock.advance(10_000);
  expect(seen).toHaveLength(512);
  expect(seen.at(0)?.isBehind).toBe(false);
  expect(seen.at(-1)?.isBehind).toBe(true);
  expect(seen.at(200)?.readUntil).toBe(came);
  expect(inbox.readUntil).toBe(clock.now());
});

test('holds so much and no more: the oldest goes first', async () => {
  const { clock, inbox, seen, givenUp } = slow(100);
  inbox.open();
  for (let index = 0; index < 120; index += 1) inbox.add('zz1', sightings(256, 256 * index), null);
  expect(givenUp.length).toBeGreaterThan(120 * 256 - 20_000 - 512);
  expect(givenUp).toEqual(givenUp.toSorted((a, b) => a - b));
  await clock.advance(10_000_000);
  expect(seen.length + givenUp.length).toBe(120 * 256);
});
