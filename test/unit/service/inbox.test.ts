import { expect, test } from 'vitest';
import type { Observation } from '#protocol/watching.ts';
import { createInbox } from '#service/inbox.ts';
import type { UnreadBatch } from '#service/ports.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { up } from '../../support/votes.ts';

const observations = (count: number, from = 0): readonly Observation[] =>
  Array.from({ length: count }, (_, index) => {
    const dueAt = from + index;
    return { target: 'shop', revision: '1', dueAt, outcome: up(), startedAt: dueAt };
  });

/** An inbox where each observation takes so many milliseconds to be read. */
function slow(msEach: number) {
  const clock = new FakeClock();
  const seen: { dueAt: number; isBehind: boolean; readUntil: number }[] = [];
  const givenUp: number[] = [];
  const skipped: string[] = [];
  const overtaken: string[] = [];
  const inbox = createInbox({
    clock,
    read(told, from, to, isBehind) {
      for (const { dueAt } of told.observations.slice(from, to)) {
        clock.hold(msEach);
        seen.push({ dueAt, isBehind, readUntil: inbox.readUntil });
      }
    },
    giveUp: (told, from) => void givenUp.push(...told.observations.slice(from).map(({ dueAt }) => dueAt)),
    skip: (batches) => void skipped.push(...batches.map(({ node, due }) => `${node} ${due.from}`)),
    overtaken: ({ node, due }) => void overtaken.push(`${node} ${due.from}`),
  });
  const postponed: number[] = [];
  const parsed: number[] = [];
  /** Comes now with so many results, the first of them due `agoMs` ago; it is parsed when it is its turn. */
  const come = (node: string, count: number, more: Partial<UnreadBatch> & { readonly agoMs?: number } = {}) => {
    const from = clock.now() - (more.agoMs ?? 0);
    const batch = { node, observations: observations(count, from), confirm: null };
    inbox.addUnread({
      node,
      bytes: 250 * count,
      isNews: false,
      due: { from, until: from },
      results: count,
      read: () => (parsed.push(from), batch),
      skip: () => {},
      postpone: () => void postponed.push(from),
      ...more,
    });
    return from;
  };
  return { clock, inbox, seen, givenUp, skipped, overtaken, postponed, parsed, come };
}

test('what is little is read at once, and nothing before it may be', () => {
  const { inbox, seen } = slow(0);
  inbox.add('zz1', observations(3), null);
  expect(seen).toEqual([]);
  inbox.open();
  inbox.add('zz1', observations(2, 3), null);
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
  inbox.add('zz1', observations(256), null);
  inbox.add('zz2', observations(244, 256), null);
  expect(seen.length).toBeLessThan(50);
  await clock.advance(1_000);
  expect(seen.map(({ dueAt }) => dueAt)).toEqual(observations(500).map(({ dueAt }) => dueAt));
  const steps = turns.slice(1).map((count, index) => count - (turns[index] ?? 0));
  expect(Math.max(...steps)).toBeLessThanOrEqual(16);
});

test('says what has waited for long, and up to when everything was read', async () => {
  const { clock, inbox, seen } = slow(10);
  inbox.open();
  const came = clock.now();
  inbox.add('zz1', observations(256), null);
  inbox.add('zz1', observations(256, 256), null);
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
  for (let index = 0; index < 120; index += 1) inbox.add('zz1', observations(256, 256 * index), null);
  expect(givenUp.length).toBeGreaterThan(120 * 256 - 20_000 - 512);
  expect(givenUp).toEqual(givenUp.toSorted((a, b) => a - b));
  await clock.advance(10_000_000);
  expect(seen.length + givenUp.length).toBe(120 * 256);
});

