import type Database from 'better-sqlite3';
import type { Exclusion, ExclusionStore } from '#history/exclusions.ts';
import type { TimeSpan } from '#history/span.ts';
import { type BetterSQLite3Database, eq } from './drizzle.ts';
import type { OpenDatabase } from './open.ts';
import { exclusions } from './schema.ts';

interface ExclusionStoreDependencies {
  readonly file: Pick<OpenDatabase, 'raw' | 'drizzle' | 'waitForDisk'>;
  readonly guard: <Result>(action: () => Result) => Result;
  /** Null unless several hubs share the history. */
  readonly sharing: { write(write: ExclusionWrite): void } | null;
}

/** What every hub of one history writes about an exclusion. */
export type ExclusionWrite =
  | { readonly kind: 'exclusion'; readonly exclusion: Exclusion }
  | { readonly kind: 'exclusion removed'; readonly exclusion: Exclusion };

export function createExclusionStore({ file, guard, sharing }: ExclusionStoreDependencies): ExclusionStore {
  const { raw, drizzle: database } = file;
  const write = (one: ExclusionWrite) =>
    guard(() => {
      if (sharing !== null) return sharing.write(one);
      file.waitForDisk(true);
      writeExclusion(database, one);
    });
  return {
    exclusions: () => guard(() => createExclusionReader(raw)(null, { from: 0, to: Number.MAX_SAFE_INTEGER })),
    addExclusion: (exclusion) => write({ kind: 'exclusion', exclusion }),
    removeExclusion: (exclusion) => write({ kind: 'exclusion removed', exclusion }),
  };
}

export function writeExclusion(database: BetterSQLite3Database, { kind, exclusion }: ExclusionWrite): void {
  if (kind === 'exclusion removed') {
    database.delete(exclusions).where(eq(exclusions.id, exclusion.id)).run();
    return;
  }
  const { id, target, why, from, to, createdAt } = exclusion;
  database
    .insert(exclusions)
    .values({ id, target, why, fromAt: from, toAt: to, createdAt })
    .onConflictDoNothing()
    .run();
}

/** Reads the exclusions of a span, by their beginning: those that touch a target, or all if it is null. */
export function createExclusionReader(
  database: Database.Database,
): (target: string | null, span: TimeSpan) => readonly Exclusion[] {
  const statement = database.prepare<[{ target: string | null; from: number; to: number }], Exclusion>(
    `SELECT id, target, why, from_at AS "from", to_at AS "to", created_at AS createdAt FROM exclusions
     WHERE (:target IS NULL OR target IS NULL OR target = :target) AND from_at < :to AND to_at > :from
     ORDER BY from_at, id`,
  );
  return (target, { from, to }) => statement.all({ target, from, to });
}
