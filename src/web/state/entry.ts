import type { Vote } from '#monitor/judge/vote.ts';
import { KeptVotes } from './kept-votes.ts';
import { type Spread, SpreadRing, spreadOf } from './spread.ts';
import type { ShownStatus, StateChange } from './shown.ts';

/** What the board keeps of a target. */
export interface Entry {
  status: ShownStatus;
  since: number | null;
  dueAt: number | null;
  /** Whether those who follow know that the last round holds no longer. */
  isOver: boolean;
  changes: readonly StateChange[];
  readonly votes: KeptVotes;
  /** The middle time of each of the last rounds; NaN for none: a list with null in it would hold every number as an object. */
  readonly recent: number[];
  rounds: number;
  /** By node; null if no node has reported any. */
  spreads: Map<string, SpreadRing> | null;
  version: number;
}

const roundsKept = 40;
const stateChangesKept = 50;

/** The entry of a target, made if there is none. */
export function entryOf(entries: Map<string, Entry>, name: string): Entry {
  const entry = entries.get(name) ?? {
    status: 'unknown',
    since: null,
    dueAt: null,
    isOver: false,
    changes: [],
    votes: new KeptVotes(),
    recent: [],
    rounds: 0,
    spreads: null,
    version: 0,
  };
  entries.set(name, entry);
  return entry;
}

/** Remembers from when on a target was in a state. */
export function keepChange(entry: Entry, status: ShownStatus, dueAt: number): void {
  const last = entry.changes.at(-1);
  if (last?.status === status) return;
  const change = { status, from: Math.max(dueAt, last?.from ?? dueAt) };
  entry.changes = [...entry.changes, change].slice(-stateChangesKept);
}

export const noSpreads: ReadonlyMap<string, readonly Spread[]> = new Map();

/** Remembers what a round measured. */
export function keepRound(entry: Entry, dueAt: number, votes: readonly Vote[]): void {
  entry.votes.keep(votes);
  entry.recent.push(middle(votes));
  if (entry.recent.length > roundsKept) entry.recent.shift();
  keepSpreads(entry, dueAt, votes);
}

function keepSpreads(entry: Entry, dueAt: number, votes: readonly Vote[]): void {
  for (const { node, outcome } of votes) {
    const spread = spreadOf(outcome, dueAt);
    if (spread === null) continue;
    const spreads = (entry.spreads ??= new Map<string, SpreadRing>());
    let ring = spreads.get(node.name);
    if (ring === undefined) spreads.set(node.name, (ring = new SpreadRing(roundsKept)));
    ring.add(spread);
  }
}

/** The spreads by node, without nodes that do not watch the target any more. */
export function listed(
  spreads: ReadonlyMap<string, SpreadRing>,
  votes: readonly Pick<Vote, 'node'>[],
): ReadonlyMap<string, readonly Spread[]> {
  return new Map(votes.flatMap(({ node: { name } }) => [[name, spreads.get(name)?.list() ?? []] as const]));
}

function middle(votes: readonly Vote[]): number {
  const times: number[] = [];
  for (const { outcome } of votes) if (outcome.status === 'up' && outcome.seconds !== null) times.push(outcome.seconds);
  if (times.length > 1) times.sort((a, b) => a - b);
  return times[Math.floor(times.length / 2)] ?? Number.NaN;
}
