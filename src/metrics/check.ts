import { checkOf, type CheckSpec, type MeasuredValue } from '#checks/index.ts';
import type { Vote } from '#monitor/judge/vote.ts';
import type { Family, Register } from './register.ts';
import { type Distribution, JoinedLabels, type SeriesLabels, LabelSet, Sample } from './series.ts';

type VoteOutcome = Vote['outcome'];
type FactName = keyof VoteOutcome['facts'];

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
}

interface TargetNodeSeries {
  readonly check: string;
  readonly labels: JoinedLabels;
  /** The same without the check. */
  readonly place: JoinedLabels;
  duration: Distribution;
  /** What follows is of the last outcome; its series are made when they are scraped. */
  up: number | null;
  seconds: number | null;
  phases: VoteOutcome['phases'];
  facts: VoteOutcome['facts'];
  values: readonly MeasuredValue[];
  /** Facts that stay true when a later check could not tell; null if there was none. */
  kept: Partial<Record<FactName, number>> | null;
  results: readonly CountedVote[];
  /** What was counted last, which is mostly what is counted next. */
  last: CountedVote | null;
}

interface SeriesByNode {
  readonly check: string;
  readonly labels: LabelSet;
  readonly place: LabelSet;
  readonly nodes: Map<string, TargetNodeSeries>;
}

interface CountedVote {
  readonly status: VoteOutcome['status'];
  readonly reason: string;
  readonly sample: Sample;
}

export function createCheckMetrics(register: Register, firstBounds: readonly number[]): CheckMetrics {
  let bounds = firstBounds;
  let duration = durationFamily(register, bounds);
  const targets = new Map<string, SeriesByNode>();
  const pairs = function* all() {
    for (const { nodes } of targets.values()) yield* nodes.values();
  };
  const nodeLabels = createLabelSets();
  createLastViews(register, pairs);
  const results = register.counter(
    'watchpost_check_results_total',
    'Outcomes of checks by the reason of the failure, which is "none" for up.',
  );
  createFindingViews(register, pairs);
  createValueView(register, pairs);
  // Few, for reasons are codes.
  const outcomes = createLabelSets();

  function record(target: string, check: CheckSpec['type'], { node, outcome }: Vote): void {
    const pair = pairOf(target, check, node.name);
    if (outcome.seconds !== null && outcome.status !== 'unknown') pair.duration.observe(outcome.seconds);
    pair.seconds = outcome.seconds;
    pair.up = outcome.status === 'unknown' ? null : Number(outcome.status === 'up');
    pair.phases = outcome.phases;
    pair.facts = outcome.facts;
    pair.values = checkOf(check).values?.(outcome) ?? [];
    for (const fact of keptFacts) {
      const value = outcome.facts[fact];
      if (value !== undefined) (pair.kept ??= {})[fact] = value;
    }
    count(pair, outcome);
  }

  function pairOf(target: string, check: string, node: string): TargetNodeSeries {
    let own = targets.get(target);
    if (own?.check !== check) targets.set(target, (own = seriesOf(target, check, own?.nodes)));
    let pair = own.nodes.get(node);
    if (pair === undefined) {
      const ofNode = nodeLabels(node, () => ({ node }));
      const labels = new JoinedLabels(own.labels, ofNode);
      pair = newPair(check, { labels, place: new JoinedLabels(own.place, ofNode) }, duration.add(labels));
      own.nodes.set(node, pair);
    }
    return pair;
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
      for (const vote of votes) record(target, check, vote);
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
    keepNodes: (names) => keep((_, node) => names.has(node)),
  };
}

function seriesOf(target: string, check: string, nodes = new Map<string, TargetNodeSeries>()): SeriesByNode {
  return { check, labels: new LabelSet({ target, check }), place: new LabelSet({ target }), nodes };
}

function newPair(
  check: string,
  { labels, place }: Pick<TargetNodeSeries, 'labels' | 'place'>,
  duration: Distribution,
): TargetNodeSeries {
  return {
    check,
    labels,
    place,
    duration,
    up: null,
    seconds: null,
    phases: {},
    facts: {},
    values: [],
    kept: null,
    results: [],
    last: null,
  };
}

function durationFamily(register: Register, bounds: readonly number[]): Family<Distribution> {
  return register.histogram(
    'watchpost_check_duration_seconds',
    'How long checks took that had a duration, whether up or down.',
    bounds,
  );
}

// Values that outcomes bring anew, and that are not read between two scrapes, are kept as they came.
type Pairs = () => Iterable<TargetNodeSeries>;

function createLastViews(register: Register, pairs: Pairs): void {
  const upHelp = 'What the node saw last: 1 for up, 0 for down; absent while it cannot tell.';
  register.view('watchpost_up', upHelp, function* series() {
    for (const { labels, up } of pairs()) if (up !== null) yield new Sample(labels, up, 0);
  });
  const lastHelp = 'How long the last check took; absent if it had no duration.';
  register.view('watchpost_check_last_duration_seconds', lastHelp, function* series() {
    for (const { labels, seconds } of pairs()) if (seconds !== null) yield new Sample(labels, seconds, 0);
  });
}