test('what waits as bytes is parsed when it is its turn, news first and what is minutes old last', async () => {
  const { clock, inbox, parsed, come, overtaken } = slow(1);
  inbox.open();
  const first = come('zz1', 100);
  const old = come('zz1', 1, { agoMs: 600_000 });
  const healthy = [come('zz1', 1, { agoMs: 4 }), come('zz2', 1, { agoMs: 3 })];
  expect(parsed).toEqual([first]);
  const news = come('zz1', 1, { isNews: true });
  await clock.advance(1_000);
  expect(parsed).toEqual([first, news, ...healthy, old]);
  // Not that of the other node.
  expect(overtaken).toEqual([`zz1 ${healthy[0]}`]);
  expect(inbox.readUntil).toBe(clock.now());
});

test('healthy results that waited for eight seconds are skipped unread, of all nodes alike, and news never is', async () => {
  const { clock, inbox, seen, skipped, parsed, come } = slow(10);
  inbox.open();
  const came = clock.now();
  const pairs: (readonly [number, number])[] = [];
  const news: number[] = [];
  // Twice of what can be read, for a minute.
  for (let count = 0; count < 120; count += 1) {
    pairs.push([come('zz1', 50), come('zz2', 50)]);
    if (count % 10 === 0) news.push(come('zz1', 1, { isNews: true, agoMs: 1 }));
    await clock.advance(Math.max(0, came + (count + 1) * 500 - clock.now()));
    expect(clock.now() - inbox.readUntil).toBeLessThan(9_000);
  }
  await clock.advance(60_000);
  expect(seen.some(({ isBehind }) => isBehind)).toBe(false);
  // Only at the beginning and the end of what is skipped at once may it be one of two nodes.
  const halves = pairs.filter(([one, other]) => skipped.includes(`zz1 ${one}`) !== skipped.includes(`zz2 ${other}`));
  expect(skipped.length).toBeGreaterThan(60);
  expect(halves.length).toBeLessThan(skipped.length / 4);
  expect(news.every((from) => parsed.includes(from))).toBe(true);
});

test('holds so many bytes and no more: what is old is sent again, then the oldest healthy results are skipped', async () => {
  const { clock, inbox, skipped, postponed, parsed, come } = slow(1);
  for (let count = 0; count < 300; count += 1) come('zz1', 256, { bytes: 64_000, agoMs: 600_000 });
  for (let count = 0; count < 600; count += 1) {
    come('zz1', 256, { bytes: 64_000 });
    await clock.advance(1);
  }
  const news = come('zz1', 1, { isNews: true });
  expect(postponed).toHaveLength(300);
  expect(skipped.length).toBeGreaterThanOrEqual(100);
  expect(skipped).toEqual(skipped.toSorted());
  inbox.open();
  expect(parsed[0]).toBe(news);
});

test('tells how many healthy results of other machines have come, and how many of those were read', () => {
  const { clock, inbox, come } = slow(1);
  come('zz1', 4);
  come('zz1', 10, { isNews: true });
  come('zz1', 10, { agoMs: 3_600_000 });
  inbox.add('zz2', observations(3), null);
  expect(inbox.intake).toEqual({ came: 4, read: 0, skipped: 0, waitedMs: 0 });
  inbox.open();
  clock.hold(9_000);
  expect(inbox.intake).toMatchObject({ came: 4, read: 0 });
  come('zz1', 5);
  expect(inbox.intake.came).toBe(9);
});

test('what is skipped unread was not read', async () => {
  const { clock, inbox, come, skipped } = slow(1);
  inbox.open();
  come('zz1', 4);
  await clock.advance(10);
  expect(inbox.intake).toEqual({ came: 4, read: 4, skipped: 0, waitedMs: 0 });
  come('zz1', 500);
  for (let count = 0; count < 4; count += 1) come('zz1', 10);
  clock.hold(9_000);
  expect(inbox.intake.waitedMs).toBeGreaterThanOrEqual(9_000);
  await clock.advance(1_000);
  expect(skipped).not.toEqual([]);
  const gone = 10 * skipped.length;
  expect(inbox.intake).toEqual({ came: 544, read: 544 - gone, skipped: gone, waitedMs: 0 });
});
