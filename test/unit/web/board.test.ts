import { expect, test } from 'vitest';
import type { Incident } from '#monitor/judge/incident.ts';
import { followBoard } from '#web/live/follow-board.ts';
import { createBoard } from '#web/state/board.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { incident, start } from '../../support/store.ts';
import { watchedShop } from '../../support/watched.ts';

const minute = 60_000;

test('an outage goes on over rounds that nobody could judge, and over what else is wrong', () => {
  const open: Incident[] = [];
  const clock = new FakeClock(new Date(start + 5 * minute).toISOString());
  const board = createBoard({ clock, watched: () => [watchedShop], openIncidents: () => open });
  const see = (status: 'up' | 'down' | 'unknown', at: number) =>
    board.roundDone('shop', { dueAt: start + at * minute, votes: [], verdict: { status }, inMaintenance: false });
  const shown = () => {
    const { status, since } = board.target('shop') ?? {};
    return [status, ((since ?? Number.NaN) - start) / minute];
  };
  const slow = incident('shop', start, { startedAt: start });
  open.push({ ...slow, wording: { ...slow.wording, word: 'SLOW' } });
  see('up', 1);
  see('down', 2);
  expect(shown()).toEqual(['down', 2]);
  open.push(incident('shop', start + 3 * minute, { startedAt: start + 2 * minute }));
  see('unknown', 3);
  expect(shown()).toEqual(['unknown', 3]);
  see('down', 4);
  expect(shown()).toEqual(['down', 2]);
  open.length = 0;
  see('up', 5);
  expect(shown()).toEqual(['up', 5]);
  const changes = board.target('shop')?.changes.map(({ status, from }) => [status, (from - start) / minute]);
  expect(changes).toEqual([['up', 1], ['down', 2], ['unknown', 3], ['down', 4], ['up', 5]]); // prettier-ignore
});

test('of a target that comes back after it was taken out nothing is known at first', () => {
  const clock = new FakeClock(new Date(start + 5 * minute).toISOString());
  const board = createBoard({ clock, watched: () => [watchedShop], openIncidents: () => [] });
  board.roundDone('shop', { dueAt: start, votes: [], verdict: { status: 'up' }, inMaintenance: false });
  expect(board.target('shop')).toMatchObject({ status: 'up', recent: [null] });
  board.forget('shop');
  expect(board.target('shop')).toMatchObject({ status: 'unknown', recent: [] });
  expect(board.since(0).targets).toEqual([]);
});

test('what was unknown before its last round holds no longer stays unknown since then, over a start too', async () => {
  const clock = new FakeClock(new Date(start + 5 * minute).toISOString());
  const open = () => createBoard({ clock, watched: () => [watchedShop], openIncidents: () => [] });
  const board = open();
  const see = (status: 'up' | 'unknown', at: number) =>
    board.roundDone('shop', { dueAt: start + at * minute, votes: [], verdict: { status }, inMaintenance: false });
  see('up', 1);
  see('unknown', 2);
  see('unknown', 3);
  await clock.advance(3 * watchedShop.holdsMs);
  expect(board.target('shop')).toMatchObject({ status: 'unknown', since: start + 2 * minute });
  // The history says since when.
  const next = open();
  const round = { dueAt: start + minute, status: 'up', votes: [] } as const;
  const stored = { name: 'shop', check: 'tcp', host: 'shop:80', labels: {}, objective: null, inMaintenance: false };
  next.seed([{ ...stored, status: 'unknown', since: start + 3 * minute, round, incidents: [] }]);
  expect(next.target('shop')).toMatchObject({ status: 'unknown', since: start + 3 * minute });
  see('up', 4);
  expect(board.target('shop')).toMatchObject({ status: 'unknown', since: start + 4 * minute + watchedShop.holdsMs });
});

test('those who follow the board learn that the last round of a target holds no longer, once and without another round', async () => {
  const clock = new FakeClock(new Date(start).toISOString());
  const watched = [watchedShop, { ...watchedShop, name: 'mail', holdsMs: 2 * watchedShop.holdsMs }];
  const board = createBoard({ clock, watched: () => watched, openIncidents: () => [] });
  const see = (name: string) =>
    board.roundDone(name, { dueAt: clock.now(), votes: [], verdict: { status: 'up' }, inMaintenance: false });
  for (const { name } of watched) see(name);
  const seen: string[][] = [];
  let last = board.version;
  const following = followBoard(board, clock, () =>
    clock.after(1, () => {
      seen.push([...board.since(last).targets]);
      last = board.version;
    }),
  );
  await clock.advance(watchedShop.holdsMs + minute);
  expect(seen).toEqual([['shop']]);
  expect(board.target('shop')?.status).toBe('unknown');
  await clock.advance(watchedShop.holdsMs);
  expect(seen).toEqual([['shop'], ['mail']]);
  see('shop');
  await clock.advance(watchedShop.holdsMs + minute);
  expect(seen).toEqual([['shop'], ['mail'], ['shop'], ['shop']]);
  following[Symbol.dispose]();
  expect(clock.pending).toBe(0);
});
