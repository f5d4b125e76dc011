import {
  existsSync,
  globSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { getTableColumns } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { WatchpostError } from '#kernel/errors.ts';
import {
  deliveries,
  incidents,
  nodes,
  results,
  ruleStates,
  runResults,
  runs,
  silences,
  targets,
} from '#store/schema.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { openAt, opening, round, start, tempFolder, vote } from '../support/store.ts';

const clock = new FakeClock();

async function fill(path: string, rounds = 2_000): Promise<void> {
  await using store = openAt(path, clock);
  const recorded = Array.from({ length: rounds }, (_, index) => store.record(round(`t${index}`, start + index)));
  await store.close();
  await Promise.all(recorded);
}

function refusalOf(path: string): WatchpostError {
  try {
    void openAt(path, clock).close();
  } catch (error) {
    if (error instanceof WatchpostError) return error;
    throw error;
  }
  throw new Error(`${path} was opened`);
}

const newestSchema = globSync('*.sql', { cwd: new URL('../../migrations/', import.meta.url).pathname }).length;

function edit(path: string, sql: string): void {
  const database = new Database(path);
  database.exec(sql);
  database.close();
}

describe('a database that cannot be used', () => {
  test('a newer database names its schema and the one this program knows', async () => {
    using folder = tempFolder();
    const path = join(folder.path, 'watchpost.db');
    await fill(path, 1);
    edit(path, `INSERT INTO __drizzle_migrations (hash, created_at) VALUES ('later', 9999999999999)`);
    const error = refusalOf(path);
    expect(error.code).toBe('store_newer');
    expect(error.message).toContain(
      `written by a newer Watchpost (schema ${newestSchema + 1}, this one knows up to ${newestSchema}); install that version`,
    );
  });

  const places = [
    { name: 'a folder', path: '.', prepare: () => undefined, says: /is a folder; name a file in it/ },
    {
      name: 'two missing folders',
      path: 'a/b/watchpost.db',
      prepare: () => undefined,
      says: /does not exist; create it: mkdir -p '.*\/a\/b'/,
    },
    {
      name: 'a file where the folder should be',
      path: 'file/watchpost.db',
      prepare: (at: string) => writeFileSync(join(at, 'file'), ''),
      says: /file: is a file; name another path/,
    },
    {
      name: 'a folder below a file',
      path: 'file/b/watchpost.db',
      prepare: (at: string) => writeFileSync(join(at, 'file'), ''),
      says: /part of this path is a file/,
    },
    {
      name: 'a folder that nobody can write',
      path: '../../proc/watchpost.db',
      prepare: () => undefined,
      says: /cannot be written .* chown -R \d+ '\/proc'/,
    },
  ];
  test.each(places)('$name is refused with the way out', ({ path, prepare, says }) => {
    using folder = tempFolder();
    prepare(folder.path);
    const error = refusalOf(join(folder.path, path));
    expect(error.message).toMatch(says);
    expect(error.code).toBe('store_unwritable');
  });

  const damages = [
    { name: 'random bytes', damage: (path: string) => writeFileSync(path, Buffer.alloc(20_000, 'not a database ')) },
    { name: 'a truncated file', damage: (path: string) => truncateSync(path, Math.floor(statSync(path).size / 2)) },
    { name: 'an overwritten page', damage: (path: string) => overwrite(path, statSync(path).size - 10 * 1_024) },
    { name: 'an overwritten schema', damage: (path: string) => overwrite(path, 100) },
  ];
  test.each(damages)('$name is called damage, with the way out', async ({ damage }) => {
    using folder = tempFolder();
    const path = join(folder.path, 'watchpost.db');
    await fill(path);
    damage(path);
    const before = readFileSync(path);
    const error = refusalOf(path);
    expect(error.code).toBe('store_corrupt');
    expect(error.message).toMatch(
      /not a sound database \(.+\)\. Keep a copy of it, then put back a backup .* quick_check/,
    );
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  function overwrite(path: string, position: number): void {
    writeSync(openSync(path, 'r+'), Buffer.alloc(1_024, 0xa5), 0, 1_024, position);
  }

  test('the database of another program is left alone', () => {
    using folder = tempFolder();
    const path = join(folder.path, 'photos.db');
    edit(path, 'CREATE TABLE photos (id INTEGER PRIMARY KEY)');
    expect(refusalOf(path)).toMatchObject({ code: 'store_corrupt', message: expect.stringMatching(/another program/) });
  });

  test('an incident that this version cannot read is named with the missing field', async () => {
    using folder = tempFolder();
    const path = join(folder.path, 'watchpost.db');
    await using store = openAt(path, clock);
    await store.record(opening('shop', start));
    edit(path, `UPDATE incidents SET story = json_remove(story, '$.cause')`);
    expect(() => store.load()).toThrow(
      /incident shop\/down\/\d+ in a form that this version cannot read \(cause: .*put back a backup/,
    );
  });
});

describe('two programs on one database', () => {
  test('a second one is refused, by any name of the file, until the first has closed', async () => {
    using folder = tempFolder();
    const path = join(folder.path, 'watchpost.db');
    const first = openAt(path, clock);
    const link = join(folder.path, 'link.db');
    symlinkSync(path, link);
    for (const name of [path, link]) {
      expect(refusalOf(name)).toMatchObject({
        code: 'store_unwritable',
        message: expect.stringContaining(`in use by another running watchpost (process ${process.pid})`),
      });
    }
    await first.close();
    await openAt(link, clock).close();
  });

  test('a reader sees the history while the monitor runs', async () => {
    using folder = tempFolder();
    const path = join(folder.path, 'watchpost.db');
    await using store = openAt(path, clock);
    await store.record(opening('shop', start + 7));
    const reader = new Database(path, { readonly: true });
    expect(reader.prepare('SELECT * FROM history').all()).toEqual([
      {
        late_at: null,
        at: '2026-01-01T00:00:00.007Z',
        due_at: start + 7,
        target: 'shop',
        node: 'de1',
        status: 'down',
        seconds: 0.0005,
        code: 'refused',
        message: 'connection refused',
        address: '192.0.2.80',
      },
    ]);
    reader.close();
  });

  test('a copy that is made while the monitor runs is a database to start from', async () => {
    using folder = tempFolder();
    const path = join(folder.path, 'watchpost.db');
    const copy = join(folder.path, 'copy.db');
    await using store = openAt(path, clock);
    await store.record(opening('shop', start));
    edit(path, `VACUUM INTO '${copy}'`);
    await using restored = openAt(copy, clock);
    expect(restored.load()).toEqual(store.load());
    expect(restored.dueDeliveries(start, 10)).toEqual(store.dueDeliveries(start, 10));
  });

  test('while another holds the lock, rounds wait, nothing is lost, and no mail is sent twice', async () => {
    using folder = tempFolder();
    const clock = new FakeClock();
    const path = join(folder.path, 'watchpost.db');
    await using store = openAt(path, clock);
    await store.record(opening('shop', start, ['a@example.com', 'b@example.com']));
    const [a, b] = store.dueDeliveries(start, 10).map((due) => due.delivery.id);

    const intruder = new Database(path);
    intruder.exec('BEGIN IMMEDIATE');
    store.storeOutcomes([
      { id: a!, state: 'sent', at: start, message: 'm', remindAt: null },
      { id: b!, state: 'pending', nextAttemptAt: start + 60_000, error: '451', message: null },
    ]);
    expect(store.dueDeliveries(start + 59_999, 10)).toEqual([]);
    expect(store.nextDeliveryAt(start)).toBe(start + 60_000);
    const waiting = [store.record(round('blog', start)), store.record(opening('blog', start + 1))];
    expect(store.health()).toMatchObject({
      lastError: 'database is locked',
      failingSince: start,
      queued: 3,
      dropped: 0,
    });
    await clock.advance(250);
    expect(store.health().queued).toBe(3);

    intruder.exec('ROLLBACK');
    intruder.close();
    await clock.advance(500);
    expect(await Promise.all(waiting)).toEqual(['stored', 'stored']);
    expect(store.health()).toEqual({ lastError: null, failingSince: null, queued: 0, dropped: 0 });
    expect(store.dueDeliveries(start + 59_999, 10).map((due) => due.delivery.incidentId)).toEqual([
      `blog/down/${start + 1}`,
    ]);
  });

  test('what cannot be written before the end is rejected and counted', async () => {
    using folder = tempFolder();
    const path = join(folder.path, 'watchpost.db');
    const store = openAt(path, new FakeClock());
    const waiting = store.record(round('shop', start));
    const intruder = new Database(path);
    intruder.exec('BEGIN IMMEDIATE');
    const lost = expect(waiting).rejects.toMatchObject({ code: 'store_failed' });
    await expect(store.close()).rejects.toThrow(/1 rounds could not be written/);
    await lost;
    intruder.close();
    await openAt(path, clock).close();
  });
});

describe('the file', () => {
  test('its last folder is made, and no file stays open after the end but the lock is left', async () => {
    using folder = tempFolder();
    const path = join(folder.path, 'data/watchpost.db');
    await fill(path, 1);
    expect(['-wal', '-shm', '-journal'].filter((suffix) => existsSync(path + suffix))).toEqual([]);
    mkdirSync(join(folder.path, 'data/other'));
  });

  test('has the tables that the schema declares, in the forms that keep it small', async () => {
    using folder = tempFolder();
    const path = join(folder.path, 'watchpost.db');
    await fill(path, 1);
    const database = new Database(path, { readonly: true });
    const tables = {
      targets,
      nodes,
      results,
      rule_states: ruleStates,
      incidents,
      deliveries,
      runs,
      run_results: runResults,
      silences,
    };
    for (const [name, table] of Object.entries(tables)) {
      const columns = Object.values(getTableColumns(table)).map((column) => [column.name, column.notNull]);
      const found = database.prepare(`SELECT name, "notnull" FROM pragma_table_info(?)`).raw().all(name);
      expect(found.map((row) => [(row as unknown[])[0], (row as unknown[])[1] === 1])).toEqual(columns);
    }
    const forms = database.prepare(
      `SELECT name, wr, strict FROM pragma_table_list WHERE schema = 'main' AND type = 'table'`,
    );
    expect(forms.all()).toEqual(
      expect.arrayContaining([
        ...['targets', 'nodes', 'incidents', 'deliveries', 'runs', 'silences'].map((name) => ({
          name,
          wr: 0,
          strict: 1,
        })),
        ...['results', 'rule_states', 'run_results'].map((name) => ({ name, wr: 1, strict: 1 })),
      ]),
    );
    expect(database.pragma('user_version', { simple: true })).toBe(newestSchema);
    expect(database.pragma('foreign_key_check')).toEqual([]);
    database.close();
  });

  test('keeps a result in at most 24 bytes, and shrinks when results are sealed', async () => {
    using folder = tempFolder();
    const path = join(folder.path, 'watchpost.db');
    await using empty = openAt(join(folder.path, 'empty.db'), clock);
    const store = openAt(path, new FakeClock());
    const count = 20_000;
    const recorded = Array.from({ length: count }, (_, index) =>
      store.record(round(`t${index % 200}`, start + index * 30, { votes: [vote()] })),
    );
    await store.close();
    await Promise.all(recorded);
    const full = statSync(path).size;
    expect((full - empty.bytes()) / count).toBeLessThan(24);
    const again = openAt(path, new FakeClock(new Date(start + 7_200_000).toISOString()));
    expect(again.bytes()).toBeGreaterThanOrEqual(full);
    while (again.upkeep());
    await again.close();
    expect(statSync(path).size).toBeLessThan(full * 0.4);
  });
});

test('an incident and a state that say less than today are read with what they meant', async () => {
  using folder = tempFolder();
  const path = join(folder.path, 'watchpost.db');
  const before = openAt(path, clock);
  await before.record(opening('shop', start));
  await before.close();
  const newer = ['wording', 'closing', 'timeline', 'held', 'notified', 'acknowledged']
    .map((key) => `'$.${key}'`)
    .join(', ');
  edit(
    path,
    `UPDATE incidents SET story = json_remove(story, ${newer}); UPDATE rule_states SET state = json_remove(state, '$.noted')`,
  );
  await using store = openAt(path, clock);
  expect(store.load()).toMatchObject([
    {
      states: [{ noted: {} }],
      openIncidents: [
        { wording: { word: 'DOWN' }, closing: null, timeline: [], held: null, notified: null, acknowledged: null },
      ],
    },
  ]);
});
