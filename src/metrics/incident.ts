import { onceFor } from '#kernel/once-for.ts';
import type { Register } from './register.ts';
import { LabelSet, Sample } from './series.ts';
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

/** Of a rule that had an incident since the start. */
interface RuleIncident {
  readonly rule: string;
  readonly severity: string;
  readonly isActive: boolean;
  readonly isSuppressed: boolean;
}

/** `labelsOf` gives the labels of a target alone; null if it is not watched. */
export function createIncidentMetrics(
  register: Register,
  labelsOf: (target: string) => LabelSet | null,
): IncidentMetrics {
  let watched: readonly ExportedTarget[] = [];
  // Most rules of most targets never have one: nothing is kept for these.
  const known = new Map<string, readonly RuleIncident[]>();

  function view(name: string, help: string, isSet: (state: RuleIncident) => boolean): void {
    register.view(name, help, function* series() {
      for (const { name: target, rules } of watched) {
        const labels = labelsOf(target);
        if (labels === null) continue;
        const states = known.get(target);
        for (const { rule, severity, more } of labelled(rules)) {
          const state = states?.find((one) => one.rule === rule);
          if (state === undefined) yield new Sample(labels, 0, 0, more);
          // Its incident may be from before a reload.
          else
            yield new Sample(labels, Number(isSet(state)), 0, state.severity === severity ? more : labelsOfRule(state));
        }
        for (const state of states ?? [])
          if (!rules.some(({ name }) => name === state.rule))
            yield new Sample(labels, Number(isSet(state)), 0, labelsOfRule(state));
      }
    });
  }

  view('watchpost_incident_active', '1 while an incident of this rule is open, else 0.', ({ isActive }) => isActive);
  view(
    'watchpost_incident_suppressed',
    '1 while an incident of this rule is open and suppressed, else 0.',
    ({ isSuppressed }) => isSuppressed,
  );

  return {
    targetsChanged(targets) {
      watched = targets;
      const rulesOf = new Map(targets.map(({ name, rules }) => [name, rules]));
      for (const [target, states] of known) {
        const rules = rulesOf.get(target) ?? [];
        const kept = states.flatMap((state) => {
          const rule = rules.find(({ name }) => name === state.rule);
          return rule === undefined ? [] : [{ ...state, severity: rule.severity }];
        });
        if (kept.length > 0) known.set(target, kept);
        else known.delete(target);
      }
    },
    incidentChanged({ target, rule, severity, active, suppressed }) {
      if (labelsOf(target) === null) return;
      const others = (known.get(target) ?? []).filter((state) => state.rule !== rule);
      known.set(target, [...others, { rule, severity, isActive: active, isSuppressed: suppressed }]);
    },
  };
}

// Thousands of targets have the same list of rules.
const labelled = onceFor((rules: ExportedTarget['rules']) =>
  rules.map(({ name: rule, severity }) => ({ rule, severity, more: labelsOfRule({ rule, severity }) })),
);

const labelsOfRule = ({ rule, severity }: Pick<RuleIncident, 'rule' | 'severity'>) => new LabelSet({ rule, severity });
