import type { Vote } from '#monitor/judge/vote.ts';
import type { Family, Register } from './register.ts';
import { type Distribution, type Labels, Sample } from './series.ts';

type Outcome = Vote['outcome'];
type Fact = keyof Outcome['facts'];

/** Upper bounds in seconds: few, because each is a series for every target on every node. */
export const durationBounds = [0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.2, 0.5, 1, 3, 10] as const;

/** What nodes measured: one set of series for each target on each node. */
export interface CheckMetrics {
  record(target: string, check: string, votes: readonly Vote[]): void;
  /** Stops to export facts that were kept, because the target checks something else now. */
  forgetFacts(target: string): void;
  /** Drops the series of targets that are gone or have another check type. */
  keepTargets(checkByTarget: ReadonlyMap<string, string>): void;
  /** Counts durations in buckets with these bounds from now on: those series begin anew. */
  setBounds(bounds: readonly number[]): void;
  /** Drops the series of nodes that are gone. */
  keepNodes(nodes: ReadonlySet<string>): void;
}

interface Pair {
  readonly check: string;
  readonly up: Sample;
  readonly labels: Labels;
  duration: Distribution;
  readonly lastDuration: Sample;
  /** Those of the last outcome; their series are made when they are scraped. */
  phases: Outcome['phases'];
  facts: Outcome['facts'];
  /** Facts that stay true when a later check could not tell. */
  readonly kept: Partial<Record<Fact, number>>;
  /** By the phase or the fact that they show. */
  readonly made: Map<string, Sample>;
  readonly results: Map<string, Sample>;
  /** What was counted last, which is mostly what is counted next. */
  last: { readonly status: Outcome['status']; readonly reason: string; readonly sample: Sample } | null;
}

export function createCheckMetrics(register: Register, firstBounds: readonly number[]): CheckMetrics {
  let bounds = firstBounds;
  let duration = durationFamily(register, bounds);
  const targets = new Map<string, Map<string, Pair>>();
  const { up, lastDuration, results } = createFamilies(register);
  createViews(register, targets);

  function record(target: string, check: string, { node, outcome }: Vote): void {
    const pair = pairOf(target, check, node.name);
    if (outcome.seconds !== null && outcome.status !== 'unknown') pair.duration.observe(outcome.seconds);
    pair.lastDuration.value = outcome.seconds;
    pair.up.value = outcome.status === 'unknown' ? null : Number(outcome.status === 'up');
    pair.phases = outcome.phases;
    pair.facts = outcome.facts;
    for (const fact of keptFacts) {
      const value = outcome.facts[fact];
      if (value !== undefined) pair.kept[fact] = value;
    }
    count(pair, target, node.name, outcome);
  }

  function pairOf(target: string, check: string, node: string): Pair {
    let nodes = targets.get(target);
    if (nodes === undefined) targets.set(target, (nodes = new Map<string, Pair>()));
    let pair = nodes.get(node);
    if (pair === undefined) {
      const labels = { target, check, node };
      pair = {
        check,
        labels,
        up: up.add(labels),
        duration: duration.add(labels),
        lastDuration: lastDuration.add(labels),
        phases: {},
        facts: {},
        kept: {},
        made: new Map(),
        results: new Map(),
        last: null,
      };
      nodes.set(node, pair);
    }
    return pair;
  }

  function count(pair: Pair, target: string, node: string, outcome: Outcome): void {
    const { status } = outcome;
    const reason = outcome.status === 'up' ? 'none' : outcome.failure.code;
    if (pair.last?.status !== status || pair.last.reason !== reason) {
      const key = `${status} ${reason}`;
      let sample = pair.results.get(key);
      if (sample === undefined) {
        sample = results.add({ target, check: pair.check, node, outcome: status, reason });
        pair.results.set(key, sample);
      }
      pair.last = { status, reason, sample };
    }
    pair.last.sample.add();
  }

  function drop(pair: Pair): void {
    up.remove(pair.up);
    duration.remove(pair.duration);
    lastDuration.remove(pair.lastDuration);
    for (const sample of pair.results.values()) results.remove(sample);
  }

  function keep(wanted: (target: string, node: string, pair: Pair) => boolean): void {
    for (const [target, nodes] of targets) {
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
      for (const pair of targets.get(target)?.values() ?? []) {
        pair.facts = {};
        for (const fact of keptFacts) delete pair.kept[fact];
      }
    },
    setBounds(next) {
      if (next.join() === bounds.join()) return;
      bounds = next;
      register.drop([duration]);
      duration = durationFamily(register, bounds);
      for (const nodes of targets.values())
        for (const pair of nodes.values()) pair.duration = duration.add(pair.labels);
    },
    keepTargets: (checkByTarget) => keep((target, _, pair) => checkByTarget.get(target) === pair.check),
    keepNodes: (names) => keep((_, node) => names.has(node)),
  };
}

