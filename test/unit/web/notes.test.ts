import { expect, test } from 'vitest';
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
  const notes = () => createNotes({ store, clock, random: seededRandom(1), pages: () => ['status', 'inside'] });
  return { rows, clock, notes };
}

test('notes stand on their page, the newest first, until they end or are taken down, over restarts too', async () => {
  const { clock, rows, notes } = open();
  const first = notes();
  const short = first.post({ page: 'status', words: 'We\nmove.', endsAt: clock.now() + 60_000 });
  const long = first.post({ page: 'status', words: 'We are slow.', endsAt: null });
  first.post({ page: 'inside', words: 'Only here.', endsAt: null });
  expect(first.list('status').map(({ words }) => words)).toEqual(['We are slow.', 'We move.']);
  const second = notes();
  expect(second.list('status')).toEqual([long, short]);
  await clock.advance(60_000);
  expect(second.list('status')).toEqual([long]);
  second.remove(long.id);
  expect(second.list('status')).toEqual([]);
  second.post({ page: 'inside', words: 'More.', endsAt: null });
  expect([...rows.values()].map(({ words }) => words)).toEqual(['Only here.', 'More.']);
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
