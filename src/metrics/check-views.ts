import { createLabelSets, type FactName, type SeriesByNode, type TargetNodeSeries } from './check-series.ts';
import type { LastOfNodes } from './last-of-nodes.ts';
import type { Register } from './register.ts';
import { type JoinedLabels, LabelSet, Sample } from './series.ts';

// Values that outcomes bring anew, and that are not read between two scrapes, are kept as they came.
export type Pairs = () => Iterable<TargetNodeSeries>;

/** Whether it was up, and how long it took. `summed` are the targets whose other series are those of all nodes. */
export function createLastViews(
  register: Register,
  pairs: Pairs,
  summed: () => Iterable<SeriesByNode>,
  labelsAt: (target: SeriesByNode, node: string) => JoinedLabels,
): void {
  // There may be hundreds of thousands.
  function* ofNodes(target: SeriesByNode, valueAt: (last: LastOfNodes, index: number) => number | null) {
    const { last } = target;
    if (last === null) return;
    for (let index = 0; index < last.count; index += 1) {
      const value = valueAt(last, index);
      if (value !== null) yield new Sample(labelsAt(target, last.nodeAt(index)), value, 0);
    }
  }

  const upHelp = 'What the node saw last: 1 for up, 0 for down; absent while it cannot tell.';
  register.view('watchpost_up', upHelp, function* series() {
    for (const { labels, up } of pairs()) if (up !== null) yield new Sample(labels, up, 0);
    for (const target of summed()) yield* ofNodes(target, (last, index) => last.stateAt(index));
  });
  const lastHelp = 'How long the last check took; absent if it had no duration.';
  register.view('watchpost_check_last_duration_seconds', lastHelp, function* series() {
    for (const { labels, seconds } of pairs()) if (seconds !== null) yield new Sample(labels, seconds, 0);
    for (const target of summed()) yield* ofNodes(target, (last, index) => last.secondsAt(index));
  });
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
/** Those that stay true when a later check could not tell. */
export const keptFacts = factNames.filter((fact) => shownFacts[fact]?.isKept);

/** Phases and facts. `kept` are the pairs whose kept facts are shown, which may be those of all nodes together. */
export function createFindingViews(register: Register, pairs: Pairs, kept: Pairs): void {
  const phaseLabels = createLabelSets();
  register.view('watchpost_check_phase_seconds', 'How long each part of the last check took.', function* series() {
    for (const { place, phaseNames, phaseSeconds } of pairs())
      for (const [index, phase] of phaseNames.entries()) {
        const more = phaseLabels(phase, () => ({ phase }));
        yield new Sample(place, phaseSeconds[index] ?? Number.NaN, 0, more);
      }
  });
  for (const [metric, help] of Object.entries(factMetrics)) {
    const facts = factNames
      .filter((fact) => shownFacts[fact]?.metric === metric)
      .map((fact) => ({ fact, more: shownFacts[fact]?.labels ?? null }));
    const isKept = facts.some(({ fact }) => keptFacts.includes(fact));
    register.view(metric, help, function* series() {
      for (const pair of isKept ? kept() : pairs()) {
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

/** Values of plugins. Their labels may be others each time: none is kept. */
export function createValueView(register: Register, pairs: Pairs): void {
  const help = 'Performance data of the last check, in the unit that the plugin gave.';
  register.view('watchpost_plugin_value', help, function* series() {
    for (const { place, values } of pairs())
      for (const { label, unit, value } of values)
        if (value !== null) yield new Sample(place, value, 0, new LabelSet({ label, unit }));
  });
}
