import type { Clock } from '#kernel/clock.ts';
import type { TargetNow } from '#history/reader.ts';
import type { Incident } from '#monitor/judge/incident.ts';
import type { Vote } from '#monitor/judge/vote.ts';
import { type Entry, entryOf, keepChange, keepRound } from './entry.ts';
import type { BoardTarget, LiveTarget } from './live-target.ts';
import { SeenTarget } from './seen-target.ts';
import type { ShownStatus } from './shown.ts';

export type { BoardTarget, LiveTarget } from './live-target.ts';

/** The live state of all targets. It costs a few steps for each round, and nothing more without viewers. */
export interface Board {
  roundDone(target: string, round: BoardRound): void;
  /** Incidents of a target were opened, changed or closed. */
  incidentsChanged(incidents: readonly Incident[]): void;
  /** A target is not watched any more. */
  forget(target: string): void;
  /** What was known before the program started. */
  seed(targets: readonly TargetNow[]): void;
  /** All that is watched, by name. */
  targets(): readonly LiveTarget[];
  target(name: string): LiveTarget | null;
  openIncidents(): readonly Incident[];
  /** Looks for targets whose last round holds no longer: they change once. */
  noteOver(): void;
  /** Something changed that pages show beside targets and incidents. */
  touch(): void;
  /** Counts changes; never falls, not by a restart either. */
  readonly version: number;
  /** Names of the targets that changed after that version, and the incidents that did, those that are over too. */
  since(version: number): { readonly targets: readonly string[]; readonly incidents: readonly Incident[] };
  onChange(listener: () => void): Disposable;
}

interface BoardRound {
  readonly dueAt: number;
  readonly votes: readonly Vote[];
  readonly verdict: { readonly status: Exclude<ShownStatus, 'maintenance'> };
  readonly inMaintenance: boolean;
}

export interface BoardOptions {
  readonly clock: Clock;
  /** What is watched at this moment. */
  readonly watched: () => readonly BoardTarget[];
  readonly openIncidents: () => readonly Incident[];
}

const none: readonly Incident[] = [];
const changesKept = 500;
const runningMs = 30_000;

export function createBoard({ clock, watched, openIncidents }: BoardOptions): Board {
  const entries = new Map<string, Entry>();
  const changes: { readonly version: number; readonly incident: Incident }[] = [];
  const listeners = new Set<() => void>();
  const startedAt = clock.now();
  let version = startedAt;

  function changed(): number {
    version += 1;
    for (const listener of listeners) listener();
    return version;
  }

  // A check that is running is still the first one.
  const firstDueOf = ({ nextDue }: BoardTarget) => nextDue(Math.max(startedAt, clock.now() - runningMs));

  function liveOf(target: BoardTarget, open: ReadonlyMap<string, readonly Incident[]>): LiveTarget {
    const entry = entries.get(target.name) ?? null;
    const incidents = open.get(target.name) ?? none;
    if (entry === null)
      return new SeenTarget(target, null, {
        status: 'unknown',
        since: null,
        firstDueAt: firstDueOf(target),
        incidents,
      });
    const { status, since, dueAt } = entry;
    const heldUntil = (dueAt ?? 0) + target.holdsMs;
    const isStale = dueAt !== null && heldUntil < clock.now();
    return new SeenTarget(target, entry, {
      status: isStale ? 'unknown' : status,
      since: isStale && status !== 'unknown' ? heldUntil : downSince(status, since, incidents),
      firstDueAt: dueAt === null && since === null ? firstDueOf(target) : undefined,
      incidents,
    });
  }

  const byTarget = () => Map.groupBy(openIncidents(), ({ target }) => target);

  return {
    roundDone(target, { dueAt, votes, verdict, inMaintenance }) {
      const entry = entryOf(entries, target);
      const status = inMaintenance ? 'maintenance' : verdict.status;
      if (status !== entry.status || entry.since === null) entry.since = dueAt;
      entry.status = status;
      keepChange(entry, status, dueAt);
      entry.dueAt = dueAt;
      entry.isOver = false;
      entry.rounds += 1;
      keepRound(entry, dueAt, votes);
      entry.version = changed();
    },
    incidentsChanged(incidents) {
      for (const incident of incidents) {
        changes.push({ version: changed(), incident });
        const entry = entries.get(incident.target);
        if (entry !== undefined) entry.version = version;
      }
      if (changes.length > 2 * changesKept) changes.splice(0, changes.length - changesKept);
    },
    forget: (target) => void entries.delete(target),
    seed(targets) {
      for (const { name, status, inMaintenance, since, round } of targets) {
        const shown = inMaintenance ? 'maintenance' : status;
        const entry = entryOf(entries, name);
        if (entry.dueAt === null) Object.assign(entry, { status: shown, since, dueAt: round?.dueAt ?? null });
        if (entry.changes.length === 0 && since !== null) entry.changes = [{ status: shown, from: since }];
        else if (entry.status === shown && since !== null) entry.since = since;
      }
    },
    targets() {
      const open = byTarget();
      return watched().map((target) => liveOf(target, open));
    },
    target(name) {
      const found = watched().find((target) => target.name === name);
      return found === undefined ? null : liveOf(found, byTarget());
    },
    openIncidents,
    noteOver() {
      const now = clock.now();
      const over = watched().flatMap(({ name, holdsMs }) => {
        const entry = entries.get(name);
        const isNew = entry !== undefined && !entry.isOver && entry.dueAt !== null && entry.dueAt + holdsMs < now;
        return isNew ? [entry] : [];
      });
      if (over.length === 0) return;
      changed();
      for (const entry of over) Object.assign(entry, { isOver: true, version });
    },
    touch: () => void changed(),
    get version() {
      return version;
    },
    since: (seen) => ({
      targets: [...entries].flatMap(([name, entry]) => (entry.version > seen ? [name] : [])),
      incidents: changes.flatMap((change) => (change.version > seen ? [change.incident] : [])),
    }),
    onChange(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
  };
}

// A round without a verdict in between, or a start, ends no outage: the incident goes on.
function downSince(status: ShownStatus, since: number | null, incidents: readonly Incident[]): number | null {
  if (status !== 'down' || since === null) return since;
  return Math.min(
    since,
    ...incidents.flatMap(({ wording, startedAt }) => (wording.word === 'DOWN' ? [startedAt] : [])),
  );
}
