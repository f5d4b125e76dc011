import { type Program, query } from './program.ts';

type Row = Readonly<Record<string, unknown>>;

/** What all hubs of a fleet have to agree on, by name instead of local row number. */
export interface FleetHistory {
  readonly results: readonly Row[];
  readonly incidents: readonly Row[];
  readonly deliveries: readonly Row[];
  readonly states: readonly Row[];
}

export function historyOf({ program: { database } }: { readonly program: Pick<Program, 'database'> }): FleetHistory {
  return {
    results: query(
      database,
      `SELECT due_at, targets.name AS target, nodes.name AS node, status, duration_us, failure, late_at
       FROM results JOIN targets ON targets.id = target_id JOIN nodes ON nodes.id = node_id ORDER BY 1, 2, 3`,
    ),
    incidents: query(database, 'SELECT id, rule, started_at, opened_at, ended_at, story FROM incidents ORDER BY id'),
    deliveries: query(
      database,
      `SELECT incident_id, kind, number, channel, recipient, state, attempts, message FROM deliveries
       ORDER BY 1, 2, 3, 4, 5`,
    ),
    states: query(
      database,
      `SELECT targets.name AS target, rule, state FROM rule_states JOIN targets ON targets.id = target_id ORDER BY 1, 2`,
    ),
  };
}
