import { checkOf, type CheckTypeName } from '#checks/index.ts';
import { formatDuration } from '#kernel/units.ts';
import { defaultRules, Rule, ruleFor } from '#monitor/judge/rule.ts';
import type { NamedRule, Target } from '#monitor/judge/target.ts';
import type { ConfigFile } from './shape/schema.ts';

/** The rules of a target by their names. Targets that have the same share one list. */
export function rulesIn({
  defaults,
  rules,
}: ConfigFile): (names: readonly string[], type: CheckTypeName) => Target['rules'] {
  const all = new Map(Object.entries({ ...implicitRules(), ...rules }));
  const resolveAll = (names: readonly string[], type: CheckTypeName) =>
    withUnknown(
      names.flatMap((name) => {
        const rule = all.get(name);
        return rule === undefined ? [] : [{ name, rule }];
      }),
      defaults.unknown_after,
    ).map(({ name, rule }) => ({ name, rule: ruleFor(rule, checkOf(type)) }));
  const known = new Map<string, Target['rules']>();
  return (names, type) => {
    const key = JSON.stringify([type, names]);
    const resolved = known.get(key) ?? resolveAll(names, type);
    known.set(key, resolved);
    return resolved;
  };
}

// A target that cannot be judged is notified even without a rule about it in the file.
function withUnknown(rules: readonly NamedRule[], after: 'never' | number): readonly NamedRule[] {
  if (after === 'never' || rules.some(({ name, rule }) => rule.kind === 'unknown' || name === 'unknown')) return rules;
  return [...rules, { name: 'unknown', rule: Rule.parse({ unknown: formatDuration(after) }) }];
}

const implicitRules = () =>
  Object.fromEntries(Object.entries(defaultRules).map(([name, rule]) => [name, Rule.parse(rule)]));
