import { z } from 'zod';
import { describeDuration } from '#kernel/units.ts';
import { Duration } from '#kernel/unit-schemas.ts';
import { defineRuleKind, type Judgement, type NodeView, unknownJudgement, type RuleWording } from './rules/kind.ts';

/** What ends at a time that checks find out. */
export interface ExpiryKind<Key extends string> {
  /** The key of the rule, and the word for what ends. */
  readonly key: Key;
  readonly summary: string;
  readonly wording: RuleWording;
  /** The time, in seconds since 1970. */
  readonly fact: keyof NodeView['outcome']['facts'];
  /** What a check lacks that does not find it out, after its type: `sees no certificate`. */
  readonly lack: string;
  /** `certificate ends`. */
  readonly ends: string;
  /** How long before that to notify: the description of the option, and its minimum. */
  readonly within: { readonly min: string; readonly hint: string };
}

/** The kind of rule that holds when something ends soon, or has ended. */
export function defineEndRule<Key extends string>({
  key,
  summary,
  wording,
  fact,
  lack,
  ends,
  within,
}: ExpiryKind<Key>) {
  return defineRuleKind({
    key,
    summary,
    Options: z.strictObject({ expires_within: Duration({ min: within.min, max: '365d' }).describe(within.hint) }),
    wording,
    severity: 'warning',
    nodes: { kind: 'any' },
    isThreshold: false,
    isOutage: false,
    canBeConfirmed: false,
    windowMs: () => 0,
    refuses: ({ type, facts }) => (facts.includes(fact) ? null : `a check of the type ${type} ${lack}`),
    judge: ({ expires_within }, view) => judgeEnd(`the ${key}`, view.outcome.facts[fact], expires_within, view),
    describe: ({ expires_within }) => `${ends} within ${describeDuration(expires_within)}`,
  });
}

function judgeEnd(what: string, seconds: number | undefined, withinMs: number, { outcome, now }: NodeView): Judgement {
  if (seconds === undefined || outcome.status === 'unknown') return unknownJudgement(outcome);
  const leftMs = seconds * 1_000 - now;
  if (leftMs > withinMs) return { status: 'up', reason: 'long_enough', message: null };
  const end = new Date(seconds * 1_000).toISOString().slice(0, 10);
  const verb = leftMs > 0 ? 'expires' : 'expired';
  return { status: 'down', reason: leftMs > 0 ? 'soon' : 'over', message: `${what} ${verb} on ${end}` };
}