/** Sets of labels by what they are known by, each made once. */
function createLabelSets(): (key: string, labels: () => SeriesLabels) => LabelSet {
  const sets = new Map<string, LabelSet>();
  return (key, labels) => {
    let set = sets.get(key);
    if (set === undefined) sets.set(key, (set = new LabelSet(labels())));
    return set;
  };
}

const factMetrics = {
  watchpost_ping_loss_ratio: 'Share of the echoes of the last check that got no reply.',
  watchpost_ping_rtt_seconds: 'Round-trip times of the last check.',
  watchpost_path_hops: 'Number of hops on the path to the target at the last check.',
  watchpost_ntp_clock_offset_seconds: "How far the NTP server's clock was ahead of the node's at the last check.",
  watchpost_certificate_expiry_timestamp_seconds: 'When the certificate that was seen last expires.',
  watchpost_check_family_seconds: 'Durations of the last check over each address family.',
  watchpost_check_ip_protocol: 'The address family that connected first: 4 or 6.',
  watchpost_plugin_state: 'What the plugin ended with at the last check: 0 for OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN.',
  watchpost_domain_expiry_timestamp_seconds: 'When the registration of the domain expires, as the registry said last.',
} as const;

interface ShownFact {
  readonly metric: keyof typeof factMetrics;
  readonly labels?: LabelSet;
  readonly isKept?: true;
}

const shownFacts: Readonly<Record<FactName, ShownFact | null>> = {
  loss: { metric: 'watchpost_ping_loss_ratio' },
  rtt_min: { metric: 'watchpost_ping_rtt_seconds', labels: new LabelSet({ stat: 'min' }) },
  rtt_mean: { metric: 'watchpost_ping_rtt_seconds', labels: new LabelSet({ stat: 'mean' }) },
  rtt_max: { metric: 'watchpost_ping_rtt_seconds', labels: new LabelSet({ stat: 'max' }) },
  rtt_deviation: { metric: 'watchpost_ping_rtt_seconds', labels: new LabelSet({ stat: 'deviation' }) },
  hops: { metric: 'watchpost_path_hops' },
  answer_ttl: null,
  clock_offset: { metric: 'watchpost_ntp_clock_offset_seconds' },
  ipv4_seconds: { metric: 'watchpost_check_family_seconds', labels: new LabelSet({ family: '4' }) },
  ipv6_seconds: { metric: 'watchpost_check_family_seconds', labels: new LabelSet({ family: '6' }) },
  ip_protocol: { metric: 'watchpost_check_ip_protocol' },
  node_lag: null,
  certificate_expires_at: { metric: 'watchpost_certificate_expiry_timestamp_seconds', isKept: true },
  plugin_state: { metric: 'watchpost_plugin_state' },
  domain_expires_at: { metric: 'watchpost_domain_expiry_timestamp_seconds', isKept: true },
};
const factNames = Object.keys(shownFacts).filter((name): name is FactName => name in shownFacts);
const keptFacts = factNames.filter((fact) => shownFacts[fact]?.isKept);

function createFindingViews(register: Register, pairs: Pairs): void {
  const phaseLabels = createLabelSets();
  register.view('watchpost_check_phase_seconds', 'How long each part of the last check took.', function* series() {
    for (const { place, phases } of pairs())
      for (const [phase, seconds] of Object.entries(phases)) {
        const more = phaseLabels(phase, () => ({ phase }));
        yield new Sample(place, seconds, 0, more);
      }
  });
  for (const [metric, help] of Object.entries(factMetrics)) {
    const facts = factNames
      .filter((fact) => shownFacts[fact]?.metric === metric)
      .map((fact) => ({ fact, more: shownFacts[fact]?.labels ?? null }));
    const isKept = facts.some(({ fact }) => keptFacts.includes(fact));
    register.view(metric, help, function* series() {
      for (const pair of pairs()) {
        const from = isKept ? pair.kept : pair.facts;
        if (from === null) continue;
        for (const { fact, more } of facts) {
          const value = from[fact];
          if (value !== undefined) yield new Sample(pair.place, value, 0, more);
        }
      }
    });
  }
}

// Labels are those of plugins, which may make up others each time: none is kept.
function createValueView(register: Register, pairs: Pairs): void {
  const help = 'Performance data of the last check, in the unit that the plugin gave.';
  register.view('watchpost_plugin_value', help, function* series() {
    for (const { place, values } of pairs())
      for (const { label, unit, value } of values)
        if (value !== null) yield new Sample(place, value, 0, new LabelSet({ label, unit }));
  });
}
