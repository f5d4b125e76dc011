import { isDeepStrictEqual } from 'node:util';
import type { LateVote, RoundRecord } from '#monitor/judge/round-record.ts';
import { and, type BetterSQLite3Database, eq, sql } from './drizzle.ts';
import {
  type Delivery,
  failureText,
  type Incident,
  incidentRow,
  type RuleState,
  type Settlement,
  stateText,
  statusNumber,
  toMicroseconds,
} from './rows.ts';
import { deliveries, incidents, nodes, results, ruleStates, targets } from './schema.ts';

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

interface ResultRow {
  readonly nodeId: number;
  readonly status: number;
  readonly durationUs: number | null;
  readonly failure: string | null;
}

/** Everything that writes, inside the transaction of its caller. */
export function createWriter(database: BetterSQLite3Database): Writer {
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
  function nameOf(targetId: number, dueAt: number, rows: readonly ResultRow[]): number | null {
    for (let name = dueAt; ; name += 1) {
      const there = rows.length === 0 ? [] : statements.selectRound.all({ dueAt: name, targetId });
      if (there.length === 0) return name;
      if (rows.every((row) => there.some((one) => isDeepStrictEqual(one, row)))) return null;
    }
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

  // The reminder that follows a delivery, if its incident is open by now.
  function writeReminder(after: number, at: number): void {
    database.run(sql`
      INSERT INTO deliveries
        (incident_id, kind, number, channel, recipient, state, created_at, next_attempt_at, attempts)
      SELECT incident_id, 'reminder', CASE kind WHEN 'reminder' THEN number + 1 ELSE 1 END,
        channel, recipient, 'pending', ${at}, ${at}, 0
      FROM deliveries JOIN incidents ON incidents.id = incident_id
      WHERE deliveries.id = ${after} AND ended_at IS NULL
      ON CONFLICT DO NOTHING`);
  }

  // Those who were told of the incident hear at once of the recipient that cannot be.
  function remindOthers(unreached: number, at: number): void {
    const others = sql`
      FROM deliveries AS told JOIN deliveries AS lost ON lost.incident_id = told.incident_id
        JOIN incidents ON incidents.id = told.incident_id
      WHERE lost.id = ${unreached} AND told.kind = 'opened' AND told.state = 'sent' AND incidents.ended_at IS NULL
        AND (told.channel, told.recipient) <> (lost.channel, lost.recipient)`;
    database.run(sql`
      UPDATE deliveries SET created_at = min(created_at, ${at}), next_attempt_at = min(next_attempt_at, ${at})
      WHERE kind = 'reminder' AND state = 'pending'
        AND (incident_id, channel, recipient) IN (SELECT told.incident_id, told.channel, told.recipient ${others})`);
    database.run(sql`
      INSERT INTO deliveries
        (incident_id, kind, number, channel, recipient, state, created_at, next_attempt_at, attempts)
      SELECT told.incident_id, 'reminder',
        1 + coalesce((SELECT max(number) FROM deliveries AS earlier WHERE earlier.incident_id = told.incident_id
          AND earlier.kind = 'reminder' AND earlier.channel = told.channel AND earlier.recipient = told.recipient), 0),
        told.channel, told.recipient, 'pending', ${at}, ${at}, 0
      ${others}
        AND NOT EXISTS (SELECT 1 FROM deliveries AS waiting WHERE waiting.incident_id = told.incident_id
          AND waiting.kind = 'reminder' AND waiting.state = 'pending'
          AND waiting.channel = told.channel AND waiting.recipient = told.recipient)
      ON CONFLICT DO NOTHING`);
  }

  return {
    writeRound({ target, dueAt, votes, states, incidents, deliveries }) {
      const targetId = idOf(targetIds, target, 'target');
      const rows = votes.map(({ node, outcome }) => ({
        nodeId: idOf(nodeIds, node.name, 'node'),
        status: statusNumber(outcome.status),
        durationUs: toMicroseconds(outcome.seconds),
        failure: failureText(outcome),
      }));
      const name = nameOf(targetId, dueAt, rows);
      if (name !== null) for (const row of rows) statements.insertResult.run({ ...row, dueAt: name, targetId });
      states.forEach(writeState);
      incidents.forEach(writeIncident);
      deliveries.forEach(writeDelivery);
      return name === null ? 'duplicate' : 'stored';
    },

    writeLate({ target, dueAt, vote: { node, outcome }, at }) {
      const change = {
        status: statusNumber(outcome.status),
        durationUs: toMicroseconds(outcome.seconds),
        failure: failureText(outcome),
        lateAt: at,
      };
      const { changes } = database
        .insert(results)
        .values({
          dueAt,
          targetId: idOf(targetIds, target, 'target'),
          nodeId: idOf(nodeIds, node.name, 'node'),
          ...change,
        })
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
        writeReminder(settlement.id, settlement.remindAt);
      const { tellOthersAt = null } = settlement.state === 'pending' ? settlement : {};
      if (tellOthersAt !== null) remindOthers(settlement.id, tellOthersAt);
    },

    forgetNames() {
      targetIds.clear();
      nodeIds.clear();
    },
  };
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
