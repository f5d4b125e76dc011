import { z } from 'zod';
import type { AnyCheck } from '#checks/index.ts';
import { anyRuleKinds, kindOf, type RuleCondition, type RuleKindName, ruleKinds } from './rules/index.ts';
import { severities } from './rules/kind.ts';
import { describeThreshold, Threshold } from './verdict.ts';

export const Severity = z.enum(severities);
export type Severity = z.infer<typeof Severity>;

/** `bad` failing rounds among the last `of` that had a verdict. */
export interface RoundThreshold {
  readonly bad: number;
  readonly of: number;
}

const roundsHint = 'expected a number of rounds in a row such as 2, or "2 of 3"';
const roundsPattern = /^([1-9]\d?) of ([1-9]\d?)$/;

const RoundThreshold = z.codec(
  z.union(
    [
      z.int({ error: roundsHint }).min(1, { error: roundsHint }).max(99, { error: roundsHint }),
      z.string({ error: roundsHint }).regex(roundsPattern, { error: roundsHint }),
    ],
    { error: roundsHint },
  ),
  z.custom<RoundThreshold>(),
  {
    decode(written, context): RoundThreshold {
      if (typeof written === 'number') return { bad: written, of: written };
      const [, bad, of] = roundsPattern.exec(written) ?? [];
      const rounds = { bad: Number(bad), of: Number(of) };
      if (rounds.bad > rounds.of) {
        context.issues.push({
          code: 'custom',
          input: written,
          message: `${rounds.bad} of ${rounds.of} can never happen`,
        });
      }
      return rounds;
    },
    encode: ({ bad, of }) => (bad === of ? bad : `${bad} of ${of}`),
  },
);

// What a rule may say besides the key of its kind.
const common = {
  nodes: Threshold.optional().describe(
    'On how many nodes the condition must hold. Not with failing, which says it itself. Default: any for certificate, else majority.',
  ),
  quorum: z
    .int()
    .min(1)
    .max(10_000)
    .optional()
    .describe('How many nodes must have an answer, up or down, for a verdict. Default: half of those asked.'),
  rounds: RoundThreshold.optional().describe(
    'How many failing rounds open an incident: "2" in a row, or "2 of 3". Default: 2, for heartbeats 1.',
  ),
  recover: z
    .int()
    .min(1)
    .max(99)
    .optional()
    .describe('How many good rounds in a row close it. Default: 2, for heartbeats 1.'),
  confirm: z
    .boolean()
    .optional()
    .describe('Whether a failing round is followed by another at once. For `failing` only; default: true.'),
  severity: Severity.optional().describe('How bad an incident is. Default: critical for failing, else warning.'),
};

const keys: readonly string[] = ruleKinds.map(({ key }) => key);

const Written = z
  .strictObject({
    ...Object.fromEntries(anyRuleKinds.map(({ key, Options, summary }) => [key, Options.optional().describe(summary)])),
    ...common,
  })
  .superRefine((written, context) => {
    const say = (key: string, message: string) => context.addIssue({ code: 'custom', path: [key], message });
    const [first, ...more] = Object.keys(written).filter((key) => keys.includes(key));
    for (const key of more) say(key, `cannot be set together with ${first}: a rule has one condition`);
    const kind = kindOf(kindNameOf(written));
    if (kind.isThreshold && written.nodes !== undefined)
      say('nodes', `is not for ${kind.key}, which sets the number of nodes itself`);
    for (const key of kind.isAboutTarget === true ? (['nodes', 'quorum'] as const) : [])
      if (written[key] !== undefined) say(key, `is not for ${kind.key}: it is about the target, not about its nodes`);
    if (!kind.canBeConfirmed && written.confirm === true)
      say('confirm', `is not for ${kind.key}: an immediate second round would show nothing new`);
  });

interface RuleBase {
  /** On how many nodes the condition must hold for a round to fail. */
  readonly threshold: Threshold;
  readonly quorum?: number;
  readonly rounds: RoundThreshold;
  readonly recover: number;
  readonly confirm: boolean;
  readonly severity: Severity;
  /** The options that the file lacks, so that check types may have defaults of their own. */
  readonly leftOut?: readonly ('rounds' | 'recover')[];
}

