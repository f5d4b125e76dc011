import { chmodSync, existsSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startResultFile } from '#export/result-file.ts';
import { systemClock } from '#kernel/clock.ts';
import { createExportLog } from '../../support/export-log.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { eventually } from '../../support/program.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { tempFolder } from '../../support/store.ts';

function open(more: { readonly maxBytes?: number; readonly keep?: number; readonly name?: string } = {}) {
  const folder = tempFolder();
  const path = join(folder.path, more.name ?? 'results.jsonl');
  const events = createExportLog();
  const { log, lines } = memoryLog();
  const start = () =>
    startResultFile({
      path,
      maxBytes: more.maxBytes ?? 1e9,
      keep: more.keep ?? 3,
      clock: systemClock,
      random: seededRandom(1),
      log,
      events,
    });
  onTestFinished(() => folder[Symbol.dispose]());
  const said = () => lines.map(({ msg }) => msg);
  return { path, folder: folder.path, events, start, said, text: (file = path) => readFileSync(file, 'utf8') };
}

test('lines are appended in order, also by the next start, and only their owner may read them', async () => {
  const { path, start, text, events } = open();
  const file = start();
  file.add(['1\n', '2\n']);
  file.add(['3\n']);
  await eventually(5_000, () => expect(text()).toBe('1\n2\n3\n'));
  file.add(['4\n']);
  await file.stop();
  const next = start();
  next.add(['5\n']);
  await next.stop();
  expect(text()).toBe('1\n2\n3\n4\n5\n');
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(events.counts).toEqual({ sent: 5, dropped: 0, failed: 0 });
});

test('a file is renamed before it would grow too large, so many are kept, and its mode goes on', async () => {
  const { path, start, text } = open({ maxBytes: 10, keep: 2 });
  writeFileSync(path, '');
  chmodSync(path, 0o640);
  for (const number of [1, 2, 3, 4, 5]) {
    const file = start();
    file.add([`line ${number}\n`]);
    await file.stop();
  }
  expect([text(), text(`${path}.1`), text(`${path}.2`)]).toEqual(['line 5\n', 'line 4\n', 'line 3\n']);
  expect(existsSync(`${path}.3`)).toBe(false);
  expect(statSync(path).mode & 0o777).toBe(0o640);
});

test('a file that something else has moved or deleted is begun anew', async () => {
  const { path, start, text } = open();
  const file = start();
  file.add(['1\n']);
  await eventually(5_000, () => expect(text()).toBe('1\n'));
  renameSync(path, `${path}.old`);
  file.add(['2\n']);
  await eventually(5_000, () => expect(text()).toBe('2\n'));
  rmSync(path);
  file.add(['3\n']);
  await file.stop();
  expect([text(), text(`${path}.old`)]).toEqual(['3\n', '1\n']);
});

test('a line that a kill has cut off is ended', async () => {
  const { path, start, text } = open();
  writeFileSync(path, '{"a":1}\n{"b":');
  const file = start();
  file.add(['{"c":3}\n']);
  await file.stop();
  expect(text()).toBe('{"a":1}\n{"b":\n{"c":3}\n');
});

test('on a full disk lines wait, it is reported once, and nothing is lost once there is room', async () => {
  const { path, start, said, text, events } = open();
  symlinkSync('/dev/full', path);
  const file = start();
  file.add(['1\n']);
  await eventually(10_000, () => expect(events.counts.failed).toBeGreaterThan(1));
  file.add(['2\n']);
  rmSync(path);
  await eventually(10_000, () => expect(text()).toBe('1\n2\n'));
  await file.stop();
  expect(said()).toEqual(['cannot write results to the file; retrying', 'results are written to the file again']);
  expect(events.counts).toMatchObject({ sent: 2, dropped: 0 });
});

test('of too many lines that wait the oldest are dropped and counted, and what cannot be written at the end', async () => {
  const { start, events } = open({ name: 'nowhere/results.jsonl' });
  const file = start();
  const line = `${'x'.repeat(99_999)}\n`;
  for (let index = 0; index < 100; index += 1) file.add([line]);
  expect(events.counts.dropped).toBeGreaterThanOrEqual(100 - 83);
  await file.stop();
  expect(events.counts).toMatchObject({ sent: 0, dropped: 100 });
});

test('lines that cannot be written to one file are in the next', async () => {
  const { folder, start, text, events, said } = open({ name: 'missing/results.jsonl' });
  const file = start();
  file.add(['1\n', '2\n']);
  await eventually(5_000, () => expect(said()).toEqual(['cannot write results to the file; retrying']));
  file.add(['3\n']);
  const path = join(folder, 'other.jsonl');
  file.reconfigure({ path, maxBytes: 1e9, keep: 3 });
  await eventually(5_000, () => expect(text(path)).toBe('1\n2\n3\n'));
  await file.stop();
  expect(events.counts).toMatchObject({ sent: 3, dropped: 0 });
});
