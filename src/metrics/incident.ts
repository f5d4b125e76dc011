import { type Family, gaugeFamily, type Sample, type Series } from './exposition.ts';
import type { WatchedTarget } from './target.ts';

export interface IncidentChange {
  readonly target: string;
  readonly rule: string;
  readonly severity: string;
  readonly active: boolean;
}

/** Whether an incident is open, for each rule of each target. */
export interface IncidentMetrics {
  readonly families: readonly Family<Series>[];
  targetsChanged(targets: readonly WatchedTarget[]): void;
  incidentChanged(change: IncidentChange): void;
}

interface RuleSeries {
  readonly severity: string;
  readonly sample: Sample;
}

export function createIncidentMetrics(): IncidentMetrics {
  const active = gaugeFamily('watchpost_incident_active', '1 while an incident of this rule is open, else 0.');
  const targets = new Map<string, Map<string, RuleSeries>>();

  function set(rules: Map<string, RuleSeries>, target: string, rule: string, severity: string, value?: number): void {
    const known = rules.get(rule);
    if (known !== undefined && known.severity !== severity) active.remove(known.sample);
    const same = known?.severity === severity ? known : undefined;
    const { sample } = same ?? { sample: active.add({ target, rule, severity }) };
    sample.value = value ?? known?.sample.value ?? 0;
    rules.set(rule, { severity, sample });
  }

  function dropOthers(rules: Map<string, RuleSeries>, names: ReadonlySet<string>): void {
    for (const [rule, { sample }] of rules) {
      if (names.has(rule)) continue;
      active.remove(sample);
      rules.delete(rule);
    }
  }

  return {
    families: [active],
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
        for (const { name, severity } of target.rules) set(rules, target.name, name, severity);
      }
    },
    incidentChanged(change) {
      const rules = targets.get(change.target);
      if (rules !== undefined) set(rules, change.target, change.rule, change.severity, change.active ? 1 : 0);
    },
  };
}
