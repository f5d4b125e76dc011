import { createHash } from 'node:crypto';
import { z } from 'zod';

const Text = z.union([z.string(), z.number(), z.boolean()]).transform(String);

export const RelabelConfig = z.looseObject({
  source_labels: z.array(Text).default([]),
  separator: Text.default(';'),
  target_label: Text.default(''),
  regex: Text.default('(.*)'),
  modulus: z.int().default(1),
  replacement: Text.default('$1'),
  action: Text.default('replace'),
});
export type RelabelConfig = z.output<typeof RelabelConfig>;

export type TargetLabels = ReadonlyMap<string, string>;

/** A target's labels after the rules of Prometheus, or null if one of them drops it. Throws for a pattern that is none. */
export function relabel(labels: TargetLabels, rules: readonly RelabelConfig[]): TargetLabels | null {
  const now = new Map(labels);
  for (const rule of rules) if (!apply(rule, now)) return null;
  for (const [name, value] of now) if (value === '') now.delete(name);
  return now;
}

// False if the target is dropped.
function apply(rule: RelabelConfig, labels: Map<string, string>): boolean {
  const { source_labels, separator, target_label, replacement, modulus } = rule;
  const pattern = new RegExp(`^(?:${rule.regex})$`, 's');
  const value = source_labels.map((name) => labels.get(name) ?? '').join(separator);
  const matches = (name: string) => pattern.test(name);
  const before = [...labels];
  switch (rule.action.toLowerCase()) {
    case 'keep':
      return pattern.test(value);
    case 'drop':
      return !pattern.test(value);
    case 'keepequal':
      return labels.get(target_label) === value;
    case 'dropequal':
      return labels.get(target_label) !== value;
    case 'lowercase':
      labels.set(target_label, value.toLowerCase());
      return true;
    case 'uppercase':
      labels.set(target_label, value.toUpperCase());
      return true;
    case 'hashmod':
      labels.set(target_label, String(createHash('md5').update(value).digest().readBigUInt64BE(8) % BigInt(modulus)));
      return true;
    case 'labelmap':
      for (const [name, text] of before)
        if (matches(name)) labels.set(name.replace(pattern, jsForm(replacement)), text);
      return true;
    case 'labeldrop':
      for (const name of labels.keys()) if (matches(name)) labels.delete(name);
      return true;
    case 'labelkeep':
      for (const name of labels.keys()) if (!matches(name)) labels.delete(name);
      return true;
    default:
      if (pattern.test(value))
        labels.set(value.replace(pattern, jsForm(target_label)), value.replace(pattern, jsForm(replacement)));
      return true;
  }
}

// `${1}` and `$1` are the groups, as `$1` is here.
const jsForm = (text: string) =>
  text.replaceAll(/\$\{(\w+)\}/g, (_, group: string) => (/^\d+$/.test(group) ? `$${group}` : `$<${group}>`));
