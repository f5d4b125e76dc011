import type { Register } from './register.ts';
import { LabelSet, type Sample } from './series.ts';
import type { ExportedTarget } from './target.ts';

export interface IncidentChange {
  readonly target: string;
  readonly rule: string;
  readonly severity: string;
  readonly active: boolean;
  /** Open, but suppressed: no recipient was notified. */
  readonly suppressed: boolean;
}

/** Whether an incident is open, and suppressed, for each rule of each target. */
export interface IncidentMetrics {
  targetsChanged(targets: readonly ExportedTarget[]): void;
  incidentChanged(change: IncidentChange): void;
}

interface RuleSeries {
  readonly severity: string;
  readonly active: Sample;
  readonly suppressed: Sample;
}

export function createIncidentMetrics(register: Register): IncidentMetrics {
  const active = register.gauge('watchpost_incident_active', '1 while an incident of this rule is open, else 0.');
  const suppressed = register.gauge(
    'watchpost_incident_suppressed',
    '1 while an incident of this rule is open and suppressed, else 0.',
  );
  const targets = new Map<string, Map<string, RuleSeries>>();

  function remove(series: RuleSeries): void {
    active.remove(series.active);
    suppressed.remove(series.suppressed);
  }

  function seriesOf(rules: Map<string, RuleSeries>, target: string, rule: string, severity: string): RuleSeries {
    const known = rules.get(rule);
    if (known?.severity === severity) return known;
    if (known !== undefined) remove(known);
    const labels = new LabelSet({ target, rule, severity });
    const series = { severity, active: active.add(labels), suppressed: suppressed.add(labels) };
    series.active.value = known?.active.value ?? 0;
    series.suppressed.value = known?.suppressed.value ?? 0;
    rules.set(rule, series);
    return series;
  }

  function dropOthers(rules: Map<string, RuleSeries>, names: ReadonlySet<string>): void {
    for (const [rule, series] of rules) {
      if (names.has(rule)) continue;
      remove(series);
      rules.delete(rule);
    }
  }

  return {
    targetsChanged(watched) {
      const names = new Set(watched.map((target) => target.name));
      for (const [target, rules] of targets) {
        if (names.has(target)) continue;
        dropOthers(rules, new Set());
        targets.delete(target);
      }
      for (const target of watched) {
        const rules = targets.get(target.name) ?? new Map<string, RuleSeries>();
        targets.set(target.name, rules);
        dropOthers(rules, new Set(target.rules.map((rule) => rule.name)));
        for (const { name, severity } of target.rules) seriesOf(rules, target.name, name, severity);
      }
    },
    incidentChanged(change) {
      const rules = targets.get(change.target);
      if (rules === undefined) return;
      const series = seriesOf(rules, change.target, change.rule, change.severity);
      series.active.value = change.active ? 1 : 0;
      series.suppressed.value = change.suppressed ? 1 : 0;
    },
  };
}
