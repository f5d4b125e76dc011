import { z } from 'zod';
import { find, type SourceNode } from '#config/read/located.ts';
import { dayMs, formatDuration } from '#kernel/units.ts';
import { durationWithin, foreignDuration } from '../convert.ts';
import type { Draft, PlainMap } from '../draft.ts';
import { placeAt } from '../source.ts';
import type { ProbeTarget } from './jobs.ts';
import { type Comparison, type Matcher, readComparisons } from './promql.ts';

const Text = z.union([z.string(), z.number(), z.boolean()]).transform(String);
const Written = z.looseObject({
  alert: Text,
  expr: Text,
  for: Text.default('0s'),
  keep_firing_for: Text.default('0s'),
  labels: z.record(z.string(), Text).default({}),
});

/** An alert that can be a rule. */
export interface AlertingRule {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly severity: 'critical' | 'warning' | 'info';
  readonly matchers: readonly Matcher[];
  readonly metric: string;
  /** The rule for a target with this interval. */
  rule(everyMs: number): PlainMap;
}

/** The alerts about probes in these rule files; what else they hold is none of ours. */
export function readAlerts(roots: readonly SourceNode[], draft: Draft): readonly AlertingRule[] {
  return roots.flatMap((root) => {
    const base = find(root, ['groups']) === null ? ['spec', 'groups'] : ['groups'];
    return [...(find(root, base)?.children ?? [])].flatMap(([group]) =>
      [...(find(root, [...base, Number(group), 'rules'])?.children ?? [])].flatMap(([index, entry]) => {
        const place = placeAt(root, [...base, Number(group), 'rules', Number(index)]);
        const read = Written.safeParse(entry.value);
        if (!read.success || !/\bprobe_/.test(read.data.expr)) return [];
        return alertOf(read.data, place, draft);
      }),
    );
  });
}

function alertOf(
  { alert, expr, labels, ...times }: z.output<typeof Written>,
  place: string,
  draft: Draft,
): readonly AlertingRule[] {
  const comparisons = readComparisons(expr);
  const [first] = comparisons ?? [];
  const make = first === undefined ? null : conditionOf(first);
  if (comparisons === null || first === undefined || make === null) {
    draft.note('lost', place, `alert ${alert}: ${expr}`);
    return [];
  }
  if ('note' in make) {
    draft.note('differs', place, `alert ${alert}: ${make.note}`);
    return [];
  }
  if (comparisons.length > 1)
    draft.note('lost', place, `alert ${alert}: all of its expression but the first comparison`);
  const forMs = foreignDuration(times.for) ?? 0;
  const keepMs = foreignDuration(times.keep_firing_for) ?? 0;
  const severity = severityOf(labels['severity'] ?? labels['priority'], make.isOutage);
  const rule = (everyMs: number): PlainMap => ({
    ...make.condition,
    rounds: make.rounds?.(everyMs) ?? roundsOf(forMs, everyMs),
    recover: Math.min(Math.ceil(keepMs / everyMs) + 1, 99),
    confirm: make.isOutage ? false : undefined,
    severity: severity === (make.isOutage ? 'critical' : 'warning') ? undefined : severity,
  });
  return [
    {
      name: alert,
      labels: { ...labels, alertname: alert },
      severity,
      matchers: first.matchers,
      metric: first.metric,
      rule,
    },
  ];
}

// Something has to be seen from its first time on for so long.
const roundsOf = (forMs: number, everyMs: number) => Math.min(Math.floor(forMs / everyMs) + 1, 99);

interface AlertCondition {
  readonly condition: PlainMap;
  readonly isOutage: boolean;
  readonly rounds?: (everyMs: number) => string | number;
}

const durations: readonly string[] = [
  'probe_duration_seconds',
  'probe_http_duration_seconds',
  'probe_icmp_duration_seconds',
];
const partsOfDown: readonly string[] = [
  'probe_http_status_code',
  'probe_failed_due_to_regex',
  'probe_http_ssl',
  'probe_dns_query_succeeded',
];

