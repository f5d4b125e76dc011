import { z } from 'zod';
import type { TargetChange } from '#history/changes.ts';
import { and, type BetterSQLite3Database, desc, eq, inArray, lte, sql } from './drizzle.ts';
import { changes } from './schema.ts';

const Kind = z.enum(['reload', 'certificate', 'answers']);
const keptOfAKind = 50;

type ChangeRow = typeof changes.$inferSelect;

/** The newest change of each kind at each node of each target. */
export function readNewestChanges(database: BetterSQLite3Database): readonly TargetChange[] {
  const newest = database
    .select({ id: sql<number>`max(${changes.id})` })
    .from(changes)
    .groupBy(changes.target, changes.kind, changes.node);
  return database.select().from(changes).where(inArray(changes.id, newest)).all().map(changeOf);
}

/** The changes of a target, the newest first. */
export function readChanges(database: BetterSQLite3Database, target: string): readonly TargetChange[] {
  const rows = database.select().from(changes).where(eq(changes.target, target)).orderBy(desc(changes.id)).limit(1_000);
  return rows.all().map(changeOf);
}

/** Stores changes in one transaction; of a kind at a node the newest are kept. */
export function writeChanges(database: BetterSQLite3Database, all: readonly TargetChange[]): void {
  database.transaction((work) => {
    for (const { node, ...change } of all) {
      const row = { ...change, node: node ?? '' };
      const alike = and(eq(changes.target, row.target), eq(changes.kind, row.kind), eq(changes.node, row.node));
      work.insert(changes).values(row).run();
      const rows = work.select({ id: changes.id }).from(changes).where(alike).orderBy(desc(changes.id));
      const oldest = rows.limit(1).offset(keptOfAKind).get();
      if (oldest === undefined) continue;
      work
        .delete(changes)
        .where(and(alike, lte(changes.id, oldest.id)))
        .run();
    }
  });
}

function changeOf({ target, kind, node, at, value }: ChangeRow): TargetChange {
  return { target, kind: Kind.parse(kind), node: node === '' ? null : node, at, value };
}
