import type Database from 'better-sqlite3';
import type { PackedResult } from '#history/pack.ts';
import { withExclusions } from '#history/exclusions.ts';
import type { HistorySource, PastResult, SealedSums } from '#history/source.ts';
import type { TimeSpan } from '#history/span.ts';
import type { VerdictPeriod } from '#history/verdict-periods.ts';
import { hourMs } from '#kernel/units.ts';
import { createExclusionReader } from './exclusions.ts';
import { readIncident, readIncidents } from './incidents.ts';
import type { RecentRounds } from './sealing/recent-rounds.ts';
import type { LateResults } from './sealing/late.ts';
import type { SealingMarks } from './sealing/marks.ts';
import { packedOf, parseStored, type ResultRow, StoredFailure } from './rows.ts';
import { createSealedPast } from './sealing/sealed-past.ts';
import type { SealedRows } from './sealing/sealed-rows.ts';
import { periodColumns, periodOf, type VerdictPeriodRow, unknownStatus } from './verdict-periods.ts';

export interface SourceOptions {
  readonly database: Database.Database;
  readonly rows: SealedRows;
  readonly late: LateResults;
  readonly marks: SealingMarks;
  readonly recent: RecentRounds;
  /** The newest period of each target, by its number, as far as it is known better than the file has it. */
  readonly newest: () => ReadonlyMap<number, VerdictPeriod>;
}

/** What the file holds of the past. */
export function createHistorySource({ database, rows, late, marks, recent, newest }: SourceOptions): HistorySource {
  const statements = prepare(database);
  const sealed = createSealedPast(rows, late);
  const idOf = (target: string) => statements.targetId.get(target)?.id;
  const nodesOf = (node: string | null) => statements.nodes.all().filter(({ name }) => node === null || name === node);

  const exclusionsOf = createExclusionReader(database);

  function periodsOf(target: string, { from, to }: TimeSpan): readonly VerdictPeriod[] {
    const targetId = idOf(target);
    if (targetId === undefined) return [];
    const known = newest().get(targetId);
    return statements.periods
      .all({ targetId, from, to })
      .map((row) => (known?.from === row.fromAt ? known : periodOf(row)));
  }

  function unsealedRows(targetId: number, from: number, to: number): readonly UnsealedRow[] {
    const older = from < recent.since ? statements.results.all(targetId, from, Math.min(to, recent.since)) : [];
    const dues = recent.of(targetId, Math.max(from, recent.since), to);
    return [...older, ...dues.flatMap((dueAt) => statements.round.all(dueAt, targetId))];
  }

  function results(target: string, node: string | null, { from, to }: TimeSpan): readonly PastResult[] {
    const targetId = idOf(target);
    if (targetId === undefined) return [];
    const sealedUntil = marks.get('hours_until');
    const old = nodesOf(node).flatMap(({ id, name }) =>
      sealed.results({ targetId, nodeId: id }, { from, to: Math.min(to, sealedUntil) }).map((one) => pastOf(one, name)),
    );
    const unsealed = unsealedRows(targetId, Math.max(from, sealedUntil), to)
      .filter((row) => node === null || row.node === node)
      .map((row) => pastOf(packedOf(row), row.node));
    return [...old.toSorted(inOrder), ...unsealed];
  }

  return {
    kept() {
      const oldest = statements.oldest.get();
      const first = Math.min(oldest?.day ?? Infinity, oldest?.period ?? Infinity, oldest?.result ?? Infinity);
      return {
        daysUntil: marks.get('days_until'),
        hoursUntil: marks.get('hours_until'),
        daysFrom: Math.max(marks.get('days_from'), Number.isFinite(first) ? first : 0),
        hoursFrom: marks.get('hours_from'),
        resultsFrom: marks.get('results_from'),
      };
    },
    nodes: () => statements.nodes.all().map(({ name }) => name),
    sealed(of, target, node, span): readonly SealedSums[] {
      const targetId = idOf(target);
      if (targetId === undefined) return [];
      return nodesOf(node).flatMap(({ id, name }) => {
        const sums = sealed.sums(of, { targetId, nodeId: id }, span);
        return sums.map((row) => ({ ...row, node: name }));
      });
    },
    results,
    rounds(target, before, since, limit) {
      const targetId = idOf(target);
      if (targetId === undefined) return [];
      const sealedUntil = marks.get('hours_until');
      const found = recent.of(targetId, Math.max(since, recent.since), before).toReversed().slice(0, limit);
      if (found.length < limit && recent.since > sealedUntil) {
        const rest = [targetId, Math.max(since, sealedUntil), Math.min(before, recent.since)] as const;
        found.push(...statements.rounds.all(...rest, limit - found.length).map(({ dueAt }) => dueAt));
      }
      for (let to = Math.min(before, sealedUntil); found.length < limit && to > since;) {
        const from = Math.max(floor(to - 1, hourMs), since);
        const dues = new Set(results(target, null, { from, to }).map(({ dueAt }) => dueAt));
        found.push(...[...dues].toSorted((a, b) => b - a).slice(0, limit - found.length));
        to = from;
      }
      return found;
    },
    periods: (target, span) => withExclusions(periodsOf(target, span), exclusionsOf(target, span)),
    judgedPeriods: periodsOf,
    exclusions: exclusionsOf,
    newestPeriods() {
      const periods = newest();
      return new Map(
        statements.targets.all().flatMap(({ id, name }) => {
          const period = periods.get(id);
          return period === undefined ? [] : [[name, period] as const];
        }),
      );
    },
    verdictsFrom(target) {
      const targetId = idOf(target);
      if (targetId === undefined || targetId <= marks.get('periods_done')) return null;
      return statements.firstPeriod.get(targetId)?.at ?? Infinity;
    },
    lastVerdict(target) {
      const targetId = idOf(target);
      if (targetId === undefined) return null;
      const known = newest().get(targetId);
      if (known !== undefined && known.status !== 'unknown') return known.last;
      return statements.lastVerdict.get(targetId)?.at ?? null;
    },
    incidents: (query) => readIncidents(database, query),
    incident: (id) => readIncident(database, id),
  };
}