function conditionOf({ metric, operator, over, limit }: Comparison): AlertCondition | { readonly note: string } | null {
  if (metric === 'probe_success') return outageOf(operator, over, limit);
  if (partsOfDown.includes(metric))
    return { note: `${metric} is a cause of being down, which the rules for that report` };
  if (metric === 'probe_ssl_earliest_cert_expiry' || metric === 'probe_ssl_last_chain_expiry_timestamp_seconds') {
    if (!operator.startsWith('<') || limit <= 0)
      return { note: 'a certificate that has expired makes its target down' };
    return {
      condition: { certificate: { expires_within: durationWithin(limit * 1_000, 3_600_000, 31_536_000_000) } },
      isOutage: false,
    };
  }
  if (!durations.includes(metric) || !operator.startsWith('>')) return null;
  const above = durationWithin(limit * 1_000, 1, 600_000);
  const windowMs = over === null ? null : foreignDuration(over.range);
  if (windowMs === null) return { condition: { latency: { above, statistic: 'last' } }, isOutage: false };
  const statistic = over?.name === 'max_over_time' ? 'max' : 'mean';
  return {
    condition: {
      latency: { above, statistic, window: formatDuration(Math.min(Math.max(windowMs, 180_000), dayMs)) },
    },
    isOutage: false,
  };
}

// `avg_over_time(probe_success[5m]) < 0.8`: so many of the rounds in that time have failed.
function outageOf(operator: string, over: Comparison['over'], limit: number): AlertCondition | null {
  const isDown = (operator === '==' && limit === 0) || (operator === '!=' && limit === 1) || operator.startsWith('<');
  if (!isDown) return null;
  const condition = { failing: 'majority' };
  if (over === null || over.name === 'max_over_time') {
    const windowMs = over === null ? 0 : (foreignDuration(over.range) ?? 0);
    return windowMs === 0
      ? { condition, isOutage: true }
      : { condition, isOutage: true, rounds: (everyMs) => roundsOf(windowMs, everyMs) };
  }
  const windowMs = foreignDuration(over.range) ?? 300_000;
  return {
    condition,
    isOutage: true,
    rounds(everyMs) {
      const of = Math.min(Math.max(Math.round(windowMs / everyMs), 1), 99);
      const share = operator === '==' ? 1 : 1 - Math.min(Math.max(limit, 0), 1);
      const bad = over.name === 'min_over_time' ? 1 : Math.min(Math.max(Math.ceil(of * share), 1), of);
      return bad === of ? of : `${bad} of ${of}`;
    },
  };
}

const severities: readonly (readonly ['critical' | 'warning' | 'info', RegExp])[] = [
  ['critical', /^(?:crit|page|error|emerg|high|major|p1|p2|sev1|disaster)/i],
  ['warning', /^(?:warn|medium|minor|ticket|p3|sev2)/i],
  ['info', /^(?:info|low|none|notice|p4|p5)/i],
];

function severityOf(text: string | undefined, isOutage: boolean): AlertingRule['severity'] {
  const usual = isOutage ? 'critical' : 'warning';
  return text === undefined ? usual : (severities.find(([, pattern]) => pattern.test(text))?.[0] ?? usual);
}

/** Whether an alert's selector picks a target, whose check has such a metric at all. */
export function selects(
  { matchers, metric }: AlertingRule,
  { labels }: ProbeTarget,
  { check, tls }: PlainMap,
): boolean {
  if (metric === 'probe_http_duration_seconds' && check !== 'http') return false;
  if (metric === 'probe_icmp_duration_seconds' && check !== 'ping') return false;
  if (metric.startsWith('probe_ssl') && check !== 'http' && tls === undefined) return false;
  return matchers.every((matcher) => fits(matcher, labels.get(matcher.label) ?? ''));
}

export function fits({ operator, value }: Matcher, text: string): boolean {
  if (operator === '=') return text === value;
  if (operator === '!=') return text !== value;
  return new RegExp(`^(?:${value})$`, 's').test(text) === (operator === '=~');
}
