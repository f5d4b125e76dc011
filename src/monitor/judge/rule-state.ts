import { clockJitterMs } from '#kernel/clock.ts';
import { type ElapsedBetween, plainlyBetween } from '#kernel/clock-steps.ts';
import type { RoundThreshold, Rule } from './rule.ts';
import { kindOf } from './rules/index.ts';
import type { Verdict } from './verdict.ts';

interface WindowRound {
  readonly at: number;
  readonly failing: boolean;
}

/** What a rule remembers about a target. In a steady state it stays the same object, so nothing has to be written. */
export interface RuleState {
  readonly target: string;
  readonly rule: string;
  /** Rounds since the first failing one that may still open an incident. */
  readonly window: readonly WindowRound[];
  /** The incident that is open, or null. */
  readonly incidentId: string | null;
  /** Good rounds in a row since the incident opened. */
  readonly good: number;
  readonly goodSince: number | null;
  /** What a rule keeps about each node, if its kind keeps anything. */
  readonly noted: Readonly<Record<string, string>>;
}

export type Transition =
  | {
      readonly kind: 'open';
      readonly incidentId: string;
      readonly startedAt: number;
      /** When the failing rounds were due that opened it. */
      readonly failedAt: readonly number[];
    }
  | { readonly kind: 'close'; readonly endedAt: number };

export type StepReason =
  | 'no_verdict'
  | 'same_moment'
  | 'good'
  | 'failing'
  | 'opened'
  | 'still_failing'
  | 'recovering'
  | 'closed';

export interface RuleTransition {
  readonly state: RuleState;
  readonly transition: Transition | null;
  readonly reason: StepReason;
}

export function newRuleState(target: string, rule: string): RuleState {
  return { target, rule, window: [], incidentId: null, good: 0, goodSince: null, noted: {} };
}

/**
 * What a round's verdict does to a rule. Two rounds that were due at the same moment count once. An incident opens with the round that completes `rounds`, back-dated to the first
 * failing one; it closes with the round that completes `recover`, back-dated to the first good one.
 */
export function step(
  rule: Rule,
  state: RuleState,
  verdict: Verdict,
  dueAt: number,
  elapsedBetween: ElapsedBetween = plainlyBetween,
): RuleTransition {
  if (verdict.failing === null) return { state, transition: null, reason: 'no_verdict' };
  if (isSameMoment(state, dueAt)) return { state, transition: null, reason: 'same_moment' };
  const known = notAfter(state, dueAt);
  return known.incidentId === null
    ? stepWhileGood(rule, known, verdict.failing, dueAt, elapsedBetween)
    : stepWhileOpen(rule, known, verdict.failing, dueAt);
}

// What lies ahead was before the clock was set back.
function notAfter(state: RuleState, dueAt: number): RuleState {
  const { window } = state;
  if (!window.some(({ at }) => at > dueAt + clockJitterMs)) return state;
  return { ...state, window: window.map((round) => ({ ...round, at: Math.min(round.at, dueAt) })) };
}

// A scheduled round and an extra one may coincide: two observations of one moment are one round for a rule.
const momentMs = 500;

function isSameMoment({ window, incidentId, goodSince }: RuleState, dueAt: number): boolean {
  const last = incidentId === null ? window.at(-1)?.at : goodSince;
  return last !== undefined && last !== null && Math.abs(dueAt - last) < momentMs;
}

/** The name of the incident that a round opens: the same however often it is decided. */
export function incidentIdOf(target: string, rule: string, dueAt: number): string {
  return `${target}/${rule}/${dueAt}`;
}

function stepWhileGood(
  rule: Rule,
  state: RuleState,
  failing: boolean,
  dueAt: number,
  elapsedBetween: ElapsedBetween,
): RuleTransition {
  // Nearly every round.
  if (!failing && state.window.length === 0) return { state, transition: null, reason: 'good' };
  const kind = kindOf(rule.kind);
  const holdMs = kind.holdMs?.(rule.options) ?? 0;
  // While a condition has to hold on, its first rounds are all that has to be remembered.
  const isHolding = failing && holdMs > 0 && state.window.length >= rule.rounds.bad;
  const seen =
    isHolding && elapsedBetween(state.window[0]?.at ?? dueAt, dueAt) < holdMs ? [] : [{ at: dueAt, failing }];
  if (seen.length === 0) return { state, transition: null, reason: 'failing' };
  const window = isHolding ? [...state.window, ...seen] : trim([...state.window, ...seen], rule.rounds);
  const bad = window.filter((round) => round.failing);
  const first = bad[0];
  const isComplete = failing && first !== undefined && bad.length >= rule.rounds.bad;
  if (isComplete && (holdMs === 0 || elapsedBetween(first.at, dueAt) >= holdMs)) {
    const incidentId = incidentIdOf(state.target, state.rule, dueAt);
    return {
      state: { ...state, window: [], incidentId, good: 0, goodSince: null },
      transition: { kind: 'open', incidentId, startedAt: first.at, failedAt: bad.map(({ at }) => at) },
      reason: 'opened',
    };
  }
  return { state: { ...state, window }, transition: null, reason: failing ? 'failing' : 'good' };
}

function stepWhileOpen(rule: Rule, state: RuleState, failing: boolean, dueAt: number): RuleTransition {
  if (failing) {
    const unchanged = state.good === 0;
    return {
      state: unchanged ? state : { ...state, good: 0, goodSince: null },
      transition: null,
      reason: 'still_failing',
    };
  }
  const good = state.good + 1;
  const goodSince = state.goodSince ?? dueAt;
  if (good < rule.recover) return { state: { ...state, good, goodSince }, transition: null, reason: 'recovering' };
  return {
    state: { ...newRuleState(state.target, state.rule), noted: state.noted },
    transition: { kind: 'close', endedAt: goodSince },
    reason: 'closed',
  };
}

// Keeps the last `of` rounds, starting at a failing one; if none is left, nothing is worth remembering.
function trim(window: readonly WindowRound[], rounds: RoundThreshold): readonly WindowRound[] {
  const recent = window.slice(-rounds.of);
  const first = recent.findIndex((round) => round.failing);
  if (first === -1) return [];
  const last = recent.at(-1);
  if (rounds.bad === rounds.of && last?.failing === false) return [];
  return recent.slice(first);
}
