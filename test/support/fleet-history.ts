import Database from 'better-sqlite3';
import { unpack } from '#history/pack.ts';
import { hourMs } from '#kernel/units.ts';
import { positionName } from '#store/shared-names.ts';
import { eventually, type Program } from './program.ts';

type Row = Readonly<Record<string, unknown>>;

interface ResultRow {
  readonly due_at: number;
  readonly target: string;
  readonly node: string;
  readonly status: number;
  readonly duration_us: number | null;
  readonly failure: string | null;
  readonly late_at: number | null;
}

const statuses = ['up', 'down', 'unknown'];

/** What all hubs of a fleet have to agree on, by name instead of local row number. */
export interface FleetHistory {
  /** Those of sealed hours too. */
  readonly results: readonly ResultRow[];
  readonly incidents: readonly Row[];
  readonly deliveries: readonly Row[];
  readonly states: readonly Row[];
  /** Verdict periods by their beginnings: their ends are written now and then only. */
  readonly periods: readonly Row[];
  readonly evidence: readonly Row[];
  readonly silences: readonly Row[];
  readonly changes: readonly Row[];
}

/** A history, and how far the hub had applied the log at that moment. */
export interface FleetSnapshot {
  readonly history: FleetHistory;
  readonly position: string | null;
}

interface Hub {
  readonly program: Pick<Program, 'database'>;
}

/** When the first round of a target after `since` was due that both of its nodes saw up; infinite if none was. */
export function firstWholeRound({ results }: Pick<FleetHistory, 'results'>, target: string, since = 0): number {
  const ups = results.filter((one) => one.target === target && one.due_at > since && one.status === 0);
  const dues = ups.map(({ due_at: due }) => due);
  return dues.find((due, index) => dues.indexOf(due) < index) ?? Number.POSITIVE_INFINITY;
}

/** Waits for such a round, and gives when it was due. */
export const wholeRound = async (hub: Hub, target: string, since?: number): Promise<number> =>
  eventually(60_000, () => {
    const due = firstWholeRound(historyOf(hub), target, since);
    if (due === Number.POSITIVE_INFINITY) throw new Error(`no round of ${target} is up at two nodes`);
    return due;
  });

/** The history of a hub. */
export const historyOf = (hub: Hub): FleetHistory => snapshotOf(hub).history;

/** The history of a hub at one moment, also while it runs. */
export function snapshotOf({ program }: Hub): FleetSnapshot {
  const database = new Database(program.database, { readonly: true });
  const position = database.prepare<[string], string>('SELECT value FROM facts WHERE name = ?').pluck();
  try {
    return database.transaction(() => ({
      history: readHistory(database),
      position: position.get(positionName) ?? null,
    }))();
  } finally {
    database.close();
  }
}

function readHistory(database: Database.Database): FleetHistory {
  const query = (sql: string) => database.prepare<[], Row>(sql).all();
  return {
    results: resultsIn(database),
    incidents: query('SELECT id, rule, started_at, opened_at, ended_at, story FROM incidents ORDER BY id'),
    deliveries: query(`SELECT incident_id, kind, number, channel, recipient, state, attempts, message FROM deliveries
       ORDER BY 1, 2, 3, 4, 5`),
    states: query(
      `SELECT targets.name AS target, rule, state FROM rule_states JOIN targets ON targets.id = target_id ORDER BY 1, 2`,
    ),
    periods: query(`SELECT from_at, targets.name AS target, status, in_maintenance
       FROM verdict_periods JOIN targets ON targets.id = target_id ORDER BY 1, 2`),
    evidence: query(
      'SELECT incident_id, gathered_at, node, occasion, hex(content) AS content FROM evidence ORDER BY 1, 2, 3',
    ),
    silences: query('SELECT id, targets, why, starts_at, ends_at FROM silences ORDER BY id'),
    changes: query('SELECT target, kind, node, at, value FROM changes ORDER BY 1, 2, 3, 4, 5'),
  };
}

// Each hub seals hours by itself, at a moment of its own.
function resultsIn(database: Database.Database): readonly ResultRow[] {
  const unsealed = database
    .prepare<[], ResultRow>(
      `SELECT due_at, targets.name AS target, nodes.name AS node, status, duration_us, failure, late_at
       FROM results JOIN targets ON targets.id = target_id JOIN nodes ON nodes.id = node_id`,
    )
    .all();
  const packs = database
    .prepare<[], { hour: number; target: string; node: string; results: Uint8Array }>(
      `SELECT sealed_hours.hour AS hour, targets.name AS target, nodes.name AS node, results
       FROM sealed_hours JOIN packs ON packs.id = pack_id
       JOIN targets ON targets.id = target_id JOIN nodes ON nodes.id = node_id`,
    )
    .all();
  const sealed = packs.flatMap(({ hour, target, node, results }) =>
    unpack(results, hour * hourMs).map((one) => ({
      due_at: one.dueAt,
      target,
      node,
      status: statuses.indexOf(one.status),
      duration_us: one.durationUs,
      failure: one.failure,
      late_at: one.lateAt,
    })),
  );
  const order = ({ due_at: due, target, node }: ResultRow) => `${String(due).padStart(16, '0')} ${target} ${node}`;
  return [...sealed, ...unsealed].toSorted((one, two) => (order(one) < order(two) ? -1 : 1));
}
