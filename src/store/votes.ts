import { isDeepStrictEqual } from 'node:util';
import type { Outcome } from '#checks/index.ts';
import type { LateVote, RoundRecord } from '#monitor/judge/round-record.ts';
import { and, type BetterSQLite3Database, eq, sql } from './drizzle.ts';
import type { Names } from './names.ts';
import { failureText, statusNumber, statusOf, toMicroseconds } from './rows.ts';
import { results } from './schema.ts';
import type { HistoryParts } from './sealing/parts.ts';

/** Writes what nodes saw. */
export interface VoteWriter {
  /** Writes the results of a round under the first free name, and what they say together. */
  writeRound(round: RoundRecord): 'stored' | 'duplicate';
  writeLate(late: LateVote): 'stored' | 'duplicate';
}

export type VoteDependencies = Pick<HistoryParts, 'spells' | 'late' | 'upkeep' | 'recent'>;

type VoteRow = ReturnType<typeof resultOf> & { readonly nodeId: number };
/** A vote that is there; `lateAt` is null where a round counted it. */
type StoredVote = VoteRow & { readonly lateAt: number | null };

export function createVoteWriter(
  database: BetterSQLite3Database,
  names: Names,
  { spells, late, upkeep, recent }: VoteDependencies,
): VoteWriter {
  const { selectRound, insertResult } = prepare(database);

  // The first free name for these results, or null where they are there. Votes that came too late for this very round may be there
  // before it: it waited for the one before it, or was to be stored when this process ended.
  function nameOf(targetId: number, dueAt: number, rows: readonly VoteRow[]): number | null {
    for (let name = dueAt; ; name += 1) {
      const there = rows.length === 0 ? [] : votesOf(targetId, name);
      if (there.every(({ lateAt }) => lateAt !== null)) return name;
      if (rows.every((row) => there.some(({ lateAt, ...one }) => lateAt === null && isDeepStrictEqual(one, row))))
        return null;
    }
  }

  function votesOf(targetId: number, dueAt: number): readonly StoredVote[] {
    if (late.isSealed(dueAt)) return late.round(targetId, dueAt);
    return selectRound.all({ dueAt, targetId }).map(({ status, ...row }) => ({ ...row, status: statusOf(status) }));
  }

  function writeResult(targetId: number, dueAt: number, { nodeId, ...result }: VoteRow): void {
    const pair = { targetId, nodeId };
    if (late.isSealed(dueAt)) {
      late.add(pair, { dueAt, ...result, lateAt: null });
      return;
    }
    upkeep.written(pair, dueAt);
    recent.add(targetId, dueAt);
    insertResult.run({ dueAt, ...pair, ...result, status: statusNumber(result.status) });
  }

  return {
    writeRound({ target, dueAt, votes, verdict }) {
      const targetId = names.target(target);
      const rows = votes.map(({ node, outcome }) => ({ nodeId: names.node(node.name), ...resultOf(outcome) }));
      const name = nameOf(targetId, dueAt, rows);
      if (name === null) return 'duplicate';
      for (const row of rows) writeResult(targetId, name, row);
      if (verdict !== undefined) spells.note(targetId, name, verdict);
      return 'stored';
    },

    writeLate({ target, dueAt, vote: { node, outcome }, at }) {
      const pair = { targetId: names.target(target), nodeId: names.node(node.name) };
      if (late.isSealed(dueAt)) {
        return late.add(pair, { dueAt, ...resultOf(outcome), lateAt: at }) ? 'stored' : 'duplicate';
      }
      upkeep.written(pair, dueAt);
      recent.add(pair.targetId, dueAt);
      const change = {
        status: statusNumber(outcome.status),
        durationUs: toMicroseconds(outcome.seconds),
        failure: failureText(outcome),
        lateAt: at,
      };
      const { changes } = database
        .insert(results)
        .values({ dueAt, ...pair, ...change })
        .onConflictDoUpdate({
          target: [results.dueAt, results.targetId, results.nodeId],
          set: change,
          setWhere: sql`${results.status} = ${statusNumber('unknown')} AND ${results.lateAt} IS NULL`,
        })
        .run();
      return changes === 0 ? 'duplicate' : 'stored';
    },
  };
}

function resultOf(outcome: Outcome) {
  return { status: outcome.status, durationUs: toMicroseconds(outcome.seconds), failure: failureText(outcome) };
}

function prepare(database: BetterSQLite3Database) {
  const hole = sql.placeholder;
  return {
    selectRound: database
      .select({
        nodeId: results.nodeId,
        status: results.status,
        durationUs: results.durationUs,
        failure: results.failure,
        lateAt: results.lateAt,
      })
      .from(results)
      .where(and(eq(results.dueAt, hole('dueAt')), eq(results.targetId, hole('targetId'))))
      .prepare(),
    insertResult: database
      .insert(results)
      .values({
        dueAt: hole('dueAt'),
        targetId: hole('targetId'),
        nodeId: hole('nodeId'),
        status: hole('status'),
        durationUs: hole('durationUs'),
        failure: hole('failure'),
      })
      .onConflictDoUpdate({
        target: [results.dueAt, results.targetId, results.nodeId],
        set: {
          status: sql`excluded.status`,
          durationUs: sql`excluded.duration_us`,
          failure: sql`excluded.failure`,
          lateAt: null,
        },
        setWhere: sql`excluded.status != ${statusNumber('unknown')}`,
      })
      .prepare(),
  };
}
