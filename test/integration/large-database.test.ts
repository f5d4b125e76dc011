import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { systemClock } from '#kernel/clock.ts';
import { commandHere } from '../support/command.ts';
import { openAt, tempFolder } from '../support/store.ts';

test('a large database is copied and looked through in a thread, and an interrupt leaves no half of a copy behind', async () => {
  using folder = tempFolder();
  const config = join(folder.path, 'watchpost.yaml');
  writeFileSync(config, 'data: watchpost.db\ntargets: { shop: { check: tcp, host: "192.0.2.1:80" } }\n');
  const path = join(folder.path, 'watchpost.db');
  await openAt(path, systemClock).close();
  const database = new Database(path);
  database.exec('CREATE TABLE filler (bytes)');
  database.prepare('INSERT INTO filler VALUES (zeroblob(25000000))').run();
  database.close();

  const copy = join(folder.path, 'copy.db');
  const stop = new AbortController();
  const ended = commandHere(['backup', copy, '--config', config], { stop: stop.signal });
  stop.abort(new Error('SIGINT'));
  expect(await ended).toEqual({ code: 130, out: '', err: '' });
  expect(existsSync(copy)).toBe(false);
  const made = await commandHere(['backup', copy, '--config', config]);
  expect(made).toMatchObject({ code: 0, err: '', out: expect.stringMatching(/: 25\.\d MB of /) });
  const again = await commandHere(['backup', copy, '--config', config]);
  expect(again).toMatchObject({ code: 2, err: expect.stringContaining('already exists') });
  expect(await commandHere(['db', 'check', copy])).toEqual({ code: 0, out: `${copy}: sound\n`, err: '' });
});
