import { isDeepStrictEqual } from 'node:util';
import type { Outcome } from '#checks/index.ts';
import type { LateVote, RoundRecord } from '#monitor/judge/round-record.ts';
import { and, type BetterSQLite3Database, eq, sql } from './drizzle.ts';
import { remindOthers, writeReminder } from './reminders.ts';
import {
  type Delivery,
  failureText,
  type Incident,
  incidentRow,
  type RuleState,
  type Settlement,
  stateText,
  statusNumber,
  statusOf,
  toMicroseconds,
} from './rows.ts';
import { deliveries, incidents, nodes, results, ruleStates, targets } from './schema.ts';
import type { HistoryParts } from './sealing/parts.ts';

export interface Writer {
  /**
   * Writes a whole round. Where its very results are there already, only what follows from them is written; where others of its
   * name are, it gets the next name that is free, a millisecond later.
   */
  writeRound(round: RoundRecord): 'stored' | 'duplicate';
  /** Writes a vote whose round is over: where it has none from this node, or only the word that there was no answer. */
  writeLate(late: LateVote): 'stored' | 'duplicate';
  /** Settles a delivery, unless it was settled before; a reminder that it asks for is written with it. */
  writeSettlement(settlement: Settlement): void;
  /** Must be called after a rollback: names that were given a number in it have none any more. */
  forgetNames(): void;
}

type VoteRow = ReturnType<typeof resultOf> & { readonly nodeId: number };

export type WriterParts = Pick<HistoryParts, 'spells' | 'late' | 'upkeep' | 'recent'>;

