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
}

/** Every note, the oldest first. */
export function readNotes(database: BetterSQLite3Database): readonly StoredNote[] {
  return database.select().from(notes).orderBy(asc(notes.createdAt), asc(notes.id)).all();
}

export function writeNote(database: BetterSQLite3Database, note: StoredNote): void {
  database.insert(notes).values(note).run();
}

export function deleteNote(database: BetterSQLite3Database, id: string): void {
  database.delete(notes).where(eq(notes.id, id)).run();
}
