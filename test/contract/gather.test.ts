import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openDatabase } from '#store/open.ts';
import { createGatherer } from '#store/sealing/gather.ts';
import { quiet, start, tempFolder } from '../support/store.ts';

test.each([
  { of: 'one target among hundreds', first: 200, end: 201, targets: 1 },
  { of: 'targets that are gone', first: 500, end: 600, targets: 0 },
  { of: 'all targets', first: 0, end: 600, targets: 200 },
])(
  'the results of $of are gathered in pieces, none of which looks through the whole hour',
  ({ first, end, targets }) => {
    using folder = tempFolder();
    using file = openDatabase({ path: join(folder.path, 'watchpost.db'), pid: process.pid, log: quiet });
    file.raw.pragma('foreign_keys = OFF');
    const insert = file.raw.prepare('INSERT INTO results (due_at, target_id, node_id, status) VALUES (?, ?, 1, 0)');
    file.raw.transaction(() => {
      for (let round = 0; round < 120; round += 1)
        for (let target = 1; target <= 200; target += 1) insert.run(start + round * 30_000 + (target % 7), target);
    })();
    const gathering = createGatherer(file.raw)({ from: start, to: start + 3_600_000, first, end });
    let pieces = 1;
    while (gathering.more(600)) pieces += 1;
    expect(pieces).toBeGreaterThanOrEqual(Math.max(6, (targets * 120) / 600));
    expect([...gathering.pairs.values()].map(({ size }) => size)).toEqual(Array.from({ length: targets }, () => 120));
  },
);
