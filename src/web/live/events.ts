import { shownNode } from '#checks/index.ts';
import type { Clock } from '#kernel/clock.ts';
import { type Incident, latestCause } from '#monitor/judge/incident.ts';
import {
  hasBudgets,
  incidentsPart,
  overviewHead,
  overviewTitle,
  type Past,
  targetRow,
  wallTile,
} from '../pages/overview.ts';
import type { Board } from '../state/board.ts';
import type { StreamEvent } from '../streams.ts';

/** What the overview shows anew: the parts of the page that changed, drawn once for all viewers. */
export function overviewEvents(board: Board, past: { of(target: string): Past | null }, clock: Clock) {
  return (version: number): readonly StreamEvent[] => {
    const changed = new Set(board.since(version).targets);
    const targets = board.targets();
    const now = clock.now();
    const withBudgets = hasBudgets(targets);
    const rows = targets.filter(({ name }) => changed.has(name));
    const parts = Object.fromEntries(
      rows.flatMap((one) => [
        [`t-${one.name}`, String(targetRow(one, past.of(one.name), withBudgets))],
        [`w-${one.name}`, String(wallTile(one))],
      ]),
    );
    const head = String(overviewHead({ targets, now }));
    const incidents = String(incidentsPart({ incidents: board.openIncidents(), now }));
    return [{ event: 'patch', data: { title: overviewTitle({ targets, now }), parts: { head, incidents, ...parts } } }];
  };
}

/** The API's events: `state` for each target that was looked at, `incident` for each that was opened, changed or closed. */
export function stateEvents(board: Board) {
  return (version: number): readonly StreamEvent[] => {
    const { targets: names, incidents } = board.since(version);
    const changed = new Set(names);
    const targets = board.targets().filter(({ name }) => changed.has(name));
    return [
      ...targets.map(({ name, status, since, dueAt, votes }) => ({
        event: 'state',
        data: {
          target: name,
          status,
          since: timeOf(since),
          due_at: timeOf(dueAt),
          votes: Object.fromEntries(votes.map(({ node, outcome }) => [shownNode(node.name), outcome.status])),
        },
      })),
      ...incidents.map((incident) => ({ event: 'incident', data: shownIncident(incident) })),
    ];
  };
}

const timeOf = (at: number | null) => (at === null ? null : new Date(at).toISOString());

function shownIncident(incident: Incident) {
  const { id, target, rule, severity, startedAt, endedAt, held, acknowledged } = incident;
  return {
    id,
    target,
    rule,
    severity,
    cause: latestCause(incident),
    started_at: timeOf(startedAt),
    ended_at: timeOf(endedAt),
    held: held?.why ?? null,
    acknowledged: acknowledged?.why ?? null,
  };
}
