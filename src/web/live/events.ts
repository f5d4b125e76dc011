import { shownNode } from '#checks/index.ts';
import type { Clock } from '#kernel/clock.ts';
import { type Incident, latestCause } from '#monitor/judge/incident.ts';
import type { Markup } from '../pages/markup.ts';
import { filtered, filterOf, groupOf } from '../pages/overview-filter.ts';
import {
  groupHead,
  hasBudgets,
  incidentsPart,
  overviewHead,
  overviewTitle,
  targetRow,
  wallTile,
} from '../pages/overview.ts';
import type { PastKeeper } from '../pages/past.ts';
import type { Board, LiveTarget } from '../state/board.ts';
import type { StreamEvent } from '../streams.ts';

/** A target in a list of a page; without markup it does not belong there any more. */
interface RowEvent {
  readonly part: string;
  readonly list: string;
  readonly markup: string | null;
}

export interface OverviewSources {
  readonly board: Board;
  readonly past: Pick<PastKeeper, 'of'>;
  readonly map: () => Markup;
  readonly clock: Clock;
}

/**
 * The parts of the overview that changed: its title, the parts by name, and the rows or tiles of targets. A view is the query of a
 * page, as `queryOf` writes it; rows are drawn once for all views.
 */
export function overviewEvents({ board, past, map, clock }: OverviewSources) {
  let drawnMap: { readonly markup: string; readonly version: number } | null = null;

  function mapSince(version: number): Record<string, string> {
    const markup = String(map());
    if (drawnMap?.markup !== markup) drawnMap = { markup, version: board.version };
    return drawnMap.version > version ? { map: markup } : {};
  }

  return (version: number, view: string): readonly StreamEvent[] => {
    const filter = filterOf(Object.fromEntries(new URLSearchParams(view)));
    const changed = new Set(board.since(version).targets);
    const targets = board.targets();
    const now = clock.now();
    const withBudgets = hasBudgets(targets);
    const shown = filtered(targets, filter);
    const isShown = new Set(shown);
    const isWall = filter.view === 'wall';
    const rows = targets.filter(({ name }) => changed.has(name));
    const draw = (target: LiveTarget) =>
      String(isWall ? wallTile(target) : targetRow(target, past.of(target), withBudgets));
    const items = rows.map((target): RowEvent => ({
      part: `${isWall ? 'w' : 't'}-${target.name}`,
      list: groupOf(target, filter),
      markup: isShown.has(target) ? draw(target) : null,
    }));
    const parts: Record<string, string> = {
      head: String(overviewHead({ targets, now })),
      incidents: String(incidentsPart({ incidents: board.openIncidents(), now })),
      ...mapSince(version),
    };
    if (filter.group !== '' && !isWall) {
      const touched = new Set(items.map(({ list }) => list));
      for (const [name, members] of Map.groupBy(shown, (target) => groupOf(target, filter)))
        if (touched.has(name)) parts[`g-${name}`] = String(groupHead(name, members, withBudgets));
    }
    return [{ event: 'patch', data: { title: overviewTitle({ targets, now }), parts, items } }];
  };
}

/** The API's events: `state` for each target that was checked, `incident` for each that was opened, changed or closed. */
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
