import type Database from 'better-sqlite3';
import { z } from 'zod';
import { checkOf, CheckSpec, NodeInfo } from '#checks/index.ts';
import type { Clock } from '#kernel/clock.ts';
import { WatchpostError } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import type { ServiceStore, StoredRun } from '#service/ports.ts';
import { isOutage, reasonOf } from './errors.ts';

export interface RunStoreOptions {
  readonly database: Database.Database;
  readonly clock: Clock;
  readonly log: Log;
}

export interface RunStore extends ServiceStore {
  /** Writes what waits; what cannot be written is given up and logged. */
  close(): void;
}

type NewRun = Parameters<ServiceStore['addRun']>[0];

interface Start {
  readonly run: NewRun;
  resolve(): void;
  reject(error: Error): void;
}

interface Answer {
  readonly id: string;
  readonly position: number;
  readonly text: string;
}

const answersWaitMs = 250;
const retryMs = 1_000;
const longestQueue = 50_000;

/**
 * Group commit for runs. Starts that come in one turn of the event loop share a transaction, and take waiting answers along;
 * answers alone wait a moment for company. Where the database refuses, starts fail at once and answers wait.
 */
export function createRunStore({ database, clock, log }: RunStoreOptions): RunStore {
  const statements = prepare(database);
  let starts: Start[] = [];
  let answers: Answer[] = [];
  let timer: Disposable | null = null;
  let turn = false;
  let closed = false;

  const commit = database.transaction((newRuns: readonly Start[], newAnswers: readonly Answer[]) => {
    for (const { run } of newRuns) {
      statements.insertRun.run(run.id, run.createdAt, specText(run.spec), JSON.stringify(run.nodes));
    }
    for (const { id, position, text } of newAnswers) statements.insertAnswer.run(position, text, id);
  });

  function flush(): void {
    turn = false;
    timer?.[Symbol.dispose]();
    timer = null;
    const [newRuns, newAnswers] = [starts, answers];
    starts = [];
    answers = [];
    if (newRuns.length + newAnswers.length === 0) return;
    try {
      database.pragma('synchronous = NORMAL');
      commit.immediate(newRuns, newAnswers);
      for (const start of newRuns) start.resolve();
    } catch (error) {
      const reason = new WatchpostError('store_failed', `the check was not stored: ${reasonOf(error)}`, {
        cause: error,
      });
      for (const start of newRuns) start.reject(reason);
      keep(newAnswers, error);
    }
  }

  function keep(unwritten: readonly Answer[], error: unknown): void {
    const kept = isOutage(error) && !closed ? [...unwritten, ...answers].slice(-longestQueue) : [];
    const lost = unwritten.length + answers.length - kept.length;
    log.error({ err: error, waiting: kept.length, lost }, 'database refuses outcomes of checks');
    answers = kept;
    if (kept.length > 0) timer = clock.after(retryMs, flush);
  }

  return {
    async addRun(run) {
      if (closed) throw new WatchpostError('store_failed', 'the database is closed');
      await new Promise<void>((resolve, reject) => {
        starts.push({ run, resolve, reject });
        if (!turn) setImmediate(flush);
        turn = true;
      });
    },

    addOutcome(id, position, outcome) {
      if (closed) return;
      answers.push({ id, position, text: JSON.stringify(outcome) });
      timer ??= clock.after(answersWaitMs, flush);
    },

    findRun(id) {
      const row = Row.optional().parse(statements.selectRun.get(id));
      if (row === undefined) return null;
      return runOf(id, row, z.array(AnswerRow).parse(statements.selectAnswers.all(row.key)));
    },

    pruneRuns: ({ before, limit }) => statements.prune.run(limit, before).changes,

    close() {
      if (closed) return;
      closed = true;
      flush();
    },
  };
}

function prepare(database: Database.Database) {
  return {
    insertRun: database.prepare('INSERT INTO runs (id, created_at, spec, nodes) VALUES (?, ?, ?, ?)'),
    insertAnswer: database.prepare(
      'INSERT OR IGNORE INTO run_results (run_key, position, outcome) SELECT key, ?, ? FROM runs WHERE id = ?',
    ),
    selectRun: database.prepare('SELECT key, created_at AS createdAt, spec, nodes FROM runs WHERE id = ?'),
    selectAnswers: database.prepare('SELECT position, outcome FROM run_results WHERE run_key = ?'),
    // Keys grow with time, so the oldest runs stand at the beginning of the table: no index and no scan.
    prune: database.prepare(
      'DELETE FROM runs WHERE key IN (SELECT key FROM (SELECT key, created_at FROM runs ORDER BY key LIMIT ?) WHERE created_at < ?)',
    ),
  };
}

// As people write it, because that is what the schema reads.
function specText(spec: CheckSpec): string {
  return JSON.stringify(z.encode(CheckSpec, spec));
}

const Row = z.object({ key: z.int(), createdAt: z.int(), spec: z.string(), nodes: z.string() });
const AnswerRow = z.object({ position: z.int(), outcome: z.string() });

function runOf(id: string, row: z.output<typeof Row>, answers: readonly z.output<typeof AnswerRow>[]): StoredRun {
  const spec = CheckSpec.parse(JSON.parse(row.spec));
  const { Outcome } = checkOf(spec.type);
  const outcomes = new Map(answers.map(({ position, outcome }) => [position, Outcome.parse(JSON.parse(outcome))]));
  const nodes = z.array(NodeInfo).parse(JSON.parse(row.nodes));
  const entries = nodes.map((node, position) => ({ node, outcome: outcomes.get(position) ?? null }));
  return { id, createdAt: row.createdAt, spec, entries };
}
