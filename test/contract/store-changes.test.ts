import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { TargetChange } from '#history/changes.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { openAt, start, tempFolder } from '../support/store.ts';

const change = (value: string, more: Partial<TargetChange> = {}): TargetChange => ({
  target: 'shop',
  kind: 'answers',
  node: 'de1',
  at: start,
  value,
  ...more,
});

test('changes of a target outlive a restart, the newest of each kind at a node are known, and the oldest go', async () => {
  using folder = tempFolder();
  const path = join(folder.path, 'watchpost.db');
  const clock = new FakeClock();
  await using first = openAt(path, clock);
  first.addChanges(Array.from({ length: 60 }, (_, index) => change(`A 192.0.2.${index}`, { at: start + index })));
  first.addChanges([change('A 192.0.2.1', { node: 'us1' }), change('1', { kind: 'reload', node: null })]);
  await first.close();
  await using store = openAt(path, clock);
  expect(store.newestChanges().toSorted((a, b) => (a.value < b.value ? -1 : 1))).toEqual([
    change('1', { kind: 'reload', node: null }),
    change('A 192.0.2.1', { node: 'us1' }),
    change('A 192.0.2.59', { at: start + 59 }),
  ]);
  const ofNode = store.changesOf('shop').filter(({ node }) => node === 'de1');
  expect([ofNode.length, ofNode[0]?.value, ofNode.at(-1)?.value]).toEqual([50, 'A 192.0.2.59', 'A 192.0.2.10']);
  expect(store.changesOf('other')).toEqual([]);
});

test('notes outlive a restart until they are removed', async () => {
  using folder = tempFolder();
  const path = join(folder.path, 'watchpost.db');
  const clock = new FakeClock();
  await using first = openAt(path, clock);
  const note = {
    id: 'a',
    page: 'status',
    words: 'We move.',
    createdAt: start,
    endsAt: null,
    thread: null,
    stage: null,
    targets: [],
  };
  first.addNote(note);
  first.addNote({ ...note, id: 'b', createdAt: start + 1, endsAt: start + 60_000 });
  await first.close();
  await using store = openAt(path, clock);
  expect(store.notes().map(({ id, endsAt }) => [id, endsAt])).toEqual([
    ['a', null],
    ['b', start + 60_000],
  ]);
  store.removeNote('b');
  expect(store.notes()).toEqual([note]);
});