interface UnsealedRow extends ResultRow {
  readonly node: string;
}

const floor = (at: number, unit: number) => Math.floor(at / unit) * unit;

function inOrder(a: PastResult, b: PastResult): number {
  return a.dueAt - b.dueAt || (a.node < b.node ? -1 : 1);
}

// A day of a target has thousands: if there is no failure, nothing is made.
function pastOf({ dueAt, status, durationUs, failure, lateAt }: PackedResult, node: string): PastResult {
  if (failure === null) return { dueAt, status, durationUs, lateAt, node, failure };
  const place = `the result of ${new Date(dueAt).toISOString()} at ${node}`;
  return { dueAt, status, durationUs, lateAt, node, failure: parseStored(StoredFailure, failure, place) };
}

function prepare(database: Database.Database) {
  return {
    targetId: database.prepare<[string], { id: number }>('SELECT id FROM targets WHERE name = ?'),
    targets: database.prepare<[], { id: number; name: string }>('SELECT id, name FROM targets'),
    nodes: database.prepare<[], { id: number; name: string }>('SELECT id, name FROM nodes ORDER BY name'),
    oldest: database.prepare<[], { day: number | null; period: number | null; result: number | null }>(
      `SELECT (SELECT hour * 3600000 FROM packs ORDER BY id LIMIT 1) AS day,
         (SELECT min(from_at) FROM verdict_periods WHERE target_id = (SELECT min(id) FROM targets)) AS period,
         (SELECT min(due_at) FROM results) AS result`,
    ),
    round: database.prepare<[number, number], UnsealedRow>(
      `SELECT due_at AS dueAt, name AS node, status, duration_us AS durationUs, failure, late_at AS lateAt
       FROM results JOIN nodes ON nodes.id = node_id WHERE due_at = ? AND target_id = ? ORDER BY name`,
    ),
    results: database.prepare<[number, number, number], UnsealedRow>(
      `SELECT due_at AS dueAt, name AS node, status, duration_us AS durationUs, failure, late_at AS lateAt
       FROM results JOIN nodes ON nodes.id = node_id
       WHERE target_id = ? AND due_at >= ? AND due_at < ? ORDER BY due_at, name`,
    ),
    rounds: database.prepare<[number, number, number, number], { dueAt: number }>(
      `SELECT DISTINCT due_at AS dueAt FROM results
       WHERE target_id = ? AND due_at >= ? AND due_at < ? ORDER BY due_at DESC LIMIT ?`,
    ),
    firstPeriod: database.prepare<[number], { at: number | null }>(
      'SELECT min(from_at) AS at FROM verdict_periods WHERE target_id = ?',
    ),
    lastVerdict: database.prepare<[number], { at: number }>(
      `SELECT last_at AS at FROM verdict_periods WHERE target_id = ? AND status != ${unknownStatus} ORDER BY from_at DESC LIMIT 1`,
    ),
    periods: database.prepare<[{ targetId: number; from: number; to: number }], VerdictPeriodRow>(
      `SELECT ${periodColumns} FROM verdict_periods WHERE target_id = :targetId
         AND from_at >= coalesce((SELECT max(from_at) FROM verdict_periods WHERE target_id = :targetId AND from_at <= :from), :from)
         AND from_at <= coalesce((SELECT min(from_at) FROM verdict_periods WHERE target_id = :targetId AND from_at >= :to), :to)
       ORDER BY from_at`,
    ),
  };
}
