import type { Board, LiveTarget } from './board.ts';
import type { ShownStatus } from './shown.ts';

/** A target at this moment, in a few words. */
export interface TargetSummary {
  readonly target: string;
  readonly check: string;
  readonly host: string;
  readonly status: ShownStatus;
  readonly since: string | null;
  /** The middle time of the nodes that were up in the last round, in seconds. */
  readonly seconds: number | null;
  /** How many nodes saw it up, of how many. */
  readonly up: number;
  readonly nodes: number;
  /** What the first node that did not see it up said. */
  readonly cause: string | null;
}

export interface States {
  readonly version: number;
  /** All that is watched, whether it has changed or not. */
  readonly names: readonly string[];
  readonly states: readonly TargetSummary[];
}

/** The states of the targets that changed after this version of the board; of all after 0. */
export function statesSince(board: Pick<Board, 'targets' | 'since' | 'version'>, version: number): States {
  const targets = board.targets();
  const changed = version === 0 ? null : new Set(board.since(version).targets);
  return {
    version: board.version,
    names: targets.map(({ name }) => name),
    states: targets.filter(({ name }) => changed === null || changed.has(name)).map(stateOf),
  };
}

function stateOf({ name, check, host, status, since, votes, recent }: LiveTarget): TargetSummary {
  const statuses = votes.statuses();
  const up = statuses.filter((one) => one.status === 'up').length;
  const failing = up === statuses.length ? undefined : votes.list().find(({ outcome }) => outcome.status !== 'up');
  return {
    target: name,
    check,
    host,
    status,
    since: since === null ? null : new Date(since).toISOString(),
    seconds: recent.at(-1) ?? null,
    up,
    nodes: statuses.length,
    cause: failing === undefined || failing.outcome.status === 'up' ? null : failing.outcome.failure.message,
  };
}

/** How many targets each node has a vote on, by its name. */
export function targetsByNode(board: Pick<Board, 'targets'>): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { votes } of board.targets())
    for (const { node } of votes.statuses()) counts.set(node.name, (counts.get(node.name) ?? 0) + 1);
  return counts;
}
