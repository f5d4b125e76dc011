import type { CheckTypeName } from '#checks/index.ts';
import type { Incident } from '#monitor/judge/incident.ts';
import type { LiveVotes } from './kept-votes.ts';
import type { ShownStatus, StateChange } from './shown.ts';
import type { Spread } from './spread.ts';

/** A target as it is watched. */
export interface BoardTarget {
  readonly name: string;
  readonly check: CheckTypeName;
  readonly host: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Whether there is a budget that it can use up. */
  readonly hasObjective: boolean;
  /** The rules in words, by name. */
  readonly rules: readonly { readonly name: string; readonly words: string; readonly severity: string }[];
  /** The longest time between two rounds; null if none is known. */
  readonly everyMs: number | null;
  /** What a round saw holds no longer than this. */
  readonly holdsMs: number;
  /** When it is due next after a moment; null if never. */
  readonly nextDue: (after: number) => number | null;
  /** When a job is expected to call after a run that ended at a moment, null if never; null for targets that nodes check. */
  readonly nextPing: ((run: { readonly at: number; readonly seconds: number | null }) => number | null) | null;
}

/** A target as it is at this moment. */
export interface LiveTarget extends BoardTarget {
  readonly status: ShownStatus;
  /** If nothing was seen of it so far, when its first check is due, null if never; undefined afterwards. */
  readonly firstDueAt: number | null | undefined;
  /** Since when, or null if nothing is known. */
  readonly since: number | null;
  readonly dueAt: number | null;
  /** How it was lately: from when on it was in each state, the oldest first. */
  readonly changes: readonly StateChange[];
  /** What each node saw last. */
  readonly votes: LiveVotes;
  /** The middle time of the nodes that were up, in seconds, for the last rounds; null if none was. A list of its own each time. */
  readonly recent: readonly (number | null)[];
  /** How many rounds there were since the start. */
  readonly rounds: number;
  readonly incidents: readonly Incident[];
  /** By node, the spread of the echoes of the last rounds; empty if the check sends none. */
  readonly spreads: ReadonlyMap<string, readonly Spread[]>;
  /** The same object for as long as it is watched. */
  readonly entry: object;
}
