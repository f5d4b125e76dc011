import { checkOf, type CheckSpec } from '#checks/index.ts';
import type { Vote } from '#monitor/judge/vote.ts';
import {
  createLabelsAt,
  durationFamily,
  keepPhases,
  newPair,
  seriesOf,
  type SeriesByNode,
  type TargetNodeSeries,
  type VoteOutcome,
} from './check-series.ts';
import { createFindingViews, createLastViews, createValueView, keptFacts } from './check-views.ts';
import { LastOfNodes } from './last-of-nodes.ts';
import type { Register } from './register.ts';
import { createResultCounts } from './result-counts.ts';
import { LabelSet } from './series.ts';

/** Upper bounds in seconds: few, because each is a series for every target on every node. */
export const durationBounds = [0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.2, 0.5, 1, 3, 10] as const;

/** What nodes measured: one set of series for each target on each node. */
export interface CheckMetrics {
  record(target: string, check: CheckSpec['type'], votes: readonly Vote[]): void;
  /** Stops to export facts that were kept, because the target checks something else now. */
  forgetFacts(target: string): void;
  /** Drops the series of targets that are gone or have another check type. */
  keepTargets(checkByTarget: ReadonlyMap<string, string>): void;
  /** Counts durations in buckets with these bounds from now on: those series begin anew. */
  setBounds(bounds: readonly number[]): void;
  /** Drops the series of nodes that are gone. */
  keepNodes(nodes: ReadonlySet<string>): void;
  /** Has each target one set of series for all nodes from now on, or one for each node; those that were are dropped. */
  sumNodes(isSummed: boolean): void;
}

const noValues: TargetNodeSeries['values'] = [];
// No node has this name.
const allNodes = '';

/** `labelsOf` gives the labels of a target alone; null if it is not watched. */
export function createCheckMetrics(
  register: Register,
  labelsOf: (target: string) => LabelSet | null,
  firstBounds: readonly number[],
): CheckMetrics {
  let bounds = firstBounds;
  let isSummed = false;
  let duration = durationFamily(register, bounds);
  const targets = new Map<string, SeriesByNode>();
  // Listed once for the many families of a scrape; null until one asks, and when any has come or gone.
  let listed: readonly TargetNodeSeries[] | null = null;
  const pairs = () => (listed ??= [...targets.values()].flatMap(({ nodes }) => nodes));
  // Of all nodes together there is no last outcome.
  const ofNodes = () => (isSummed ? [] : pairs());
  const labelsAt = createLabelsAt();
  createLastViews(
    register,
    ofNodes,
    () => targets.values(),
    ({ labels }, node) => labelsAt(labels, node),
  );
  const results = createResultCounts(register);
  createFindingViews(register, ofNodes, pairs);
  createValueView(register, ofNodes);

  function observe(pair: TargetNodeSeries, outcome: VoteOutcome): void {
    if (outcome.seconds !== null && outcome.status !== 'unknown') pair.duration.observe(outcome.seconds);
    results.count(pair, outcome);
  }

  function pairOf(target: string, check: string, node: string): TargetNodeSeries {
    let own = targets.get(target);
    if (own?.check !== check) {
      const place = labelsOf(target) ?? new LabelSet({ target });
      targets.set(target, (own = seriesOf(target, check, place, own?.nodes)));
    }
    let pair = findNode(own.nodes, node);
    if (pair === undefined) {
      const { labels, place } = own;
      const of = node === allNodes ? own : { labels: labelsAt(labels, node), place: labelsAt(place, node) };
      pair = newPair(node, check, of, duration.add(of.labels));
      if (node === allNodes) own.last = new LastOfNodes();
      // Neither in place nor by spreading: such a list takes room for sixteen more.
      own.nodes = own.nodes.concat(pair);
      listed = null;
    }
    return pair;
  }

  function drop(pair: TargetNodeSeries): void {
    duration.remove(pair.duration);
    results.drop(pair);
  }

  function keep(wanted: (target: string, pair: TargetNodeSeries) => boolean): void {
    for (const [target, own] of targets) {
      if (own.nodes.every((pair) => wanted(target, pair))) continue;
      const kept = own.nodes.filter((pair) => wanted(target, pair));
      for (const pair of own.nodes) if (!kept.includes(pair)) drop(pair);
      own.nodes = kept;
      listed = null;
      if (own.nodes.length === 0) targets.delete(target);
    }
  }

  return {
    record(target, check, votes) {
      const all = isSummed ? pairOf(target, check, allNodes) : null;
      for (const { node, outcome } of votes) {
        const pair = all ?? pairOf(target, check, node.name);
        observe(pair, outcome);
        if (all === null) keepLast(pair, check, outcome);
        else targets.get(target)?.last?.record(node.name, outcome);
      }
      if (all !== null) keepFirst(all, votes);
    },
    forgetFacts(target) {
      for (const pair of targets.get(target)?.nodes ?? []) {
        pair.facts = {};
        pair.values = [];
        pair.kept = null;
      }
    },
    setBounds(next) {
      if (next.join() === bounds.join()) return;
      bounds = next;
      register.drop([duration]);
      duration = durationFamily(register, bounds);
      for (const { nodes } of targets.values()) for (const pair of nodes) pair.duration = duration.add(pair.labels);
    },
    keepTargets: (checkByTarget) => keep((target, pair) => checkByTarget.get(target) === pair.check),
    keepNodes(names) {
      keep((_, { node }) => node === allNodes || names.has(node));
      for (const { last } of targets.values()) last?.keepNodes(names);
    },
    sumNodes(next) {
      if (next === isSummed) return;
      isSummed = next;
      targets.clear();
      listed = null;
      duration.clear();
      results.clear();
    },
  };
}

// Without a closure: this is called for each vote.
function findNode(pairs: readonly TargetNodeSeries[], node: string): TargetNodeSeries | undefined {
  for (const pair of pairs) if (pair.node === node) return pair;
  return undefined;
}

function keepLast(pair: TargetNodeSeries, check: CheckSpec['type'], outcome: VoteOutcome): void {
  pair.seconds = outcome.seconds;
  pair.up = outcome.status === 'unknown' ? null : Number(outcome.status === 'up');
  keepPhases(pair, outcome.phases);
  pair.facts = outcome.facts;
  pair.values = checkOf(check).values?.(outcome) ?? noValues;
  for (const fact of keptFacts) {
    const value = outcome.facts[fact];
    if (value !== undefined) (pair.kept ??= {})[fact] = value;
  }
}

// What cannot be added up is not shown; of what will expire, what does so first.
function keepFirst(pair: TargetNodeSeries, votes: readonly Vote[]): void {
  for (const fact of keptFacts) {
    let first = Number.POSITIVE_INFINITY;
    for (const { outcome } of votes) first = Math.min(first, outcome.facts[fact] ?? first);
    if (first !== Number.POSITIVE_INFINITY) (pair.kept ??= {})[fact] = first;
  }
}