/** Everything that writes, inside the transaction of its caller. */
export function createWriter(database: BetterSQLite3Database, { spells, late, upkeep, recent }: WriterParts): Writer {
  const statements = prepare(database);
  const targetIds = new Map<string, number>();
  const nodeIds = new Map<string, number>();

  function idOf(ids: Map<string, number>, name: string, table: 'target' | 'node'): number {
    const known = ids.get(name);
    if (known !== undefined) return known;
    statements.insertName[table].run({ name });
    const row = statements.selectName[table].get({ name });
    if (row === undefined) throw new RangeError(`no number for ${table} ${name}`);
    ids.set(name, row.id);
    return row.id;
  }

  // The first free name for these results, or null where they are there.
  function nameOf(targetId: number, dueAt: number, rows: readonly VoteRow[]): number | null {
    for (let name = dueAt; ; name += 1) {
      const there = rows.length === 0 ? [] : votesOf(targetId, name);
      if (there.length === 0) return name;
      if (rows.every((row) => there.some((one) => isDeepStrictEqual(one, row)))) return null;
    }
  }

  function votesOf(targetId: number, dueAt: number): readonly VoteRow[] {
    if (late.isSealed(dueAt)) return late.round(targetId, dueAt);
    return statements.selectRound
      .all({ dueAt, targetId })
      .map(({ status, ...row }) => ({ ...row, status: statusOf(status) }));
  }

  function writeState(state: RuleState): void {
    const targetId = idOf(targetIds, state.target, 'target');
    statements.upsertState.run({ targetId, rule: state.rule, state: stateText(state) });
  }

  function writeIncident(incident: Incident): void {
    const row = incidentRow(incident, idOf(targetIds, incident.target, 'target'));
    database
      .insert(incidents)
      .values(row)
      .onConflictDoUpdate({
        target: incidents.id,
        set: { startedAt: row.startedAt, endedAt: row.endedAt ?? null, story: row.story },
      })
      .run();
  }

  function writeDelivery({ id: _id, ...delivery }: Delivery): void {
    database
      .insert(deliveries)
      .values({ ...delivery, state: 'pending' })
      .onConflictDoNothing()
      .run();
  }

  function writeResult(targetId: number, dueAt: number, { nodeId, ...result }: VoteRow): void {
    const pair = { targetId, nodeId };
    if (late.isSealed(dueAt)) {
      late.add(pair, { dueAt, ...result, lateAt: null });
      return;
    }
    upkeep.written(pair, dueAt);
    recent.add(targetId, dueAt);
    statements.insertResult.run({ dueAt, ...pair, ...result, status: statusNumber(result.status) });
  }

  return {
    writeRound({ target, dueAt, votes, verdict, states, incidents, deliveries }) {
      const targetId = idOf(targetIds, target, 'target');
      const rows = votes.map(({ node, outcome }) => ({
        nodeId: idOf(nodeIds, node.name, 'node'),
        ...resultOf(outcome),
      }));
      const name = nameOf(targetId, dueAt, rows);
      if (name !== null) for (const row of rows) writeResult(targetId, name, row);
      if (verdict !== undefined && name !== null) spells.note(targetId, name, verdict);
      states.forEach(writeState);
      incidents.forEach(writeIncident);
      deliveries.forEach(writeDelivery);
      return name === null ? 'duplicate' : 'stored';
    },

    writeLate({ target, dueAt, vote: { node, outcome }, at }) {
      const pair = { targetId: idOf(targetIds, target, 'target'), nodeId: idOf(nodeIds, node.name, 'node') };
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

    writeSettlement(settlement) {
      const { changes } = database
        .update(deliveries)
        .set(changeOf(settlement))
        .where(and(eq(deliveries.id, settlement.id), eq(deliveries.state, 'pending')))
        .run();
      if (changes === 0) return;
      if (settlement.state === 'sent' && settlement.remindAt !== null)
        writeReminder(database, settlement.id, settlement.remindAt);
      const { tellOthersAt = null } = settlement.state === 'pending' ? settlement : {};
      if (tellOthersAt !== null) remindOthers(database, settlement.id, tellOthersAt);
    },

    forgetNames() {
      targetIds.clear();
      nodeIds.clear();
    },
  };
}

function resultOf(outcome: Outcome) {
  return { status: outcome.status, durationUs: toMicroseconds(outcome.seconds), failure: failureText(outcome) };
}

function changeOf(settlement: Settlement) {
  const attempts = sql`${deliveries.attempts} + 1`;
  switch (settlement.state) {
    case 'claimed':
      return { message: settlement.message };
    case 'sent':
      return {
        state: settlement.state,
        settledAt: settlement.at,
        message: settlement.message,
        reference: settlement.reference ?? null,
        attempts,
      };
    case 'merged':
      return { state: settlement.state, settledAt: settlement.at, message: settlement.message };
    case 'dead':
      return { state: settlement.state, settledAt: settlement.at, attempts, lastError: settlement.error };
    case 'pending':
      return {
        nextAttemptAt: settlement.nextAttemptAt,
        attempts,
        lastError: settlement.error,
        message: settlement.message,
      };
  }
}

function prepare(database: BetterSQLite3Database) {
  const hole = sql.placeholder;
  const insertName = (table: typeof targets | typeof nodes) =>
    database
      .insert(table)
      .values({ name: hole('name') })
      .onConflictDoNothing()
      .prepare();
  const selectName = (table: typeof targets | typeof nodes) =>
    database
      .select({ id: table.id })
      .from(table)
      .where(eq(table.name, hole('name')))
      .prepare();
  return {
    insertName: { target: insertName(targets), node: insertName(nodes) },
    selectName: { target: selectName(targets), node: selectName(nodes) },
    selectRound: database
      .select({
        nodeId: results.nodeId,
        status: results.status,
        durationUs: results.durationUs,
        failure: results.failure,
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
      .prepare(),
    upsertState: database
      .insert(ruleStates)
      .values({ targetId: hole('targetId'), rule: hole('rule'), state: hole('state') })
      .onConflictDoUpdate({ target: [ruleStates.targetId, ruleStates.rule], set: { state: sql`excluded.state` } })
      .prepare(),
  };
}
