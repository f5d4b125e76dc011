import type { Outcome, UpOutcome } from '#checks/index.ts';
import { EndSignal } from '#kernel/end-signal.ts';
import type { AssignedTarget } from '#protocol/watching.ts';
import type { Schedule } from '#schedule/schedule.ts';
import { rateOf } from '#schedule/slots.ts';
import type { RecurringItem } from '#schedule/wheel.ts';
import type { AssignmentEntry, TargetDefinition } from './assignments.ts';
import type { TimedItem } from './timed-items.ts';
import type { NodeStatus } from './ports.ts';
import type { TargetRounds } from './target-rounds.ts';
import { graceMs } from './runs.ts';

/** The watch over a target that nodes check by its schedule. */
export interface WatchHandle {
  /** Whether a round was due and is not over. */
  readonly underWay: boolean;
  /** Nothing begins any more; rounds that have begun go on. */
  stop(): void;
  /** Nothing is heard any more. */
  cut(): void;
  /** Resolves when nothing more will be heard. */
  readonly ended: Promise<void>;
}

/** Everything about a target that is watched. */
export interface TargetWatch extends RecurringItem, AssignmentEntry, TimedItem {
  schedule: Schedule;
  assigned: AssignedTarget;
  readonly target: TargetDefinition;
  readonly rounds: TargetRounds;
  /** How often it is due in a second. */
  readonly rate: number;
  /** Since when it is watched in this way. */
  readonly since: number;
  /** The nodes that are asked for each check. */
  asked: readonly NodeStatus['info'][];
  /** When it was stopped: nothing that is due later begins. */
  stoppedAt: number;
  /** Ends what was asked for; null if nothing was. */
  work: AbortController | null;
  isAsking: boolean;
  /** The last due time that came while they were still asked for an earlier one. */
  missedAt: number;
  /** A healthy outcome as the last one is but for its times; null before the first. */
  healthy: UpOutcome<unknown> | null;
  /** When it was last seen other than up. */
  badAt: number;
  /** A moment that is a due time by this assignment: most nodes have seen the same one. */
  knownDueAt: number;
  knownDueBy: AssignedTarget | null;
  /** How many of its rounds in a row were shed by now. */
  leftOut: number;
  /** That nothing more will be heard. */
  readonly ending: EndSignal;
}

/** A target from now on, before anything was seen of it. */
export function createTargetWatch({
  name,
  schedule,
  target,
  assigned,
  rounds,
  now,
}: Pick<TargetWatch, 'name' | 'schedule' | 'target' | 'assigned' | 'rounds'> & { readonly now: number }): TargetWatch {
  // Not by spreading: what is added to a copy lies in a list of its own, which takes half as much again.
  return {
    name,
    schedule,
    target,
    assigned,
    rounds,
    rate: rateOf(schedule, name, now),
    since: now,
    asked: noNodes,
    stoppedAt: Number.POSITIVE_INFINITY,
    lookAt: Number.POSITIVE_INFINITY,
    healthy: null,
    badAt: Number.NEGATIVE_INFINITY,
    knownDueAt: Number.NEGATIVE_INFINITY,
    knownDueBy: null,
    leftOut: 0,
    work: null,
    isAsking: false,
    missedAt: Number.NEGATIVE_INFINITY,
    ending: new EndSignal(),
  };
}

const noNodes: readonly NodeStatus['info'][] = [];

/** Nodes that have a vote, and those of them that are asked for each check. */
export interface Voters {
  readonly all: readonly NodeStatus['info'][];
  readonly asked: readonly NodeStatus['info'][];
}

export const votersOf = (nodes: readonly NodeStatus[]): Voters => ({
  all: nodes.map(({ info }) => info),
  asked: nodes.flatMap(({ info, keepsTime }) => (keepsTime === true ? [] : info)),
});

/** Gives these nodes their vote on a target from `now` on, in milliseconds since the epoch. */
export function setVoters(place: TargetWatch, { all, asked }: Voters, now: number): void {
  place.rounds.voters = all;
  place.asked = asked;
  for (const { name } of asked) place.rounds.keeps(name, now);
}

/** Rounds that have a vote and wait to be judged, over all targets in the order in which they were due. */
export function openRounds(
  places: Iterable<TargetWatch>,
  until: number,
): readonly { place: TargetWatch; dueAt: number }[] {
  return [...places]
    .flatMap((place) => place.rounds.openUntil(until).map((dueAt) => ({ place, dueAt })))
    .toSorted((a, b) => a.dueAt - b.dueAt);
}

/** The owner of the watches. */
export interface WatchOwner {
  now(): number;
  stop(place: TargetWatch): void;
  end(place: TargetWatch): void;
}

/** A watch as its user sees it. */
export class WatchControl implements WatchHandle {
  readonly #place: TargetWatch;
  readonly #owner: WatchOwner;

  constructor(place: TargetWatch, owner: WatchOwner) {
    this.#place = place;
    this.#owner = owner;
  }

  get ended(): Promise<void> {
    return this.#place.ending.promise;
  }

  get underWay(): boolean {
    return this.#place.rounds.awaited <= this.#owner.now();
  }

  stop(): void {
    this.#owner.stop(this.#place);
  }

  cut(): void {
    this.#owner.end(this.#place);
  }
}

/** A vote that came when its round was over. */
export interface LateObservation {
  readonly target: string;
  readonly dueAt: number;
  readonly node: NodeStatus['info'];
  readonly outcome: Outcome;
  /** True for a vote on an earlier check of the target: it says nothing of this one. */
  readonly isOfEarlierCheck?: true;
}

// Nodes wait a moment before they send a result that has not changed.
const companyMs = 1_000;

/** How long after its due time a round is waited for, if a check may take so long. */
export function limitMsOf(deadlineMs: number): number {
  return deadlineMs + graceMs + companyMs;
}
