import { join } from 'node:path';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { openSpool } from '#node/spool.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { tempFolder } from '../../support/store.ts';

const log = pino({ level: 'silent' });

test('what is too old goes, and is looked for once a second only', async () => {
  const clock = new FakeClock();
  const spool = openSpool({ path: ':memory:', longestMs: 60_000, most: 1_000, clock, log });
  spool.put('a', '1');
  await clock.advance(59_500);
  spool.put('b', '2');
  await clock.advance(501);
  spool.put('c', '3');
  expect(spool.newest(10)).toEqual(['c', 'b', 'a']);
  await clock.advance(499);
  expect(spool.newest(10)).toEqual(['c', 'b']);
  expect([spool.size, spool.dropped]).toEqual([2, 1]);
  expect(spool.newestDroppedAt).toBe(clock.now() - 60_500);
  spool.close();
});

test('the oldest go where there is no room, and what is confirmed is forgotten', () => {
  const clock = new FakeClock();
  const spool = openSpool({ path: ':memory:', longestMs: 60_000, most: 2, clock, log });
  for (const id of ['a', 'b', 'c']) spool.put(id, `payload ${id}`);
  expect(spool.newest(10)).toEqual(['c', 'b']);
  spool.remove('c');
  expect([spool.size, spool.payload('b'), spool.payload('c')]).toEqual([1, 'payload b', null]);
  spool.close();
});

test('a clock that is set forward drops nothing, neither while it runs nor over a restart', async () => {
  using folder = tempFolder();
  const clock = new FakeClock();
  const open = () => openSpool({ path: join(folder.path, 'spool.db'), longestMs: 60_000, most: 1_000, clock, log });
  const spool = open();
  spool.put('a', '1');
  clock.step(100 * 86_400_000);
  await clock.advance(10_000);
  spool.put('b', '2');
  expect(spool.newest(10)).toEqual(['b', 'a']);
  spool.close();
  clock.step(-100 * 86_400_000);
  const back = open();
  back.put('c', '3');
  clock.step(100 * 86_400_000);
  await clock.advance(10_000);
  expect(back.newest(10)).toEqual(['c', 'b', 'a']);
  await clock.advance(60_000);
  expect(back.size).toBe(3);
  back.close();
});
