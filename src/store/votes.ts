import { isDeepStrictEqual } from 'node:util';
import type Database from 'better-sqlite3';
import type { Outcome } from '#checks/index.ts';
import type { RoundVerdict } from '#history/verdict-periods.ts';
import type { LateVote, RoundRecord, ShownVerdict } from '#monitor/judge/round-record.ts';
import type { Vote } from '#monitor/judge/vote.ts';
import { and, type BetterSQLite3Database, eq, sql, prepareRaw } from './drizzle.ts';
import type { NameTable } from './names.ts';
import type { OpenDatabase } from './open.ts';
import { failureText, statusNumber, statusOf, toMicroseconds } from './rows.ts';
import { results } from './schema.ts';
import type { HistoryParts } from './sealing/parts.ts';

/** Writes what nodes saw. */
export interface VoteWriter {
  /** Writes the results of a round under the first free name, and what they say together. */
  writeRound(round: RoundRecord): 'stored' | 'duplicate';
  writeLate(late: LateVote): 'stored' | 'revised' | 'duplicate';
  /** The verdict that its round has with a late vote; undefined if that is not to change. */
  verdictWith(late: LateVote): ShownVerdict | null | undefined;
}

export type VoteDependencies = Pick<HistoryParts, 'periods' | 'late' | 'upkeep' | 'recent'>;

type VoteRow = ReturnType<typeof rowOf>;
/** A vote that is there; `lateAt` is null if a round counted it. */
type StoredVote = VoteRow & { readonly lateAt: number | null };

export function createVoteWriter(
  { raw, drizzle }: Pick<OpenDatabase, 'raw' | 'drizzle'>,
  names: NameTable,
  { periods, late, upkeep, recent }: VoteDependencies,
): VoteWriter {
  const statements = prepare(raw, drizzle);

  // The first free name for these results, or null if they are there. Votes that came too late for this very round may be there
  // before it: it waited for the one before it, or was to be stored when this process ended.
  function nameOf(targetId: number, dueAt: number, rows: readonly VoteRow[]): number | null {
    for (let name = dueAt; ; name += 1) {
      const there = rows.length === 0 || recent.isBefore(targetId, name) ? [] : votesOf(targetId, name);
      if (there.every(({ lateAt }) => lateAt !== null)) return name;
      if (rows.every((row) => there.some(({ lateAt, ...one }) => lateAt === null && isDeepStrictEqual(one, row))))
        return null;
    }
  }

  function votesOf(targetId: number, dueAt: number): readonly StoredVote[] {
    if (late.isSealed(dueAt)) return late.round(targetId, dueAt);
    return statements.round.all(dueAt, targetId).map(({ status, ...row }) => ({ ...row, status: statusOf(status) }));
  }

  function writeResults(targetId: number, dueAt: number, rows: readonly VoteRow[]): void {
    if (late.isSealed(dueAt)) {
      for (const { nodeId, ...result } of rows) late.add({ targetId, nodeId }, { dueAt, ...result, lateAt: null });
      return;
    }
    if (rows.length > 0) recent.add(targetId, dueAt);
    for (const { nodeId } of rows) upkeep.written({ targetId, nodeId }, dueAt);
    let from = 0;
    for (; rows.length - from >= rowsTogether; from += rowsTogether) {
      const values: (number | string | null)[] = [];
      for (const { nodeId, status, durationUs, failure } of rows.slice(from, from + rowsTogether))
        values.push(dueAt, targetId, nodeId, statusNumber(status), durationUs, failure);
      statements.insertMany.run(values);
    }
    for (const { nodeId, status, durationUs, failure } of from === 0 ? rows : rows.slice(from))
      statements.insert.run(dueAt, targetId, nodeId, statusNumber(status), durationUs, failure);
  }

  // False if there is a vote of this node that is more than a missing answer.
  function writeLateVote(targetId: number, dueAt: number, { node, outcome }: Vote, at: number): boolean {
    const pair = { targetId, nodeId: names.node(node.name) };
    const { nodeId, status, durationUs, failure } = rowOf(pair.nodeId, outcome);
    if (late.isSealed(dueAt)) return late.add(pair, { dueAt, status, durationUs, failure, lateAt: at });
    upkeep.written(pair, dueAt);
    recent.add(targetId, dueAt);
    const { changes } = statements.insertLate.run(
      dueAt,
      targetId,
      nodeId,
      statusNumber(status),
      durationUs,
      failure,
      at,
    );
    return changes > 0;
  }

  function revise(targetId: number, dueAt: number, verdict: RoundVerdict): boolean {
    const reachMs = Math.max(verdict.holdsMs, 1);
    const before = recent.of(targetId, dueAt - reachMs, dueAt).at(-1) ?? null;
    const [after = null] = recent.of(targetId, dueAt + 1, dueAt + reachMs);
    return periods.revise(targetId, { before, dueAt, after }, verdict);
  }

  return {
    writeRound({ target, dueAt, votes, verdict, revisedAt }) {
      const targetId = names.target(target);
      if (revisedAt !== undefined) {
        // A node that is still missing was noted as such when the round ended.
        const given = votes.filter(({ outcome }) => outcome.status !== 'unknown');
        for (const vote of given) writeLateVote(targetId, dueAt, vote, revisedAt);
        if (verdict !== undefined) revise(targetId, dueAt, verdict);
        return 'stored';
      }
      const rows = votes.map(({ node, outcome }) => rowOf(names.node(node.name), outcome));
      const name = nameOf(targetId, dueAt, rows);
      if (name === null) return 'duplicate';
      writeResults(targetId, name, rows);
      if (verdict !== undefined) periods.note(targetId, name, verdict);
      return 'stored';
    },

    writeLate({ target, dueAt, vote, at, verdictOf }) {
      const targetId = names.target(target);
      if (!writeLateVote(targetId, dueAt, vote, at)) return 'duplicate';
      if (verdictOf === undefined || periods.hasVerdict(targetId, dueAt)) return 'stored';
      const verdict = verdictOf(votesOf(targetId, dueAt).map(({ status }) => status));
      return verdict !== null && revise(targetId, dueAt, verdict) ? 'revised' : 'stored';
    },

    verdictWith({ target, dueAt, vote, verdictOf }) {
      const targetId = names.target(target);
      if (verdictOf === undefined || periods.hasVerdict(targetId, dueAt)) return undefined;
      const nodeId = names.node(vote.node.name);
      const others = votesOf(targetId, dueAt).filter((one) => one.nodeId !== nodeId);
      return verdictOf([...others.map(({ status }) => status), vote.outcome.status]);
    },
  };
}

