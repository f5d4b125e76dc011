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
  const failing = votes.find(({ outcome }) => outcome.status !== 'up');
  return {
    target: name,
    check,
    host,
    status,
    since: since === null ? null : new Date(since).toISOString(),
    seconds: recent.at(-1) ?? null,
    up: votes.filter(({ outcome }) => outcome.status === 'up').length,
    nodes: votes.length,
    cause: failing === undefined || failing.outcome.status === 'up' ? null : failing.outcome.failure.message,
  };
}