function durationFamily(register: Register, bounds: readonly number[]): Family<Distribution> {
  return register.histogram(
    'watchpost_check_duration_seconds',
    'How long checks took that had a duration, whether up or down.',
    bounds,
  );
}

function createFamilies(register: Register) {
  return {
    up: register.gauge('watchpost_up', 'What the node saw last: 1 for up, 0 for down; absent while it cannot tell.'),
    lastDuration: register.gauge(
      'watchpost_check_last_duration_seconds',
      'How long the last check took; absent where it had no duration.',
    ),
    results: register.counter(
      'watchpost_check_results_total',
      'Outcomes of checks by the reason of the failure, which is "none" for up.',
    ),
  };
}

const factMetrics = {
  watchpost_ping_loss_ratio: 'Share of the echoes of the last check that got no reply.',
  watchpost_ping_rtt_seconds: 'Round-trip times of the last check.',
  watchpost_certificate_expiry_timestamp_seconds: 'When the certificate that was seen last expires.',
  watchpost_domain_expiry_timestamp_seconds: 'When the registration of the domain expires, as the registry said last.',
} as const;

interface ShownFact {
  readonly metric: keyof typeof factMetrics;
  readonly stat?: string;
  readonly isKept?: true;
}

const shownFacts: Readonly<Record<Fact, ShownFact | null>> = {
  loss: { metric: 'watchpost_ping_loss_ratio' },
  rtt_min: { metric: 'watchpost_ping_rtt_seconds', stat: 'min' },
  rtt_mean: { metric: 'watchpost_ping_rtt_seconds', stat: 'mean' },
  rtt_max: { metric: 'watchpost_ping_rtt_seconds', stat: 'max' },
  rtt_deviation: { metric: 'watchpost_ping_rtt_seconds', stat: 'deviation' },
  answer_ttl: null,
  node_lag: null,
  certificate_expires_at: { metric: 'watchpost_certificate_expiry_timestamp_seconds', isKept: true },
  domain_expires_at: { metric: 'watchpost_domain_expiry_timestamp_seconds', isKept: true },
};
const factNames = Object.keys(shownFacts).filter((name): name is Fact => name in shownFacts);
const keptFacts = factNames.filter((fact) => shownFacts[fact]?.isKept);

// What most outcomes bring anew, and nobody looks at between two scrapes: it is kept as it came.
function createViews(register: Register, targets: ReadonlyMap<string, ReadonlyMap<string, Pair>>): void {
  type Told = Iterable<readonly [key: string, value: number | null | undefined]>;

  function view(name: string, help: string, labelsOf: (key: string) => Labels, tell: (pair: Pair) => Told): void {
    register.view(name, help, function* series() {
      for (const [target, nodes] of targets) {
        for (const [node, pair] of nodes) {
          for (const [key, value] of tell(pair)) {
            if (value === null || value === undefined) continue;
            let sample = pair.made.get(key);
            if (sample === undefined)
              pair.made.set(key, (sample = new Sample({ target, node, ...labelsOf(key) }, null, 0)));
            sample.value = value;
            yield sample;
          }
        }
      }
    });
  }

  view(
    'watchpost_check_phase_seconds',
    'How long each part of the last check took.',
    (phase) => ({ phase }),
    ({ phases }) => Object.entries(phases),
  );
  for (const [metric, help] of Object.entries(factMetrics)) {
    const facts = factNames.filter((fact) => shownFacts[fact]?.metric === metric);
    const labels = new Map<string, Labels>(facts.map((fact) => [fact, statOf(shownFacts[fact])]));
    const isKept = facts.some((fact) => keptFacts.includes(fact));
    view(
      metric,
      help,
      (fact) => labels.get(fact) ?? {},
      (pair) => {
        const from = isKept ? pair.kept : pair.facts;
        // Most pairs have none, and there may be very many.
        return facts.every((fact) => from[fact] === undefined) ? none : facts.map((fact) => [fact, from[fact]]);
      },
    );
  }
}

const none: readonly never[] = [];

const statOf = (shown: ShownFact | null): Labels => (shown?.stat === undefined ? {} : { stat: shown.stat });
