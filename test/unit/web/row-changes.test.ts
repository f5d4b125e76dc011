import { expect, test } from 'vitest';
import { createRowChanges } from '#web/live/row-changes.ts';
import { createBoard } from '#web/state/board.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { up, vote } from '../../support/store.ts';
import { watchedShop } from '../../support/watched.ts';

const count = 500;

function world() {
  const clock = new FakeClock();
  const names = Array.from({ length: count }, (_, index) => `target-${index}`);
  const watched = () => names.map((name) => ({ ...watchedShop, name, everyMs: 20_000, holdsMs: 120_000 }));
  const board = createBoard({ clock, watched, openIncidents: () => [] });
  const rows = createRowChanges(() => null, clock);
  const seenNow = (version: number) => {
    const kinds = [...rows.between(version, board.version, board.targets()).values()].map(({ kind }) => kind);
    return { none: kinds.filter((kind) => kind === 'none').length, row: kinds.filter((kind) => kind === 'row').length };
  };
  for (const name of names)
    board.roundDone(name, {
      dueAt: clock.now(),
      votes: [vote('de1', up(0.02))],
      verdict: { status: 'up' },
      inMaintenance: false,
    });
  return { board, rows, seenNow };
}

test('what is remembered is not sent again', async () => {
  const { board, rows, seenNow } = world();
  await rows.remember(board.targets(), () => true);
  expect(seenNow(board.version)).toEqual({ none: count, row: 0 });
});

test('when a viewer comes the rest is not remembered, and is sent whole', async () => {
  const { board, rows, seenNow } = world();
  await rows.remember(board.targets(), () => true);
  let asked = 0;
  await rows.remember(board.targets(), () => (asked += 1) < count / 2);
  const { none, row } = seenNow(board.version);
  expect(none).toBeGreaterThan(0);
  expect(row).toBeGreaterThan(0);
  expect(none + row).toBe(count);
});

test('what viewers have stays as it is remembered', async () => {
  const { board, rows, seenNow } = world();
  await rows.remember(board.targets(), () => true);
  await rows.remember(board.targets(), () => false);
  expect(seenNow(board.version)).toEqual({ none: count, row: 0 });
});
