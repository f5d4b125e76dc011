import Database from 'better-sqlite3';
import { positionName } from '#store/shared-names.ts';
import type { Program } from './program.ts';

type Row = Readonly<Record<string, unknown>>;

/** What all hubs of a fleet have to agree on, by name instead of local row number. */
export interface FleetHistory {
  readonly results: readonly Row[];
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
    results: query(`SELECT due_at, targets.name AS target, nodes.name AS node, status, duration_us, failure, late_at
       FROM results JOIN targets ON targets.id = target_id JOIN nodes ON nodes.id = node_id ORDER BY 1, 2, 3`),
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