/** When a target counts as failing, and for how many rounds, before a notification. */
export type Rule = RuleCondition & RuleBase;

/** A rule as it is written: one key of a kind, `failing: majority` if there is none, and what all kinds have. */
export const Rule = z.codec(Written, z.custom<Rule>(), {
  decode(written): Rule {
    const kind = kindOf(kindNameOf(written));
    const { nodes, quorum, rounds, recover, confirm, severity, ...rest } = written;
    const found: unknown = Object.values(rest)[0];
    const threshold = kind.isThreshold ? (found ?? kind.nodes) : (nodes ?? kind.nodes);
    const leftOut = (['rounds', 'recover'] as const).filter((key) => written[key] === undefined);
    const base = {
      rounds: rounds ?? { bad: 2, of: 2 },
      recover: recover ?? 2,
      confirm: kind.canBeConfirmed && confirm !== false,
      leftOut,
    };
    // Sound because the options were read by the schema of this very kind.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return {
      kind: kind.key,
      options: found ?? kind.nodes,
      threshold,
      ...base,
      severity: severity ?? kind.severity,
      ...(quorum === undefined ? {} : { quorum }),
    } as unknown as Rule;
  },
  encode({ kind: name, options, threshold, quorum, rounds, recover, confirm, severity, leftOut = [] }) {
    const kind = kindOf(name);
    return {
      [name]: options,
      ...(kind.isThreshold || kind.isAboutTarget === true ? {} : { nodes: threshold }),
      ...(quorum === undefined ? {} : { quorum }),
      ...(leftOut.includes('rounds') ? {} : { rounds }),
      ...(leftOut.includes('recover') ? {} : { recover }),
      ...(kind.canBeConfirmed ? { confirm } : {}),
      severity,
    };
  },
});

function kindNameOf(written: object): RuleKindName {
  return ruleKinds.find(({ key }) => key in written)?.key ?? 'failing';
}

/**
 * The rule as targets of this check type have it. The ping of a job needs no confirmation: one round tells, unless
 * the rule says otherwise.
 */
export function ruleFor(rule: Rule, check: AnyCheck): Rule {
  const { leftOut = [], ...plain } = rule;
  if (check.heard === null) return plain;
  const { rounds, recover } = plain;
  return {
    ...plain,
    rounds: leftOut.includes('rounds') ? { bad: 1, of: 1 } : rounds,
    recover: leftOut.includes('recover') ? 1 : recover,
    confirm: false,
  };
}

/** Why targets of this check type, checked every so often (null by a pattern), cannot have this rule, or null. */
export function refusalOf(rule: Rule, check: AnyCheck, everyMs: number | null): string | null {
  return kindOf(rule.kind).refuses(check, rule.options, everyMs);
}

/** Whether a rule is about the objective of its target. */
export function needsObjective({ kind }: Pick<Rule, 'kind'>): boolean {
  return kindOf(kind).isAboutTarget === true;
}

/** The rule that is there without being written down. */
export const defaultRules = { down: {} } as const satisfies Record<string, z.input<typeof Rule>>;

/** The rule in words, for mails: `more than half of the nodes failing in 2 rounds in a row`; without nodes for a job. */
export function describeRule(rule: Rule, { heard }: Pick<AnyCheck, 'heard'>): string {
  const { bad, of } = rule.rounds;
  const kind = kindOf(rule.kind);
  const condition = kind.describe(rule.options);
  if (heard !== null) {
    const calls = bad === of ? (bad === 1 ? '' : `, ${bad} times in a row`) : `, ${bad} of ${of} times`;
    return `${kind.isThreshold ? 'late, failed or running for too long' : condition}${calls}`;
  }
  const rounds = bad === of ? `${bad} ${bad === 1 ? 'round' : 'rounds in a row'}` : `${bad} of ${of} rounds`;
  if (kind.isAboutTarget === true) return `${condition}, in ${rounds}`;
  const nodes = describeThreshold(rule.threshold);
  return kind.isThreshold ? `${nodes} ${condition} in ${rounds}` : `${condition} at ${nodes}, in ${rounds}`;
}
