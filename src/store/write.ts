import type { LateVote, RoundRecord, ShownVerdict } from '#monitor/judge/round-record.ts';
import { and, type BetterSQLite3Database, eq, sql } from './drizzle.ts';
import { createHeardWriter } from './heartbeats.ts';
import { createNames } from './names.ts';
import type { OpenDatabase } from './open.ts';
import { remindOthers, writeReminder } from './reminders.ts';
import {
  type DeliveryInput,
  type IncidentInput,
  incidentRow,
  type RuleStateInput,
  type OutcomeInput,
  stateText,
} from './rows.ts';
import { deliveries, incidents, ruleStates, targets } from './schema.ts';
import { createVoteWriter, type VoteDependencies } from './votes.ts';

export interface Writer {
  /**
   * Writes a whole round. If its very results are there already, only what follows from them is written; where others of its
   * name are, it gets the next name that is free, a millisecond later.
   */
  writeRound(round: RoundRecord): 'stored' | 'duplicate';
  /**
   * Writes a vote whose round is over, unless the round has one of this node that is more than a missing answer. `revised` if the
   * round has a verdict now that it did not have.
   */
  writeLate(late: LateVote): 'stored' | 'revised' | 'duplicate';
  /** The verdict that its round has with a late vote; undefined if that is not to change. */
  verdictWith(late: LateVote): ShownVerdict | null | undefined;
  /** Settles a delivery, unless it was settled before; a reminder that it asks for is written with it. */
  writeOutcome(outcome: OutcomeInput): void;
  /** Must be called after a rollback: names that were given a number in it have none any more. */
  forgetNames(): void;
  /** Another number after incidents or notes were written. */
  newsVersion(): number;
  noteWritten(): void;
}

/** Everything that writes, inside the transaction of its caller. */
export function createWriter(file: Pick<OpenDatabase, 'raw' | 'drizzle'>, parts: VoteDependencies): Writer {
  const database = file.drizzle;
  const names = createNames(database);
  const votes = createVoteWriter(file, names, parts);
  const upsertState = prepareState(database);
  const writeHeard = createHeardWriter(database);
  const updateSpec = prepareSpec(database);

  function writeState(state: RuleStateInput): void {
    upsertState.run({ targetId: names.target(state.target), rule: state.rule, state: stateText(state) });
  }

  let newsVersion = 0;

  function writeIncident(incident: IncidentInput): void {
    newsVersion += 1;
    const row = incidentRow(incident, names.target(incident.target));
    database
      .insert(incidents)
      .values(row)
      .onConflictDoUpdate({
        target: incidents.id,
        set: { startedAt: row.startedAt, endedAt: row.endedAt ?? null, story: row.story },
      })
      .run();
  }

  function writeDelivery({ id: _id, ...delivery }: DeliveryInput): void {
    database
      .insert(deliveries)
      .values({ ...delivery, state: 'pending' })
      .onConflictDoNothing()
      .run();
  }

  return {
    newsVersion: () => newsVersion,
    noteWritten: () => void (newsVersion += 1),
    writeRound(round) {
      const written = votes.writeRound(round);
      round.states.forEach(writeState);
      round.incidents.forEach(writeIncident);
      round.deliveries.forEach(writeDelivery);
      if (round.heard !== undefined) writeHeard(names.target(round.target), round.heard);
      if (round.spec !== undefined) updateSpec.run({ targetId: names.target(round.target), spec: round.spec });
      return written;
    },
    writeLate: (late) => votes.writeLate(late),
    verdictWith: (late) => votes.verdictWith(late),
    writeOutcome(outcome) {
      const { changes } = database
        .update(deliveries)
        .set(changeOf(outcome))
        .where(and(eq(deliveries.id, outcome.id), eq(deliveries.state, 'pending')))
        .run();
      if (changes === 0) return;
      const { remindAt = null } = outcome.state === 'sent' || outcome.state === 'dead' ? outcome : {};
      if (remindAt !== null) writeReminder(database, outcome.id, remindAt);
      const { notifyOthersAt = null } = outcome.state === 'pending' ? outcome : {};
      if (notifyOthersAt !== null) remindOthers(database, outcome.id, notifyOthersAt);
    },
    forgetNames: () => names.forget(),
  };
}

function changeOf(outcome: OutcomeInput) {
  const attempts = sql`${deliveries.attempts} + 1`;
  switch (outcome.state) {
    case 'claimed':
      return { message: outcome.message };
    case 'sent':
      return {
        state: outcome.state,
        settledAt: outcome.at,
        message: outcome.message,
        reference: outcome.reference ?? null,
        attempts,
      };
    case 'merged':
      return { state: outcome.state, settledAt: outcome.at, message: outcome.message };
    case 'dead':
      return { state: outcome.state, settledAt: outcome.at, attempts, lastError: outcome.error };
    case 'pending':
      return {
        nextAttemptAt: outcome.nextAttemptAt,
        attempts,
        lastError: outcome.error,
        message: outcome.message,
      };
  }
}

function prepareSpec(database: BetterSQLite3Database) {
  const [targetId, spec] = [sql.placeholder('targetId'), sql.placeholder('spec')];
  return database
    .update(targets)
    .set({ spec: sql`${spec}` })
    .where(eq(targets.id, targetId))
    .prepare();
}

function prepareState(database: BetterSQLite3Database) {
  const hole = sql.placeholder;
  return database
    .insert(ruleStates)
    .values({ targetId: hole('targetId'), rule: hole('rule'), state: hole('state') })
    .onConflictDoUpdate({ target: [ruleStates.targetId, ruleStates.rule], set: { state: sql`excluded.state` } })
    .prepare();
}
