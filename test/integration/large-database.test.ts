import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { systemClock } from '#kernel/clock.ts';
import { backUp } from '#store/backup.ts';
import { commandHere } from '../support/command.ts';
import { openAt, tempFolder } from '../support/store.ts';

test('a large database is copied while others write, and an interrupt leaves no half of a copy behind', async () => {
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
  expect(readdirSync(folder.path).filter((name) => name.startsWith('copy'))).toEqual([]);
  // Interrupted in the middle: the first pages are copied by then.
  const middle = new AbortController();
  const copied: number[] = [];
  const cut = backUp(path, copy, {
    signal: middle.signal,
    onProgress(done) {
      copied.push(done);
      if (done > 0) middle.abort(new Error('SIGTERM'));
    },
  });
  await expect(cut).rejects.toThrow('SIGTERM');
  expect(copied.at(-1)).toBeLessThan(25_000_000);
  expect(readdirSync(folder.path).filter((name) => name.startsWith('copy'))).toEqual([]);
  writeFileSync(`${copy}.part`, 'what a killed one left');
  const made = await commandHere(['backup', copy, '--config', config]);
  expect(made).toMatchObject({ code: 0, err: '', out: expect.stringMatching(/: 25\.\d MB of /) });
  expect(readdirSync(folder.path).filter((name) => name.startsWith('copy'))).toEqual(['copy.db']);
  const again = await commandHere(['backup', copy, '--config', config]);
  expect(again).toMatchObject({ code: 2, err: expect.stringContaining('already exists') });
  expect(await commandHere(['db', 'check', copy])).toEqual({ code: 0, out: `${copy}: sound\n`, err: '' });
});
