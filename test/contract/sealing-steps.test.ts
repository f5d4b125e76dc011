import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { dayMs, hourMs } from '#kernel/units.ts';
import { openDatabase } from '#store/open.ts';
import { createForgetting, keptByDefault } from '#store/sealing/forget.ts';
import { createMarks } from '#store/sealing/marks.ts';
import { createHourSealing } from '#store/sealing/seal-hours.ts';
import { createSealedRows } from '#store/sealing/sealed-rows.ts';
import { quiet, start, tempFolder } from '../support/store.ts';

const pair = { targetId: 1, nodeId: 1 };

function open() {
  const folder = tempFolder();
  const file = openDatabase({ path: join(folder.path, 'watchpost.db'), pid: process.pid, log: quiet });
  onTestFinished(() => {
    file[Symbol.dispose]();
    folder[Symbol.dispose]();
  });
  file.raw.pragma('foreign_keys = OFF');
  const insert = file.raw.prepare(
    'INSERT INTO results (due_at, target_id, node_id, status, duration_us) VALUES (?, 1, ?, 0, 1000)',
  );
  return {
    database: file.raw,
    rows: createSealedRows(file.raw),
    marks: createMarks(file.raw),
    insert: (dueAt: number, nodeId = 1) => void insert.run(dueAt, nodeId),
  };
}

test('a result that is written while its hour is sealed is in the sealed hour', () => {
  const { database, rows, marks, insert } = open();
  const sealing = createHourSealing({
    database,
    rows,
    marks,
    sureUntil: () => start,
    prepareSealed: () => false,
    onSealed: () => {},
  });
  const before = start + hourMs;
  insert(start + 60_000);
  while (rows.results(pair, start) === null) expect(sealing.step(before)).toBe(true);
  expect(marks.get('hours_until')).toBe(0);
  const late = [
    { nodeId: 1, dueAt: start + 30_000 },
    { nodeId: 1, dueAt: start + 90_000 },
    { nodeId: 2, dueAt: start + 30_000 },
  ];
  for (const { nodeId, dueAt } of late) {
    insert(dueAt, nodeId);
    sealing.written({ targetId: 1, nodeId }, dueAt);
  }
  while (sealing.step(before));
  expect(marks.get('hours_until')).toBe(before);
  const sealed = (nodeId: number) => rows.results({ targetId: 1, nodeId }, start)?.map(({ dueAt }) => dueAt - start);
  expect([sealed(1), sealed(2)]).toEqual([[30_000, 60_000, 90_000], [30_000]]);
});

test('an hour is kept until its day is sealed, however short hours are kept', () => {
  const { database, rows, marks, insert } = open();
  const sealing = createHourSealing({
    database,
    rows,
    marks,
    sureUntil: () => start,
    prepareSealed: () => false,
    onSealed: () => {},
  });
  for (let hour = 0; hour < 72; hour += 1) insert(start + hour * hourMs + 60_000);
  while (sealing.step(start + 3 * dayMs));
  const forgetting = createForgetting(database, rows, marks, { ...keptByDefault, hoursMs: dayMs });
  const left = () => rows.sums('hours', pair, 0, start + 10 * dayMs).map(({ at }) => (at - start) / hourMs);
  const forget = () => {
    while (forgetting.step(start + 9 * dayMs));
  };
  forget();
  expect(left()).toHaveLength(72);
  marks.set('days_until', start + dayMs);
  forget();
  expect(left()).toEqual(Array.from({ length: 48 }, (_, index) => 24 + index));
});
