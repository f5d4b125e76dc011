import type Database from 'better-sqlite3';
import { z } from 'zod';
import { checkOf, CheckSpec, NodeInfo } from '#checks/index.ts';
import type { Clock } from '#kernel/clock.ts';
import { WatchpostError } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import { onceFor } from '#kernel/once-for.ts';
import type { ServiceStore, StoredRun } from '#service/ports.ts';
import { type BetterSQLite3Database, eq, inArray, lt, sql, prepareRaw } from './drizzle.ts';
import { isOutage, reasonOf } from './errors.ts';
import type { OpenDatabase } from './open.ts';
import { runResults, runs } from './schema.ts';
import { createSpecTexts } from './spec-text.ts';

export interface RunStoreOptions {
  readonly file: OpenDatabase;
  readonly clock: Clock;
  readonly log: Log;
}

export interface RunStore extends ServiceStore {
  /** Writes what waits; what cannot be written is given up and logged. */
  close(): void;
}

type NewRun = Parameters<ServiceStore['addRun']>[0];

/** Starts that are committed together, or not at all. */
interface RunBatch {
  readonly runs: NewRun[];
  readonly stored: PromiseWithResolvers<void>;
}

interface NewResult {
  readonly id: string;
  readonly position: number;
  readonly outcome: string;
}

const resultsWaitMs = 250;
const retryMs = 1_000;
const longestQueue = 50_000;

/**
 * Group commit for runs. Starts that come in one turn of the event loop share a transaction, and take waiting results along;
 * results alone wait a moment for company. If the database refuses, starts fail at once and results wait.
 */
export function createRunStore({
  file: { raw, drizzle: database, waitForDisk },
  clock,
  log,
}: RunStoreOptions): RunStore {
  const statements = prepare(database, raw);
  const specText = createSpecTexts();
  let batch: RunBatch | null = null;
  let results: NewResult[] = [];
  let timer: Disposable | null = null;
  let closed = false;

  const commit = raw.transaction((newRuns: readonly NewRun[], newResults: readonly NewResult[]) => {
    for (const { id, createdAt, spec, nodes } of newRuns) {
      statements.insertRun.run(id, createdAt, specText(spec), `[${nodes.map(nodeText).join(',')}]`);
    }
    for (const { id, position, outcome } of newResults) statements.insertResult.run(position, outcome, id);
  });

  function flush(): void {
    timer?.[Symbol.dispose]();
    timer = null;
    const [newBatch, newResults] = [batch, results];
    batch = null;
    results = [];
    const newRuns = newBatch?.runs ?? [];
    if (newRuns.length + newResults.length === 0) return;
    try {
      waitForDisk(false);
      commit.immediate(newRuns, newResults);
      newBatch?.stored.resolve();
    } catch (error) {
      newBatch?.stored.reject(
        new WatchpostError('store_failed', `the check was not stored: ${reasonOf(error)}`, { cause: error }),
      );
      keep(newResults, error);
    }
  }

  function keep(unwritten: readonly NewResult[], error: unknown): void {
    const kept = isOutage(error) && !closed ? [...unwritten, ...results].slice(-longestQueue) : [];
    const lost = unwritten.length + results.length - kept.length;
    log.error({ err: error, waiting: kept.length, lost }, 'cannot store outcomes of checks');
    results = kept;
    if (kept.length > 0) timer = clock.after(retryMs, flush);
  }

  return {
    async addRun(run) {
      if (closed) throw new WatchpostError('store_failed', 'the database is closed');
      if (batch === null) {
        batch = { runs: [], stored: Promise.withResolvers() };
        setImmediate(flush);
      }
      batch.runs.push(run);
      await batch.stored.promise;
    },

    addOutcome(id, position, outcome) {
      if (closed) return;
      results.push({ id, position, outcome: JSON.stringify(outcome) });
      timer ??= clock.after(resultsWaitMs, flush);
    },

    findRun(id) {
      const row = statements.selectRun.get({ id });
      return row === undefined ? null : runOf(id, row, statements.selectResults.all({ key: row.key }));
    },

    pruneRuns: ({ before, limit }) => statements.prune.run({ before, limit }).changes,

    close() {
      if (closed) return;
      closed = true;
      flush();
    },
  };
}

function prepare(database: BetterSQLite3Database, raw: Database.Database) {
  const hole = sql.placeholder;
  // Keys grow with time, so the oldest runs stand at the beginning of the table: no index and no scan.
  const first = database
    .select({ key: runs.key, createdAt: runs.createdAt })
    .from(runs)
    .orderBy(runs.key)
    .limit(hole('limit'))
    .as('first');
  return {
    insertRun: prepareRaw(
      raw,
      database
        .insert(runs)
        .values({ id: hole('id'), createdAt: hole('createdAt'), spec: hole('spec'), nodes: hole('nodes') }),
    ),
    insertResult: prepareRaw(
      raw,
      database
        .insert(runResults)
        .select(
          database
            .select({
              runKey: runs.key,
              position: sql<number>`${hole('position')}`.as('position'),
              outcome: sql<string>`${hole('outcome')}`.as('outcome'),
            })
            .from(runs)
            .where(eq(runs.id, hole('id'))),
        )
        .onConflictDoNothing(),
    ),
    selectRun: database
      .select()
      .from(runs)
      .where(eq(runs.id, hole('id')))
      .prepare(),
    selectResults: database
      .select({ position: runResults.position, outcome: runResults.outcome })
      .from(runResults)
      .where(eq(runResults.runKey, hole('key')))
      .prepare(),
    prune: database
      .delete(runs)
      .where(
        inArray(
          runs.key,
          database
            .select({ key: first.key })
            .from(first)
            .where(lt(first.createdAt, hole('before'))),
        ),
      )
      .prepare(),
  };
}

// They are few, and each run has some.
const nodeText = onceFor((node: NodeInfo) => JSON.stringify(node));

type RunRow = typeof runs.$inferSelect;
type RunResultRow = Pick<typeof runResults.$inferSelect, 'position' | 'outcome'>;

function runOf(id: string, row: RunRow, rows: readonly RunResultRow[]): StoredRun {
  const spec = CheckSpec.parse(JSON.parse(row.spec));
  const { Outcome } = checkOf(spec.type);
  const outcomes = new Map(rows.map(({ position, outcome }) => [position, Outcome.parse(JSON.parse(outcome))]));
  const nodes = z.array(NodeInfo).parse(JSON.parse(row.nodes));
  const results = nodes.map((node, position) => ({ node, outcome: outcomes.get(position) ?? null }));
  return { id, createdAt: row.createdAt, spec, results };
}
