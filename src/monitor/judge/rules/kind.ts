import type { z } from 'zod';
import type { AnyCheck, MeasuredValue, Outcome } from '#checks/index.ts';
import type { BudgetNow } from '../budgets.ts';
import type { Threshold } from '../verdict.ts';

/** A successful result of one node. */
export interface RecentTime {
  readonly at: number;
  readonly seconds: number;
}

/** What a rule gets to see of one node in a round. */
export interface NodeView {
  /** As it counts: what a suspected node saw is unknown. */
  readonly outcome: Outcome;
  /** What the check type gives as its answers; null if it gives none. */
  readonly answers: readonly string[] | null;
  /** The figures that the outcome gives names of its own; null if the check type has none. */
  readonly values: readonly MeasuredValue[] | null;
  /** The node's successful results within the rule's window, oldest first, this round's included. */
  readonly recentTimes: readonly RecentTime[];
  /** How the budget of the target's objective stands; null if it has none. */
  readonly budget: BudgetNow | null;
  /** When the round was due. */
  readonly now: number;
  /** Whether an incident of the rule is open: then the level to clear counts, not the one to raise. */
  readonly isOpen: boolean;
  /** What the rule noted about this node before. */
  readonly noted: string | undefined;
}

/** The judgement of one node's outcome: `down` if the rule's condition holds there, `unknown` if that cannot be known. */
export interface Judgement {
  readonly status: 'up' | 'down' | 'unknown';
  readonly reason: string;
  /** Why, in words, for the vote table; null if all is well. */
  readonly message: string | null;
  /** To be noted about the node for later rounds. */
  readonly note?: string;
}

export const severities = ['critical', 'warning', 'info'] as const;

/** How incidents of a kind are talked about. */
export interface RuleWording {
  /** In a subject: `DOWN`. */
  readonly word: string;
  /** The label of the time that it lasted: `Down`. */
  readonly noun: string;
  /** `is down`. */
  readonly is: string;
  /** `was down`. */
  readonly was: string;
  /** After "is", when it is over: `up again`. */
  readonly again: string;
  /** `went down`. */
  readonly began: string;
  /** `came back`. */
  readonly ended: string;
}

/**
 * A kind of rule: everything that the program knows about it. A kind is one file and one line in `index.ts`; nothing else
 * names it.
 */
export interface RuleKind<Key extends string, OptionsSchema extends z.ZodType> {
  /** The key that stands for it in a rule. */
  readonly key: Key;
  readonly summary: string;
  readonly Options: OptionsSchema;
  readonly wording: RuleWording;
  readonly severity: (typeof severities)[number];
  /** On how many nodes the condition must hold if the rule does not say it. */
  readonly nodes: Threshold;
  /** True if the options are that threshold themselves. */
  readonly isThreshold: boolean;
  /** Whether the target is down if it holds: then no lesser incident is notified, nor one of a target that depends on it. */
  readonly isOutage: boolean;
  /** Whether another round at once tells more about it than the next one that is due. */
  readonly canBeConfirmed: boolean;
  /** True if it is about the nodes that look, not about the target: what makes them blind explains it. */
  readonly isAboutNodes?: boolean;
  /** True if it is about the target, whatever single nodes see: it is asked once in a round, and needs an objective. */
  readonly isAboutTarget?: boolean;
  /** For how long the condition must hold, in milliseconds, before an incident opens; nothing for no time. */
  holdMs?(options: z.output<OptionsSchema>): number;
  /** How far back its recentTimes reach; 0 if it needs none. */
  windowMs(options: z.output<OptionsSchema>): number;
  /** Why targets of this check type, checked every so often (null by a pattern), cannot have such a rule, or null. */
  refuses(check: AnyCheck, options: z.output<OptionsSchema>, everyMs: number | null): string | null;
  judge(options: z.output<OptionsSchema>, view: NodeView): Judgement;
  /** What it says of every outcome that is up, if that is always the same: then it is not asked about these. */
  readonly ofUp?: Judgement;
  /** What it says of a round without a node; nothing if it needs one. */
  readonly ofNone?: Judgement;
  /** The condition in words, for one node: `p95 of 10m above 800 ms`. */
  describe(options: z.output<OptionsSchema>): string;
}

export function defineRuleKind<Key extends string, OptionsSchema extends z.ZodType>(
  kind: RuleKind<Key, OptionsSchema>,
): RuleKind<Key, OptionsSchema> {
  return kind;
}

/** What a node's failure leaves to say for a rule that is about something else. */
export function unknownJudgement(outcome: Outcome): Judgement {
  return { status: 'unknown', reason: 'no_figure', message: outcome.status === 'up' ? null : outcome.failure.message };
}
