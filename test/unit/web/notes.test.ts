import { expect, test } from 'vitest';
import { pastThreads, threadsOf } from '#web/pages/status-threads.ts';
import { dayMs } from '#kernel/units.ts';
import { createNotes, type StatusNote, type NoteStore } from '#web/state/notes.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { seededRandom } from '../../support/seeded-random.ts';

function open() {
  const rows = new Map<string, StatusNote>();
  const store: NoteStore = {
    notes: () => [...rows.values()],
    addNote: (note) => void rows.set(note.id, note),
    removeNote: (id) => void rows.delete(id),
  };
  const clock = new FakeClock();
  const notes = (seed = 1) =>
    createNotes({
      store,
      clock,
      random: seededRandom(seed),
      pages: () =>
        new Map([
          ['status', ['shop', 'api']],
          ['inside', ['shop']],
        ]),
    });
  return { rows, clock, notes };
}

test('notes stand on their page, the newest first, until they end or are taken down, over restarts too', async () => {
  const { clock, rows, notes } = open();
  const first = notes();
  const short = first.post({ page: 'status', words: 'We\nmove.', endsAt: clock.now() + 60_000 });
  const long = first.post({ page: 'status', words: 'We are slow.', endsAt: null });
  first.post({ page: 'inside', words: 'Only here.', endsAt: null });
  expect(first.list('status').map(({ words }) => words)).toEqual(['We are slow.', 'We move.']);
  const second = notes(2);
  expect(second.list('status')).toEqual([long, short]);
  await clock.advance(60_000);
  expect(second.list('status')).toEqual([long]);
  second.remove(long.id);
  expect(second.list('status')).toEqual([]);
  second.post({ page: 'inside', words: 'More.', endsAt: null });
  expect([...rows.values()].map(({ words }) => words)).toEqual(['We move.', 'Only here.', 'More.']);
  // What is over stays for the archive.
  expect(second.since('status', 0)).toEqual([short]);
  second.remove(short.id);
  expect(second.since('status', 0)).toEqual([]);
});

test('a note for a page that is not there, with an end in the past, or of another name is refused with the way out', () => {
  const { clock, notes } = open();
  const all = notes();
  expect(() => all.post({ page: 'x', words: 'a', endsAt: null })).toThrow(
    'there is no status page x; there are status, inside',
  );
  expect(() => all.post({ page: 'status', words: 'a', endsAt: clock.now() })).toThrow('in the past');
  expect(() => all.remove('x')).toThrow('list them with `watchpost status notes`');
});

test('notes of a thread stay together, whichever of them is continued, and go with the first one', () => {
  const { notes, rows } = open();
  const all = notes();
  const draft = { page: 'status', words: 'Slow.', endsAt: null };
  const first = all.post({ ...draft, stage: 'investigating', targets: ['api'] });
  const second = all.post({ ...draft, stage: 'identified', thread: first.id });
  const third = all.post({ ...draft, stage: 'resolved', thread: second.id, targets: ['shop'] });
  const other = all.post({ ...draft, words: 'Other.' });
  expect([first, second, third].map(({ thread, targets }) => [thread, targets])).toEqual([
    [null, ['api']],
    [first.id, ['api']],
    [first.id, ['shop']],
  ]);
  expect(threadsOf(notes().list('status')).map((thread) => thread.map(({ id }) => id))).toEqual([
    [other.id],
    [third.id, second.id, first.id],
  ]);
  expect(() => all.post({ ...draft, thread: 'x' })).toThrow('there is no note x on the page status');
  expect(() => all.post({ ...draft, page: 'inside', thread: first.id })).toThrow('on the page inside');
  expect(() => all.post({ ...draft, page: 'inside', targets: ['api'] })).toThrow(
    'the page inside does not show api; it shows shop',
  );
  all.remove(first.id);
  expect([...rows.keys()]).toEqual([other.id]);
});

test('a thread stands for a day after it was resolved, then it is one of the past, until it is continued', async () => {
  const { clock, notes } = open();
  const all = notes();
  const draft = { page: 'status', words: 'Slow.', endsAt: null };
  const first = all.post({ ...draft, stage: 'investigating' });
  const last = all.post({ ...draft, stage: 'resolved', thread: first.id });
  const standing = () => all.list('status').map(({ id }) => id);
  const past = () => pastThreads(all.since('status', 0), all.list('status')).map(({ id }) => id);
  await clock.advance(dayMs - 1);
  expect([standing(), past()]).toEqual([[last.id, first.id], []]);
  await clock.advance(1);
  expect([standing(), past()]).toEqual([[], [last.id, first.id]]);
  const again = all.post({ ...draft, stage: 'monitoring', thread: first.id });
  expect([standing(), past()]).toEqual([[again.id, last.id, first.id], []]);
});

test('a thread does not go back to what stood before it was resolved if the last note ends earlier than after a day', async () => {
  const { clock, notes } = open();
  const all = notes();
  const draft = { page: 'status', words: 'Slow.', endsAt: null };
  const first = all.post({ ...draft, stage: 'investigating' });
  const last = all.post({ ...draft, stage: 'resolved', thread: first.id, endsAt: clock.now() + 60_000 });
  await clock.advance(59_999);
  expect(all.list('status').map(({ id }) => id)).toEqual([last.id, first.id]);
  await clock.advance(1);
  expect(all.list('status')).toEqual([]);
  expect(pastThreads(all.since('status', 0), all.list('status'))).toEqual([last, first]);
});

test('two thousand notes that are over are kept, and the oldest go first', async () => {
  const { clock, rows, notes } = open();
  for (let number = 0; number < 2_050; number += 1)
    rows.set(`n${number}`, {
      id: `n${number}`,
      page: 'status',
      words: 'Over.',
      createdAt: number,
      endsAt: number + 1,
      thread: null,
      stage: null,
      targets: [],
    });
  const all = notes();
  await clock.advance(1);
  all.post({ page: 'status', words: 'Now.', endsAt: null });
  expect(rows.size).toBe(2_001);
  expect(rows.has('n49')).toBe(false);
  expect(rows.has('n50')).toBe(true);
  expect(all.list('status')).toHaveLength(1);
});
