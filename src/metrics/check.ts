import type { Vote } from '#monitor/judge/vote.ts';
import type { Family, Register } from './register.ts';
import type { Distribution, Sample } from './series.ts';

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
  /** Drops the series of nodes that are gone. */
  keepNodes(nodes: ReadonlySet<string>): void;
}

/** Where a fact is exported. `kept`: it stays true when a later check could not measure it. */
interface FactGauge {
  readonly family: Family;
  readonly stat?: string;
  readonly kept?: true;
}

interface Pair {
  readonly check: string;
  readonly up: Sample;
  readonly duration: Distribution;
  readonly lastDuration: Sample;
  readonly phases: Map<string, Sample>;
  readonly results: Map<string, Sample>;
  readonly facts: Map<Fact, Sample>;
}

export function createCheckMetrics(register: Register, bounds: readonly number[]): CheckMetrics {
  const { up, duration, lastDuration, phases, results, factGauges } = createFamilies(register, bounds);
  const factNames = Object.keys(factGauges).filter((name): name is Fact => name in factGauges);
  const targets = new Map<string, Map<string, Pair>>();

  function record(target: string, check: string, { node, outcome }: Vote): void {
    const pair = pairOf(target, check, node.name);
    if (outcome.seconds !== null && outcome.status !== 'unknown') pair.duration.observe(outcome.seconds);
    pair.lastDuration.value = outcome.seconds;
    pair.up.value = outcome.status === 'unknown' ? null : Number(outcome.status === 'up');
    setPhases(pair, target, node.name, outcome);
    count(pair, target, node.name, outcome);
    setFacts(pair, target, node.name, outcome);
  }

  function pairOf(target: string, check: string, node: string): Pair {
    let nodes = targets.get(target);
    if (nodes === undefined) targets.set(target, (nodes = new Map<string, Pair>()));
    let pair = nodes.get(node);
    if (pair === undefined) {
      const labels = { target, check, node };
      pair = {
        check,
        up: up.add(labels),
        duration: duration.add(labels),
        lastDuration: lastDuration.add(labels),
        phases: new Map(),
        results: new Map(),
        facts: new Map(),
      };
      nodes.set(node, pair);
    }
    return pair;
  }

  function setPhases(pair: Pair, target: string, node: string, outcome: Outcome): void {
    for (const sample of pair.phases.values()) sample.value = null;
    for (const [phase, seconds] of Object.entries(outcome.phases)) {
      let sample = pair.phases.get(phase);
      if (sample === undefined) pair.phases.set(phase, (sample = phases.add({ target, node, phase })));
      sample.value = seconds;
    }
  }

  function count(pair: Pair, target: string, node: string, outcome: Outcome): void {
    const reason = outcome.status === 'up' ? 'none' : outcome.failure.code;
    const key = `${outcome.status} ${reason}`;
    let sample = pair.results.get(key);
    if (sample === undefined) {
      sample = results.add({ target, check: pair.check, node, outcome: outcome.status, reason });
      pair.results.set(key, sample);
    }
    sample.add();
  }

  function setFacts(pair: Pair, target: string, node: string, outcome: Outcome): void {
    for (const fact of factNames) {
      const gauge = factGauges[fact];
      const value = outcome.facts[fact] ?? null;
      let sample = pair.facts.get(fact);
      if (gauge === null || (value === null && (gauge.kept === true || sample === undefined))) continue;
      if (sample === undefined) {
        sample = gauge.family.add({ target, node, ...(gauge.stat !== undefined && { stat: gauge.stat }) });
        pair.facts.set(fact, sample);
      }
      sample.value = value;
    }
  }

  function drop(pair: Pair): void {
    up.remove(pair.up);
    duration.remove(pair.duration);
    lastDuration.remove(pair.lastDuration);
    for (const sample of pair.phases.values()) phases.remove(sample);
    for (const sample of pair.results.values()) results.remove(sample);
    for (const [fact, sample] of pair.facts) factGauges[fact]?.family.remove(sample);
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
        for (const sample of pair.facts.values()) sample.value = null;
      }
    },
    keepTargets: (checkByTarget) => keep((target, _, pair) => checkByTarget.get(target) === pair.check),
    keepNodes: (names) => keep((_, node) => names.has(node)),
  };
}

function createFamilies(register: Register, bounds: readonly number[]) {
  const up = register.gauge(
    'watchpost_up',
    'What the node saw last: 1 for up, 0 for down; absent while it cannot tell.',
  );
  const duration = register.histogram(
    'watchpost_check_duration_seconds',
    'How long checks took that had a duration, whether up or down.',
    bounds,
  );
  const lastDuration = register.gauge(
    'watchpost_check_last_duration_seconds',
    'How long the last check took; absent where it had no duration.',
  );
  const phases = register.gauge('watchpost_check_phase_seconds', 'How long each part of the last check took.');
  const results = register.counter(
    'watchpost_check_results_total',
    'Outcomes of checks by the reason of the failure, which is "none" for up.',
  );
  const loss = register.gauge('watchpost_ping_loss_ratio', 'Share of the echoes of the last check that got no reply.');
  const rtt = register.gauge('watchpost_ping_rtt_seconds', 'Round-trip times of the last check.');
  const expiry = register.gauge(
    'watchpost_certificate_expiry_timestamp_seconds',
    'When the certificate that was seen last expires.',
  );
  const domainExpiry = register.gauge(
    'watchpost_domain_expiry_timestamp_seconds',
    'When the registration of the domain expires, as the registry said last.',
  );
  const factGauges: Readonly<Record<Fact, FactGauge | null>> = {
    loss: { family: loss },
    rtt_min: { family: rtt, stat: 'min' },
    rtt_mean: { family: rtt, stat: 'mean' },
    rtt_max: { family: rtt, stat: 'max' },
    rtt_deviation: { family: rtt, stat: 'deviation' },
    answer_ttl: null,
    node_lag: null,
    certificate_expires_at: { family: expiry, kept: true },
    domain_expires_at: { family: domainExpiry, kept: true },
  };
  return { up, duration, lastDuration, phases, results, factGauges };
}