function rowOf(nodeId: number, outcome: Outcome) {
  return { nodeId, status: outcome.status, durationUs: toMicroseconds(outcome.seconds), failure: failureText(outcome) };
}

type VoteTuple = [
  dueAt: number,
  targetId: number,
  nodeId: number,
  status: number,
  us: number | null,
  failure: string | null,
];

// Each row by itself costs nearly twice of what it does among so many.
const rowsTogether = 10;

function prepare(raw: Database.Database, database: BetterSQLite3Database) {
  const hole = sql.placeholder;
  const key = [results.dueAt, results.targetId, results.nodeId];
  const unknown = sql.raw(String(statusNumber('unknown')));
  const row = {
    dueAt: hole('dueAt'),
    targetId: hole('targetId'),
    nodeId: hole('nodeId'),
    status: hole('status'),
    durationUs: hole('durationUs'),
    failure: hole('failure'),
  };
  const seen = {
    status: sql`excluded.status`,
    durationUs: sql`excluded.duration_us`,
    failure: sql`excluded.failure`,
  };
  const insert = (rows: number) =>
    database
      .insert(results)
      .values(Array.from({ length: rows }, () => row))
      .onConflictDoUpdate({
        target: key,
        set: { ...seen, lateAt: sql`NULL` },
        setWhere: sql`excluded.status != ${unknown}`,
      });
  const late = database
    .insert(results)
    .values({ ...row, lateAt: hole('lateAt') })
    .onConflictDoUpdate({
      target: key,
      set: { ...seen, lateAt: sql`excluded.late_at` },
      setWhere: sql`${results.status} = ${unknown} AND ${results.lateAt} IS NULL`,
    });
  const round = database
    .select({
      nodeId: sql`${results.nodeId}`.as('nodeId'),
      status: results.status,
      durationUs: sql`${results.durationUs}`.as('durationUs'),
      failure: results.failure,
      lateAt: sql`${results.lateAt}`.as('lateAt'),
    })
    .from(results)
    .where(and(eq(results.dueAt, hole('dueAt')), eq(results.targetId, hole('targetId'))));
  return {
    round: prepareRaw<[dueAt: number, targetId: number], Omit<StoredVote, 'status'> & { status: number }>(raw, round),
    insert: prepareRaw<VoteTuple>(raw, insert(1)),
    insertMany: prepareRaw<[(number | string | null)[]]>(raw, insert(rowsTogether)),
    insertLate: prepareRaw<[...VoteTuple, lateAt: number]>(raw, late),
  };
}
