import type { Clock } from '#kernel/clock.ts';
import { WatchpostError } from '#kernel/errors.ts';
import type { Random } from '#kernel/random.ts';
import { singleLine } from '#kernel/text.ts';

/** A note on a status page. Times are milliseconds since the epoch. */
export interface StatusNote {
  readonly id: string;
  readonly page: string;
  readonly words: string;
  readonly createdAt: number;
  /** When it is removed automatically; null if an operator removes it. */
  readonly endsAt: number | null;
}

/** Where notes are kept over restarts. */
export interface NoteStore {
  notes(): readonly StatusNote[];
  addNote(note: StatusNote): void;
  removeNote(id: string): void;
}

/** The notes that stand, in memory. What is asked wrongly throws `usage`. */
export interface Notes {
  /** Those of a page, or all, the newest first. */
  list(page?: string): readonly StatusNote[];
  post(note: { readonly page: string; readonly words: string; readonly endsAt: number | null }): StatusNote;
  /** Takes a note down. */
  remove(id: string): StatusNote;
  /** Reads them anew: something else wrote to the store. */
  reload(): void;
}

export interface NotesOptions {
  readonly store: NoteStore;
  readonly clock: Clock;
  readonly random: Random;
  /** Names of the status pages that there are. */
  readonly pages: () => readonly string[];
}

const mostNotes = 100;

export function createNotes({ store, clock, random, pages }: NotesOptions): Notes {
  let known = store.notes();

  function currentNotes(): readonly StatusNote[] {
    const now = clock.now();
    const over = known.filter(({ endsAt }) => endsAt !== null && endsAt <= now);
    if (over.length > 0) known = known.filter((note) => !over.includes(note));
    return known;
  }

  return {
    reload() {
      known = store.notes();
    },
    list: (page) =>
      currentNotes()
        .filter((note) => page === undefined || note.page === page)
        .toReversed(),
    post({ page, words, endsAt }) {
      const there = pages();
      if (!there.includes(page)) {
        const wayOut = there.length === 0 ? 'configure one under pages' : `there are ${there.join(', ')}`;
        throw new WatchpostError('usage', `there is no status page ${page}; ${wayOut}`);
      }
      const now = clock.now();
      if (endsAt !== null && endsAt <= now) throw new WatchpostError('usage', 'the end of the note is in the past');
      if (currentNotes().length >= mostNotes)
        throw new WatchpostError('usage', `there are ${mostNotes} notes already; remove one first`);
      // Those that are over leave the file with the next one that is written.
      for (const { id, endsAt: end } of store.notes()) if (end !== null && end <= now) store.removeNote(id);
      const note = { id: random.id(8), page, words: singleLine(words, 1_000), createdAt: now, endsAt };
      store.addNote(note);
      known = [...known, note];
      return note;
    },
    remove(id) {
      const note = currentNotes().find((one) => one.id === id);
      if (note === undefined)
        throw new WatchpostError('usage', `there is no note ${id}; list them with \`watchpost status notes\``);
      store.removeNote(id);
      known = known.filter((one) => one !== note);
      return note;
    },
  };
}
