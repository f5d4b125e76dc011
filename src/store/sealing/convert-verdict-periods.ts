import type Database from 'better-sqlite3';
import type { HistorySource, PastResult } from '#history/source.ts';
import type { TimeSpan } from '#history/span.ts';
import { follow, type RoundVerdict, type VerdictPeriod } from '#history/verdict-periods.ts';
import { dayMs, hourMs } from '#kernel/units.ts';
import { tallyStatuses } from '#monitor/judge/verdict.ts';
import { putPeriod } from '../verdict-periods.ts';
import type { SealingMarks } from './marks.ts';
import type { RecentRounds } from './recent-rounds.ts';

/**
 * Gives the rounds of before the first period of their target, which a file of an earlier version has, a verdict each, and these their
 * periods: a target after the other, from its newest day back, each day in one transaction. Wherever it is cut off it goes on there.
 */
export interface VerdictPeriodConversion {
  /** Does a piece of work; false if no target is left. To be called if all older results are sealed. */
  step(): boolean;
  /** How many targets are left. */
  targetsLeft(): number;
  /** How many periods it has made since the start. */
  readonly made: number;
}

const targetsAtOnce = 100;
// How long a result counts if the interval is unknown.
const holdsMs = 600_000;

interface ConversionWork extends TimeSpan {
  readonly id: number;
  readonly name: string;
}

export function createVerdictPeriodConversion(
  database: Database.Database,
  marks: SealingMarks,
  source: Pick<HistorySource, 'results'>,
  recent: Pick<RecentRounds, 'of'>,
): VerdictPeriodConversion {
  const statements = prepare(database);
  let work: ConversionWork | null = null;
  let made = 0;

  function begin(): ConversionWork | null {
    const next = statements.next.get(marks.get('periods_done'));
    if (next === undefined) return null;
    const hours = statements.nodes
      .all()
      .flatMap(
        ({ nodeId }) => statements.firstHour.get(next.id, nodeId, marks.get('results_from') / hourMs)?.hour ?? [],
      );
    const sealedUntil = marks.get('hours_until');
    const to = Math.min(statements.firstPeriod.get(next.id)?.at ?? Infinity, sealedUntil + 3 * hourMs);
    // A target that was added in the last hour before the update has no sealed hour.
    const [unsealedFrom = Infinity] = recent.of(next.id, sealedUntil, to);
    return { ...next, from: Math.min(Math.min(...hours) * hourMs, unsealedFrom), to };
  }

  const put = database.transaction((id: number, periods: readonly VerdictPeriod[], isDone: boolean) => {
    for (const period of periods) made += putPeriod(statements.insert, id, period);
    if (isDone) marks.set('periods_done', id);
  });

  function convert({ id, name, from, to: end }: ConversionWork): ConversionWork | null {
    // Its first round of today may have come meanwhile.
    const to = Math.min(end, statements.firstPeriod.get(id)?.at ?? Infinity);
    const start = Math.max(from, Math.floor((to - 1) / dayMs) * dayMs);
    const isDone = start <= from;
    put.immediate(id, periodsOf(source.results(name, null, { from: start, to })), isDone);
    return isDone ? null : { id, name, from, to: start };
  }

  return {
    step() {
      for (let looked = 0; work === null && looked < targetsAtOnce; looked += 1) {
        const next = begin();
        if (next === null) return looked > 0;
        if (next.from < next.to) work = next;
        else marks.set('periods_done', next.id);
      }
      if (work !== null) work = convert(work);
      return true;
    },
    targetsLeft: () => statements.left.get(marks.get('periods_done'))?.count ?? 0,
    get made() {
      return made;
    },
  };
}

/** The periods of rounds in order of time, each as most of its nodes saw it: the rules of that time are not known any more. */
function periodsOf(results: readonly PastResult[]): readonly VerdictPeriod[] {
  const rounds = [...Map.groupBy(results, ({ dueAt }) => dueAt)];
  const holds = rhythmOf(rounds.map(([dueAt]) => dueAt));
  const periods: VerdictPeriod[] = [];
  for (const [dueAt, votes] of rounds) {
    const next = follow(periods.at(-1) ?? null, dueAt, verdictOf(votes, holds));
    if (next === null) continue;
    if (next.from === periods.at(-1)?.from) periods.pop();
    periods.push(next);
  }
  return periods;
}

// What came when the round was over was not part of its verdict.
function verdictOf(votes: readonly PastResult[], holds: number): RoundVerdict {
  const statuses = votes.map(({ status, lateAt }) => (lateAt === null ? status : 'unknown'));
  const { status } = tallyStatuses(statuses, { kind: 'majority' });
  return { status, inMaintenance: false, holdsMs: holds };
}

// Twice the gap that most rounds have, as for rounds that are watched.
function rhythmOf(dues: readonly number[]): number {
  const gaps = dues.slice(1).map((dueAt, index) => dueAt - (dues[index] ?? dueAt));
  const median = gaps.toSorted((a, b) => a - b)[Math.floor(gaps.length / 2)];
  return median === undefined ? holdsMs : Math.min(2 * median, dayMs);
}

function prepare(database: Database.Database) {
  return {
    next: database.prepare<[number], { id: number; name: string }>(
      'SELECT id, name FROM targets WHERE id > ? ORDER BY id LIMIT 1',
    ),
    left: database.prepare<[number], { count: number }>('SELECT count(*) AS count FROM targets WHERE id > ?'),
    nodes: database.prepare<[], { nodeId: number }>('SELECT id AS nodeId FROM nodes'),
    firstHour: database.prepare<[number, number, number], { hour: number }>(
      'SELECT hour FROM sealed_hours WHERE target_id = ? AND node_id = ? AND hour >= ? ORDER BY hour LIMIT 1',
    ),
    firstPeriod: database.prepare<[number], { at: number | null }>(
      'SELECT min(from_at) AS at FROM verdict_periods WHERE target_id = ?',
    ),
    insert: database.prepare<[number, number, number, number, number, number]>(
      `INSERT INTO verdict_periods (target_id, from_at, last_at, holds_ms, status, in_maintenance) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT DO NOTHING`,
    ),
  };
}
