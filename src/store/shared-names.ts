import { type BetterSQLite3Database, eq, or, sql } from './drizzle.ts';
import { facts } from './schema.ts';

/** The fact that says how far the log of several hubs is applied. */
export const positionName = 'applied position';
/** What the names of facts begin with that the log does not have yet. */
export const backlogName = 'backlog ';

/** Forgets that the file was one of several hubs: what is written from now on is in no log. */
export function forgetPosition(database: BetterSQLite3Database): void {
  const isOfLog = or(eq(facts.name, positionName), sql`${facts.name} GLOB ${`${backlogName}*`}`);
  database.delete(facts).where(isOfLog).run();
}
