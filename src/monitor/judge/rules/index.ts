import type { z } from 'zod';
import type { AnyCheck } from '#checks/index.ts';
import type { Threshold } from '../verdict.ts';
import { answers } from './answers.ts';
import { budget } from './budget.ts';
import { certificate } from './certificate.ts';
import { domain } from './domain.ts';
import { failing } from './failing.ts';
import { hops } from './hops.ts';
import type { Judgement, NodeView, severities, RuleWording } from './kind.ts';
import { latency } from './latency.ts';
import { loss } from './loss.ts';
import { unknown } from './unknown.ts';
import { value } from './value.ts';
import { warning } from './warning.ts';

/** THE list of the kinds of rules: the configuration, the verdicts and the words of mails come from it. */
export const ruleKinds = [
  failing,
  latency,
  loss,
  certificate,
  domain,
  answers,
  hops,
  warning,
  value,
  budget,
  unknown,
] as const;

type AnyKind = (typeof ruleKinds)[number];
export type RuleKindName = AnyKind['key'];
/** A kind together with options that fit it. */
export type RuleCondition = {
  [Key in RuleKindName]: {
    readonly kind: Key;
    readonly options: z.output<Extract<AnyKind, { readonly key: Key }>['Options']>;
  };
}[RuleKindName];

/** A kind of rule with its options out of sight. */
export interface AnyRuleKind {
  readonly key: RuleKindName;
  readonly summary: string;
  readonly Options: z.ZodType;
  readonly wording: RuleWording;
  readonly severity: (typeof severities)[number];
  readonly nodes: Threshold;
  readonly isThreshold: boolean;
  readonly isOutage: boolean;
  readonly canBeConfirmed: boolean;
  readonly isAboutNodes?: boolean;
  readonly isAboutTarget?: boolean;
  holdMs?(options: RuleCondition['options']): number;
  windowMs(options: RuleCondition['options']): number;
  refuses(check: AnyCheck, options: RuleCondition['options'], everyMs: number | null): string | null;
  judge(options: RuleCondition['options'], view: NodeView): Judgement;
  readonly ofUp?: Judgement;
  readonly ofNone?: Judgement;
  describe(options: RuleCondition['options']): string;
}

// Sound because every caller hands over the options of the very rule whose kind it asks for.
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
export const anyRuleKinds = ruleKinds as unknown as readonly AnyRuleKind[];

const byName: ReadonlyMap<string, AnyRuleKind> = new Map(anyRuleKinds.map((kind) => [kind.key, kind]));

/** The kind of a name out of THE list. */
export function kindOf(name: RuleKindName): AnyRuleKind {
  const kind = byName.get(name);
  if (kind === undefined) throw new RangeError(`no kind of rule "${name}"`);
  return kind;
}

/** Whether a target is down while this rule holds. */
export function isOutage({ kind }: { readonly kind: RuleKindName }): boolean {
  return kindOf(kind).isOutage;
}
