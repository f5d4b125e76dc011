import { isIPv6 } from 'node:net';
import { checkOf, probeFindings } from '#checks/index.ts';
import type { Vote } from '#monitor/judge/vote.ts';
import type { Family, Register } from './register.ts';
import type { SeriesLabels, Sample } from './series.ts';
import { shownHost, type ExportedTarget } from './target.ts';

type AnyCheckType = Parameters<typeof checkOf>[0];

/** The same figures once more under the names of blackbox_exporter, for dashboards and alerts that were written for it. */
export interface BlackboxMetrics {
  record(target: string, check: AnyCheckType, votes: readonly Vote[]): void;
  /** Takes all targets; what is shown of those that are gone, or have other labels, goes. */
  targetsChanged(targets: readonly ExportedTarget[]): void;
  keepNodes(nodes: ReadonlySet<string>): void;
  /** Nothing of it is shown any more. */
  close(): void;
}

interface BlackboxTarget {
  /** What tells this target from the one that it was before. */
  readonly key: string;
  readonly labels: SeriesLabels;
  /** By node, then by name and labels. */
  readonly nodes: Map<string, Map<string, FamilySample>>;
}

interface FamilySample {
  readonly family: Family;
  readonly sample: Sample;
}

interface ProbeMetric {
  readonly name: string;
  readonly labels?: SeriesLabels;
  readonly value: number;
}

const common = {
  probe_success: '1 if the target was up, 0 if it was down.',
  probe_duration_seconds: 'How long the probe took.',
  probe_dns_lookup_time_seconds: 'How long the name resolution took.',
  probe_ip_protocol: '4 or 6, for the version of IP; 0 if no address was reached.',
  probe_ssl_earliest_cert_expiry: 'When the first certificate of those that the server sent expires.',
} as const;

export function createBlackboxMetrics(register: Register): BlackboxMetrics {
  const families = new Map(
    Object.entries({ ...common, ...probeFindings }).map(([name, help]) => [name, register.gauge(name, help)]),
  );
  const known = new Map<string, BlackboxTarget>();

  function show({ labels, nodes }: BlackboxTarget, node: string, findings: readonly ProbeMetric[]): void {
    let shown = nodes.get(node);
    if (shown === undefined) nodes.set(node, (shown = new Map<string, FamilySample>()));
    for (const { sample } of shown.values()) sample.value = null;
    for (const { name, labels: more = {}, value } of findings) {
      const key = `${name} ${Object.values(more).join(' ')}`;
      let one = shown.get(key);
      const family = families.get(name);
      if (one === undefined && family !== undefined) {
        one = { family, sample: family.add({ ...labels, node, ...more }) };
        shown.set(key, one);
      }
      if (one !== undefined) one.sample.value = value;
    }
  }

  function drop(shown: ReadonlyMap<string, FamilySample>): void {
    for (const { family, sample } of shown.values()) family.remove(sample);
  }

  return {
    record(target, check, votes) {
      const one = known.get(target);
      if (one === undefined) return;
      for (const { node, outcome } of votes) show(one, node.name, findingsOf(check, outcome));
    },
    targetsChanged(targets) {
      const next = new Map(targets.map((target) => [target.name, target]));
      for (const [name, { key, nodes }] of known) {
        const target = next.get(name);
        if (target !== undefined && keyOf(target) === key) continue;
        for (const shown of nodes.values()) drop(shown);
        known.delete(name);
      }
      for (const target of targets) {
        if (known.has(target.name)) continue;
        // What it is to be called may be said by its own labels, `instance` and `job` too.
        const labels = { instance: shownHost(target.host), ...target.labels, target: target.name };
        known.set(target.name, { key: keyOf(target), labels, nodes: new Map() });
      }
    },
    close: () => register.drop(families.values()),
    keepNodes(names) {
      for (const { nodes } of known.values()) {
        for (const [name, shown] of nodes) {
          if (names.has(name)) continue;
          drop(shown);
          nodes.delete(name);
        }
      }
    },
  };
}

const keyOf = ({ check, host, labels }: ExportedTarget) => JSON.stringify([check, host, labels]);

// If the node itself failed there is no sample: it would be an outage.
function findingsOf(check: AnyCheckType, outcome: Vote['outcome']): readonly ProbeMetric[] {
  if (outcome.status === 'unknown') return [];
  const { seconds, phases, address } = outcome;
  const { certificate, asProbe } = checkOf(check);
  const seen = certificate?.(outcome) ?? null;
  const expiries = seen === null ? [] : [seen, ...seen.chain].map(({ valid_to }) => Date.parse(valid_to) / 1_000);
  return [
    { name: 'probe_success', value: outcome.status === 'up' ? 1 : 0 },
    ...(seconds === null ? [] : [{ name: 'probe_duration_seconds', value: seconds + (phases.resolve ?? 0) }]),
    { name: 'probe_dns_lookup_time_seconds', value: phases.resolve ?? 0 },
    { name: 'probe_ip_protocol', value: address === null ? 0 : isIPv6(address) ? 6 : 4 },
    ...(expiries.length === 0 ? [] : [{ name: 'probe_ssl_earliest_cert_expiry', value: Math.min(...expiries) }]),
    ...(asProbe?.(outcome) ?? []),
  ];
}
