import { shownNode } from '#checks/index.ts';
import type { Clock } from '#kernel/clock.ts';
import { type Incident, latestCause } from '#monitor/judge/incident.ts';
import { eventFilterOf } from '../pages/event-filter.ts';
import type { Markup } from '../pages/markup.ts';
import { filtered, filterOf, groupOf, type OverviewFilter, sortOf } from '../pages/overview-filter.ts';
import { incidentsPart } from '../pages/open-incidents.ts';
import { groupHead, hasBudgets, overviewHead, overviewTitle, targetRow, wallTile } from '../pages/overview.ts';
import type { PastKeeper } from '../pages/past.ts';
import { overloadPart, type ShownOverload } from '../pages/overload.ts';
import { type ReloadEntry, reloadPart } from '../pages/reloads.ts';
import type { Board, LiveTarget } from '../state/board.ts';
import { type ShownState, stateOf } from '../state/shown.ts';
import type { StreamEvent } from '../streams.ts';
import { createRowChanges, type RowChange, type RowTick } from './row-changes.ts';

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
  /** The last attempt to reload the configuration. */
  readonly reload: () => ReloadEntry | null;
  /** What is overloaded at this moment. */
  readonly overload: () => ShownOverload;
  readonly clock: Clock;
}

/** What of a page changed; absent is what did not. */
interface OverviewPatch {
  title?: string;
  parts?: Readonly<Record<string, string>>;
  items?: readonly RowEvent[];
  ticks?: readonly RowTick[];
}

/**
 * What of the overview changed: its title, the parts by name, and the rows or tiles of targets. A view is the query of a page, as
 * `queryOf` writes it; rows are compared and drawn once for all views. Those that have followed so far get differences, others whole rows.
 */
export function overviewEvents({ board, past, map, reload, overload, clock }: OverviewSources) {
  const partsSince = createPartMemory();
  const rows = createRowChanges((target) => past.of(target), clock);

  const since = (version: number, view: string, kind: 'missing' | 'next'): readonly StreamEvent[] => {
    const filter = filterOf(Object.fromEntries(new URLSearchParams(view)));
    const changed = new Set(board.since(version).targets);
    const targets = board.targets();
    const now = clock.now();
    const withBudgets = hasBudgets(targets);
    const shown = filtered(targets, filter, (target) => past.of(target));
    const isShown = new Set(shown);
    const isWall = filter.view === 'wall';
    const candidates = targets.filter(({ name }) => changed.has(name));
    const changes = kind === 'next' ? rows.between(version, board.version, candidates) : null;
    const changeOf = ({ name }: LiveTarget): RowChange => changes?.get(name) ?? { kind: 'row', before: null };
    const draw = (target: LiveTarget) =>
      String(isWall ? wallTile(target) : targetRow(target, past.of(target), withBudgets, sortOf(filter)));
    const items = candidates.filter((target) => {
      const change = changeOf(target);
      if (change.kind !== 'row') return false;
      // Of those that were not shown either nothing is to be removed, and a tile shows the state alone.
      if (!isShown.has(target)) return change.before === null || wasShown(change.before, filter);
      return !isWall || change.before !== stateOf(target);
    });
    const ticks = isWall ? [] : candidates.flatMap((target) => tickIn(changeOf(target), isShown.has(target)));
    const newer = partsSince({ version, now: board.version, isNext: kind === 'next' });
    const drawn: Record<string, string> = {
      ...newer('head', String(overviewHead({ targets, now }))),
      ...newer('incidents', String(incidentsPart({ incidents: board.openIncidents() }))),
      ...newer('map', String(map())),
      ...newer('reload', String(reloadPart(reload()))),
      ...newer('overload', String(overloadPart(overload()))),
    };
    if (filter.group !== '' && !isWall) {
      const touched = new Set(items.map((target) => groupOf(target, filter)));
      for (const [name, members] of Map.groupBy(shown, (target) => groupOf(target, filter)))
        if (touched.has(name)) drawn[`g-${name}`] = String(groupHead(name, members, withBudgets));
    }
    const patch: OverviewPatch = { ...newer('title', overviewTitle({ targets, now })) };
    if (Object.keys(drawn).length > 0) patch.parts = drawn;
    if (items.length > 0)
      patch.items = items.map((target) => ({
        part: `${isWall ? 'w' : 't'}-${target.name}`,
        list: groupOf(target, filter),
        markup: isShown.has(target) ? draw(target) : null,
      }));
    if (ticks.length > 0) patch.ticks = ticks;
    return Object.keys(patch).length === 0 ? [] : [{ event: 'patch', data: patch }];
  };
  const remember = async (targets: readonly LiveTarget[], isWanted: () => boolean) => rows.remember(targets, isWanted);
  return { since, remember };
}

