import type { MeasuredValue } from '#checks/index.ts';
import { ListPool, listOf } from '#kernel/lists.ts';
import { hasNames } from '#kernel/same-parts.ts';
import type { Vote } from '#monitor/judge/vote.ts';
import type { LastOfNodes } from './last-of-nodes.ts';
import type { Family, Register } from './register.ts';
import { type Distribution, JoinedLabels, LabelSet, type Sample, type SeriesLabels } from './series.ts';

export type VoteOutcome = Vote['outcome'];
export type FactName = keyof VoteOutcome['facts'];

/** What is shown of a target on a node, or on all of them. */
export interface TargetNodeSeries {
  /** Empty for all of them. */
  readonly node: string;
  readonly check: string;
  readonly labels: LabelSet | JoinedLabels;
  /** The same without the check. */
  readonly place: LabelSet | JoinedLabels;
  duration: Distribution;
  /** What follows is of the last outcome; its series are made when they are scraped. */
  up: number | null;
  seconds: number | null;
  /** The names of its phases, and the seconds of each: numbers are written over, and an object would be another one each time. */
  phaseNames: readonly string[];
  phaseSeconds: number[];
  facts: VoteOutcome['facts'];
  values: readonly MeasuredValue[];
  /** Facts that stay true when a later check could not tell; null if there was none. */
  kept: Partial<Record<FactName, number>> | null;
  results: readonly CountedVote[];
  /** What was counted last, which is mostly what is counted next. */
  last: CountedVote | null;
}

/** What is shown of a target. */
export interface SeriesByNode {
  readonly check: string;
  readonly labels: LabelSet;
  readonly place: LabelSet;
  /** A list, for a target has few nodes, and there are many targets: a map of one weighs 150 bytes more. */
  nodes: readonly TargetNodeSeries[];
  /** What each node saw last, where the other series are those of all nodes. */
  last: LastOfNodes | null;
}

/** How often a target was seen so. */
export interface CountedVote {
  readonly status: VoteOutcome['status'];
  readonly reason: string;
  readonly sample: Sample;
}

/** A target, and the labels that it has without its check, with what was shown of it under another check type. */
export function seriesOf(
  target: string,
  check: string,
  place: LabelSet,
  nodes: readonly TargetNodeSeries[] = [],
): SeriesByNode {
  return { check, labels: new LabelSet({ target, check }), place, nodes, last: null };
}

// One for all: there may be hundreds of thousands of pairs.
const none = {};
const noneListed: readonly never[] = [];

/** Nothing was seen yet. */
export function newPair(
  node: string,
  check: string,
  { labels, place }: Pick<TargetNodeSeries, 'labels' | 'place'>,
  duration: Distribution,
): TargetNodeSeries {
  return {
    node,
    check,
    labels,
    place,
    duration,
    up: null,
    seconds: null,
    phaseNames: noneListed,
    phaseSeconds: [],
    facts: none,
    values: noneListed,
    kept: null,
    results: noneListed,
    last: null,
  };
}

const nameLists = new ListPool<string>();

/** Keeps the phases of the last outcome. */
export function keepPhases(pair: TargetNodeSeries, phases: VoteOutcome['phases']): void {
  if (!hasNames(pair.phaseNames, phases)) {
    pair.phaseNames = nameLists.shared(Object.keys(phases));
    pair.phaseSeconds = listOf(pair.phaseNames.length, Number.NaN);
  }
  let at = 0;
  const seconds: Readonly<Partial<Record<string, number>>> = phases;
  for (const name of pair.phaseNames) pair.phaseSeconds[at++] = seconds[name] ?? Number.NaN;
}

/** The histogram of durations with these upper bounds, in seconds. */
export function durationFamily(register: Register, bounds: readonly number[]): Family<Distribution> {
  return register.histogram(
    'watchpost_check_duration_seconds',
    'How long checks took that had a duration, whether up or down.',
    bounds,
  );
}

/** The labels of a target on a node. */
export function createLabelsAt(): (shared: LabelSet, node: string) => JoinedLabels {
  const nodes = createLabelSets();
  return (shared, node) =>
    new JoinedLabels(
      shared,
      nodes(node, () => ({ node })),
    );
}

/** Sets of labels by what they are known by, each made once. */
export function createLabelSets(): (key: string, labels: () => SeriesLabels) => LabelSet {
  const sets = new Map<string, LabelSet>();
  return (key, labels) => {
    let set = sets.get(key);
    if (set === undefined) sets.set(key, (set = new LabelSet(labels())));
    return set;
  };
}
