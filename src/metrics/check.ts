import { checkOf, type CheckSpec } from '#checks/index.ts';
import type { Vote } from '#monitor/judge/vote.ts';
import {
  createLabelSets,
  durationFamily,
  newPair,
  seriesOf,
  type SeriesByNode,
  type TargetNodeSeries,
  type VoteOutcome,
} from './check-series.ts';
import { createFindingViews, createLastViews, createValueView, keptFacts } from './check-views.ts';
import { LastOfNodes } from './last-of-nodes.ts';
import type { Register } from './register.ts';
import { JoinedLabels } from './series.ts';

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

// No node has this name.
const allNodes = '';

export function createCheckMetrics(register: Register, firstBounds: readonly number[]): CheckMetrics {
  let bounds = firstBounds;
  let isSummed = false;
  let duration = durationFamily(register, bounds);
  const targets = new Map<string, SeriesByNode>();
  const pairs = function* all() {
    for (const { nodes } of targets.values()) yield* nodes.values();
  };
  const nodeLabels = createLabelSets();
  const ofNode = (node: string) => nodeLabels(node, () => ({ node }));
  createLastViews(
    register,
    pairs,
    () => targets.values(),
    ({ labels }, node) => new JoinedLabels(labels, ofNode(node)),
  );
  const results = register.counter(
    'watchpost_check_results_total',
    'Outcomes of checks by the reason of the failure, which is "none" for up.',
  );
  createFindingViews(register, pairs);
  createValueView(register, pairs);
  // Few, for reasons are codes.
  const outcomes = createLabelSets();

  function observe(pair: TargetNodeSeries, outcome: VoteOutcome): void {
    if (outcome.seconds !== null && outcome.status !== 'unknown') pair.duration.observe(outcome.seconds);
    count(pair, outcome);
  }

  function pairOf(target: string, check: string, node: string): TargetNodeSeries {
    let own = targets.get(target);
    if (own?.check !== check) targets.set(target, (own = seriesOf(target, check, own?.nodes)));
    let pair = own.nodes.get(node);
    if (pair === undefined) {
      const of = node === allNodes ? own : labelsAt(own, node);
      pair = newPair(check, of, duration.add(of.labels));
      own.nodes.set(node, pair);
    }
    return pair;
  }

  function lastOf(target: string): LastOfNodes | undefined {
    const own = targets.get(target);
    if (own !== undefined) own.last ??= new LastOfNodes();
    return own?.last ?? undefined;
  }

  function labelsAt({ labels, place }: SeriesByNode, node: string): Pick<TargetNodeSeries, 'labels' | 'place'> {
    return { labels: new JoinedLabels(labels, ofNode(node)), place: new JoinedLabels(place, ofNode(node)) };
  }

  function count(pair: TargetNodeSeries, outcome: VoteOutcome): void {
    const { status } = outcome;
    const reason = outcome.status === 'up' ? 'none' : outcome.failure.code;
    if (pair.last?.status !== status || pair.last.reason !== reason) {
      let counted = pair.results.find((one) => one.status === status && one.reason === reason);
      if (counted === undefined) {
        const more = outcomes(`${status} ${reason}`, () => ({ outcome: status, reason }));
        counted = { status, reason, sample: results.add(pair.labels, more) };
        // Not in place: a list that grows takes room for sixteen more.
        pair.results = [...pair.results, counted];
      }
      pair.last = counted;
    }
    pair.last.sample.add();
  }

  function drop(pair: TargetNodeSeries): void {
    duration.remove(pair.duration);
    for (const { sample } of pair.results) results.remove(sample);
  }

  function keep(wanted: (target: string, node: string, pair: TargetNodeSeries) => boolean): void {
    for (const [target, { nodes }] of targets) {
      for (const [node, pair] of nodes) {
        if (wanted(target, node, pair)) continue;
        drop(pair);
        nodes.delete(node);
      }
      if (nodes.size === 0) targets.delete(target);
    }
  }

  return {
    record(target, check, votes) {
      const all = isSummed ? pairOf(target, check, allNodes) : null;
      for (const { node, outcome } of votes) {
        const pair = all ?? pairOf(target, check, node.name);
        observe(pair, outcome);
        if (all === null) keepLast(pair, check, outcome);
        else lastOf(target)?.record(node.name, outcome);
      }
      if (all !== null) keepFirst(all, votes);
    },
    forgetFacts(target) {
      for (const pair of targets.get(target)?.nodes.values() ?? []) {
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
      for (const { nodes } of targets.values())
        for (const pair of nodes.values()) pair.duration = duration.add(pair.labels);
    },
    keepTargets: (checkByTarget) => keep((target, _, pair) => checkByTarget.get(target) === pair.check),
    keepNodes(names) {
      keep((_, node) => node === allNodes || names.has(node));
      for (const { last } of targets.values()) last?.keepNodes(names);
    },
    sumNodes(next) {
      if (next === isSummed) return;
      isSummed = next;
      targets.clear();
      duration.clear();
      results.clear();
    },
  };
}

function keepLast(pair: TargetNodeSeries, check: CheckSpec['type'], outcome: VoteOutcome): void {
  pair.seconds = outcome.seconds;
  pair.up = outcome.status === 'unknown' ? null : Number(outcome.status === 'up');
  pair.phases = outcome.phases;
  pair.facts = outcome.facts;
  pair.values = checkOf(check).values?.(outcome) ?? [];
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