const wasShown = (before: ShownState, { state }: OverviewFilter) => state === '' || state === before;

const tickIn = (change: RowChange, isShown: boolean) => (change.kind === 'tick' && isShown ? [change.tick] : []);

interface PartVersions {
  /** That of the viewers. */
  readonly version: number;
  readonly now: number;
  /** Whether all viewers get it. */
  readonly isNext: boolean;
}

/** Since which version parts that all views share have been as they are. */
function createPartMemory() {
  const known = new Map<string, { readonly text: string; readonly version: number }>();
  // The last change that went to all viewers, the same for each view.
  let last = { version: Number.NaN, now: Number.NEGATIVE_INFINITY, isUnseen: false };

  // While no page follows, parts change and change back, and a page may have been drawn in between.
  function isUnseen({ version, now, isNext }: PartVersions): boolean {
    if (!isNext) return version > last.now && version < now;
    if (version !== last.version || now !== last.now) last = { version, now, isUnseen: version !== last.now };
    return last.isUnseen;
  }

  return (at: PartVersions) => {
    const mayDiffer = isUnseen(at);
    const isOfNow = !at.isNext && at.version === at.now && at.now !== last.now;
    /** The part by its name, unless viewers of this version have it. */
    return (name: string, text: string): Readonly<Record<string, string>> => {
      // The page was drawn a moment ago.
      if (isOfNow) return {};
      const before = known.get(name);
      if (before?.text === text && !mayDiffer) return before.version > at.version ? { [name]: text } : {};
      // Some words change with time alone: those who follow get them with the next change.
      if (at.isNext) known.set(name, { text, version: at.now });
      return { [name]: text };
    };
  };
}

interface TargetEvent extends StreamEvent {
  readonly target: string;
}

/**
 * The API's events: `state` for each target that was checked, `incident` for each that was opened, changed or closed. They are made once
 * for all views.
 */
export function stateEvents(board: Board) {
  let last: { readonly from: number; readonly to: number; readonly all: readonly TargetEvent[] } | null = null;

  function eventsSince(version: number): readonly TargetEvent[] {
    const { targets: names, incidents } = board.since(version);
    const changed = new Set(names);
    const targets = changed.size === 0 ? [] : board.targets().filter(({ name }) => changed.has(name));
    return [
      ...targets.map(({ name, status, since, dueAt, votes }) => ({
        event: 'state',
        target: name,
        data: {
          target: name,
          status,
          since: timeOf(since),
          due_at: timeOf(dueAt),
          votes: Object.fromEntries(votes.statuses().map((vote) => [shownNode(vote.node.name), vote.status])),
        },
      })),
      ...incidents.map((incident) => ({ event: 'incident', target: incident.target, data: shownIncident(incident) })),
    ];
  }

  return (version: number, view: string): readonly StreamEvent[] => {
    if (last?.from !== version || last.to !== board.version)
      last = { from: version, to: board.version, all: eventsSince(version) };
    const { event, target } = eventFilterOf(view);
    return last.all.filter((one) => (event === '' || one.event === event) && (target === '' || one.target === target));
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
