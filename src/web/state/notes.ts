import type { Clock } from '#kernel/clock.ts';
import { WatchpostError } from '#kernel/errors.ts';
import type { Random } from '#kernel/random.ts';
import { singleLine } from '#kernel/text.ts';
import { dayMs } from '#kernel/units.ts';

/** A note on a status page. Times are milliseconds since the epoch. */
export interface StatusNote {
  readonly id: string;
  readonly page: string;
  readonly words: string;
  readonly createdAt: number;
  /** When it is removed automatically; null if an operator removes it. */
  readonly endsAt: number | null;
  /** The first note of its thread; null if it is the first itself. */
  readonly thread: string | null;
  /** How far those who handle an incident are; null if it is about none. */
  readonly stage: NoteStage | null;
  /** The targets that it is about. */
  readonly targets: readonly string[];
}

export const noteStages = ['investigating', 'identified', 'monitoring', 'resolved'] as const;
export type NoteStage = (typeof noteStages)[number];

/** A note as an operator posts it. */
export interface NoteDraft {
  readonly page: string;
  readonly words: string;
  readonly endsAt: number | null;
  readonly stage?: NoteStage | null;
  /** The targets that it is about; those of its thread if it names none. */
  readonly targets?: readonly string[];
  /** A note of the thread that it belongs to; null begins one. */
  readonly thread?: string | null;
}

/** Where notes are kept over restarts. */
export interface NoteStore {
  notes(): readonly StatusNote[];
  addNote(note: StatusNote): void;
  removeNote(id: string): void;
}

/** The notes that stand, in memory. What is asked wrongly throws `usage`. */
export interface Notes {
  /** Those of a page, or all, that stand now, the newest first. */
  list(page?: string): readonly StatusNote[];
  /** All of a page since a moment, those that are over too, the newest first. */
  since(page: string, from: number): readonly StatusNote[];
  post(draft: NoteDraft): StatusNote;
  /** Takes a note down; the first one with its thread. */
  remove(id: string): StatusNote;
  /** Reads them anew: something else wrote to the store. */
  reload(): void;
}

export interface NotesOptions {
  readonly store: NoteStore;
  readonly clock: Clock;
  readonly random: Random;
  /** The targets of the status pages that there are, by their names. */
  readonly pages: () => ReadonlyMap<string, readonly string[]>;
}

const mostNotes = 100;
const mostPast = 2_000;
// How long a thread stands after it was resolved.
const resolvedMs = dayMs;

/** Whether a note stands: it has not ended, and neither has its thread, a day after it was resolved or with the note that says so. */
function isCurrent({ id, thread, endsAt }: StatusNote, all: readonly StatusNote[], now: number): boolean {
  if (endsAt !== null && endsAt <= now) return false;
  const root = thread ?? id;
  const last = all.findLast((one) => one.id === root || one.thread === root);
  if (last?.stage !== 'resolved') return true;
  return now < Math.min(last.endsAt ?? Number.POSITIVE_INFINITY, last.createdAt + resolvedMs);
}

export function createNotes({ store, clock, random, pages }: NotesOptions): Notes {
  let known = store.notes();

  function currentNotes(): readonly StatusNote[] {
    const now = clock.now();
    return known.filter((note) => isCurrent(note, known, now));
  }

  // Updates belong to the first note, whichever of its thread is named.
  function rootOf(id: string, page: string): StatusNote {
    const all = known.filter((note) => note.page === page);
    const named = all.find((note) => note.id === id);
    const root = all.find((note) => note.id === (named?.thread ?? id));
    if (root === undefined)
      throw new WatchpostError(
        'usage',
        `there is no note ${id} on the page ${page}; list them with \`watchpost status notes\``,
      );
    return root;
  }

  return {
    reload() {
      known = store.notes();
    },
    list: (page) =>
      currentNotes()
        .filter((note) => page === undefined || note.page === page)
        .toReversed(),
    since: (page, from) => known.filter((note) => note.page === page && note.createdAt >= from).toReversed(),
    post({ page, words, endsAt, stage = null, targets = [], thread = null }) {
      const there = pages();
      const own = there.get(page);
      if (own === undefined) {
        const wayOut = there.size === 0 ? 'configure one under pages' : `there are ${[...there.keys()].join(', ')}`;
        throw new WatchpostError('usage', `there is no status page ${page}; ${wayOut}`);
      }
      const unknown = targets.find((name) => !own.includes(name));
      if (unknown !== undefined)
        throw new WatchpostError('usage', `the page ${page} does not show ${unknown}; it shows ${own.join(', ')}`);
      const root = thread === null ? null : rootOf(thread, page);
      const now = clock.now();
      if (endsAt !== null && endsAt <= now) throw new WatchpostError('usage', 'the end of the note is in the past');
      if (currentNotes().length >= mostNotes)
        throw new WatchpostError('usage', `there are ${mostNotes} notes already; remove one first`);
      // Those that are over stay for the archive, as many as memory has room for.
      const over = known.filter((one) => !isCurrent(one, known, now));
      const dropped = over.slice(0, Math.max(0, over.length - mostPast));
      for (const one of dropped) store.removeNote(one.id);
      known = known.filter((one) => !dropped.includes(one));
      const note = { id: random.id(8), page, words: singleLine(words, 1_000), createdAt: now, endsAt, stage };
      const about = { thread: root?.id ?? null, targets: targets.length === 0 ? (root?.targets ?? []) : targets };
      store.addNote({ ...note, ...about });
      known = [...known, { ...note, ...about }];
      return { ...note, ...about };
    },
    remove(id) {
      const note = known.find((one) => one.id === id);
      if (note === undefined)
        throw new WatchpostError('usage', `there is no note ${id}; list them with \`watchpost status notes\``);
      for (const one of known.filter((other) => other.id === id || other.thread === id)) store.removeNote(one.id);
      known = known.filter((one) => one.id !== id && one.thread !== id);
      return note;
    },
  };
}
