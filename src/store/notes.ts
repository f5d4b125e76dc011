import { z } from 'zod';
import { asc, type BetterSQLite3Database, eq } from './drizzle.ts';
import { notes } from './schema.ts';

/** A note on a status page. Times are milliseconds since the epoch. */
export interface StoredNote {
  readonly id: string;
  readonly page: string;
  readonly words: string;
  readonly createdAt: number;
  /** When it is removed automatically; null if an operator removes it. */
  readonly endsAt: number | null;
  /** The first note of its thread; null if it is the first itself. */
  readonly thread: string | null;
  /** How far those who handle an incident are; null if it is about none. */
  readonly stage: z.output<typeof Stage> | null;
  /** The targets that it is about. */
  readonly targets: readonly string[];
}

const Stage = z.enum(['investigating', 'identified', 'monitoring', 'resolved']);

// Written by this program only.
const noteOf = ({ stage, targets, ...note }: typeof notes.$inferSelect): StoredNote => ({
  ...note,
  stage: Stage.nullable().parse(stage),
  targets: z.array(z.string()).parse(JSON.parse(targets)),
});

/** Every note, the oldest first. */
export function readNotes(database: BetterSQLite3Database): readonly StoredNote[] {
  return database.select().from(notes).orderBy(asc(notes.createdAt), asc(notes.id)).all().map(noteOf);
}

export function writeNote(database: BetterSQLite3Database, note: StoredNote): void {
  const row = { ...note, targets: JSON.stringify(note.targets) };
  database.insert(notes).values(row).run();
}

export function deleteNote(database: BetterSQLite3Database, id: string): void {
  database.delete(notes).where(eq(notes.id, id)).run();
}
