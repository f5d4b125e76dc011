import { type BetterSQLite3Database, eq, sql } from './drizzle.ts';
import { nodes, targets } from './schema.ts';

/** The numbers that stand for names in the file; a name gets one with its first use, inside the transaction of its caller. */
export interface NameTable {
  target(name: string): number;
  node(name: string): number;
  /** Must be called after a rollback: names that were given a number in it have none any more. */
  forget(): void;
}

export function createNames(database: BetterSQLite3Database): NameTable {
  const kept = { target: new Map<string, number>(), node: new Map<string, number>() };
  const statements = { target: prepare(database, targets), node: prepare(database, nodes) };

  function idOf(table: 'target' | 'node', name: string): number {
    const known = kept[table].get(name);
    if (known !== undefined) return known;
    statements[table].insert.run({ name });
    const row = statements[table].select.get({ name });
    if (row === undefined) throw new RangeError(`no number for ${table} ${name}`);
    kept[table].set(name, row.id);
    return row.id;
  }

  return {
    target: (name) => idOf('target', name),
    node: (name) => idOf('node', name),
    forget() {
      kept.target.clear();
      kept.node.clear();
    },
  };
}

function prepare(database: BetterSQLite3Database, table: typeof targets | typeof nodes) {
  const name = sql.placeholder('name');
  return {
    insert: database.insert(table).values({ name }).onConflictDoNothing().prepare(),
    select: database.select({ id: table.id }).from(table).where(eq(table.name, name)).prepare(),
  };
}
